"""Passwords, hashed by argon2."""

import threading

from argon2 import PasswordHasher
from argon2.exceptions import InvalidHashError, VerificationError

from navarena.web.challenge.refusals import Refusal

SHORTEST, LONGEST = 10, 200
"""Characters of a password."""

AT_ONCE = 4
"""Hashes that are computed side by side: each takes 64 MiB."""


class Passwords:
    """Hashes and verifies passwords.

    Args:
        hasher: argon2id with the parameters of RFC 9106 (second choice) by default.
    """

    def __init__(self, hasher: PasswordHasher | None = None) -> None:
        self._hasher = hasher or PasswordHasher()
        self._room = threading.Semaphore(AT_ONCE)
        self._nobody = self._hasher.hash("nobody's password")

    def hash(self, password: str) -> str:
        """The hash of a new password; raises a Refusal for one that is too short or too long."""
        if not SHORTEST <= len(password) <= LONGEST:
            raise Refusal(
                "bad_password",
                f"expected a password of {SHORTEST} to {LONGEST} characters, got {len(password)}",
                422,
            )
        with self._room:
            return self._hasher.hash(password.encode("utf-8", "surrogatepass"))

    def is_right(self, held: str | None, password: str) -> bool:
        """Whether `password` has the hash `held`; takes as long where there is no account (None)."""
        with self._room:
            try:
                given = password[: LONGEST + 1].encode("utf-8", "surrogatepass")
                return self._hasher.verify(held or self._nobody, given) and held is not None
            except (VerificationError, InvalidHashError):
                return False

    def is_outdated(self, held: str) -> bool:
        """Whether a hash was made with other parameters."""
        return self._hasher.check_needs_rehash(held)
