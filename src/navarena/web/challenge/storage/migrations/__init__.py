"""Revisions of the tables, applied by Alembic."""
