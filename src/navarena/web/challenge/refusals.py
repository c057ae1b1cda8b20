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
