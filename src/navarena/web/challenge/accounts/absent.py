"""What is not there, and what is not the visitor's: the same words, so that nobody learns which."""

from navarena.web.challenge.refusals import Refusal


def not_found(kind: str) -> Refusal:
    """The refusal (404) of a `kind`, such as "submission", that the visitor may not see."""
    return Refusal(
        "not_found", f"there is no such {kind}, or you may not see it; check the address, or sign in", 404
    )
