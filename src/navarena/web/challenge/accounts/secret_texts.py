"""Secrets that are shown once and held as hashes: tokens, cookies, invitations."""

import hashlib
import hmac
import secrets

BYTES = 32


def make_secret() -> str:
    """256 random bits, as text for addresses and headers."""
    return secrets.token_urlsafe(BYTES)


def make_public_id() -> str:
    """96 random bits, as text: a name in addresses that nobody can guess."""
    return secrets.token_urlsafe(12)


def hash_secret(secret: str) -> str:
    """Hexadecimal SHA-256. A secret is random, so that no slow hash is needed."""
    return hashlib.sha256(secret.encode("utf-8", "surrogatepass")).hexdigest()


def is_same(first: str, second: str) -> bool:
    """Whether two texts are equal, in a time that does not tell where they differ."""
    return hmac.compare_digest(
        first.encode("utf-8", "surrogatepass"), second.encode("utf-8", "surrogatepass")
    )
