"""Refusals of missing and forbidden objects, in the same words so that they cannot be told apart."""

from navarena.web.challenge.refusals import Refusal


def not_found(kind: str) -> Refusal:
    """The refusal (404) of a `kind`, such as "submission", that the visitor may not see."""
    return Refusal(
        "not_found", f"there is no such {kind}, or you may not see it; check the address, or sign in", 404
    )
