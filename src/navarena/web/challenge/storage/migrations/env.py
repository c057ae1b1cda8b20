"""Alembic's entry: runs the migrations on the connection that storage.upgrade gives."""

from alembic import context

from navarena.web.challenge.storage.models import Base

context.configure(
    connection=context.config.attributes["connection"],
    target_metadata=Base.metadata,
    transactional_ddl=True,
)
context.run_migrations()
