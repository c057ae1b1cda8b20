"""Rate limits: how often somebody may try within a time, by account and by address."""

import threading
import time
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass

from navarena.web.challenge.refusals import Refusal


@dataclass(frozen=True)
class Rate:
    """At most `max_tries` tries in any `seconds`."""

    max_tries: int
    seconds: float


PASSWORDS_BY_ACCOUNT = Rate(10, 900.0)
PASSWORDS_BY_ADDRESS = Rate(30, 900.0)
SIGN_UPS_BY_ADDRESS = Rate(20, 3600.0)
CODES_BY_ADDRESS = Rate(20, 900.0)

MAX_KEYS = 50_000
"""Accounts and addresses that are remembered; beyond, those that tried longest ago are forgotten."""


class RateLimits:
    """Rate limits counted in memory; they are reset when the server restarts.

    Args:
        clock: seconds that never go back.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._tries: dict[tuple[str, str], deque[float]] = {}
        self._lock = threading.Lock()

    def count(self, kind: str, key: str, rate: Rate) -> None:
        """Count one try of `key`, and raise a Refusal (429) where it is one too many."""
        now = self._clock()
        with self._lock:
            tries = self._tries.pop((kind, key), None) or deque()
            while tries and tries[0] <= now - rate.seconds:
                tries.popleft()
            if len(tries) < rate.max_tries:
                tries.append(now)
                wait = 0.0
            else:
                wait = tries[0] + rate.seconds - now
            self._tries[kind, key] = tries  # at the end: the order of the dictionary is that of tries
            while len(self._tries) > MAX_KEYS:
                del self._tries[next(iter(self._tries))]
        if wait:
            raise Refusal(
                "too_many_tries",
                f"expected at most {rate.max_tries} tries in {rate.seconds / 60:g} minutes, got more; "
                f"wait {max(1, round(wait / 60))} minutes",
                429,
            )

    def forgive(self, kind: str, key: str) -> None:
        """Forget the tries of `key`, after one that went well."""
        with self._lock:
            self._tries.pop((kind, key), None)
