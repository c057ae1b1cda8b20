"""Refusals of a challenge server, with codes for programs."""

from http import HTTPStatus

from navarena.core.errors import InputError


class Refusal(InputError):
    """A request that is refused: one line for people, a code for programs, and the status of HTTP.

    Attributes:
        code: words joined by underscores, such as "closed_phase"; it stays the same between versions.
        status: of the response.
    """

    def __init__(self, code: str, message: str, status: int = HTTPStatus.UNPROCESSABLE_ENTITY) -> None:
        super().__init__(message)
        self.code, self.status = code, int(status)


def not_found(kind: str) -> Refusal:
    """The refusal (404) of a `kind`, such as "submission", that is missing or that the visitor may not see.

    Both have the same words, so that they cannot be told apart.
    """
    return Refusal(
        "not_found", f"there is no such {kind}, or you may not see it; check the address, or sign in", 404
    )
