"""The one tree of errors.

    NavarenaError
    ├── InputError            what the user gave cannot be used (exit code 2)
    │   ├── UnknownNameError  a name that nothing registered answers to
    │   ├── FileError         a file is missing, empty, truncated or of another kind
    │   ├── SceneError        a scene cannot serve what was asked of it
    │   ├── ActionError       an action outside the action space, or a step at the wrong time
    │   ├── StorageError      the disk refused a write
    │   └── MissingExtraError an optional dependency is not installed
    ├── AgentTimeoutError     an agent took longer than it may
    ├── AgentUnreachableError an agent in another process or on another machine does not answer
    └── CheckFailedError      a check ran and found a difference (exit code 1)

Every message says what was expected, what came, and what to do about it.
"""


class NavarenaError(Exception):
    """Base of every error that navarena raises on purpose."""

    exit_code = 2


class InputError(NavarenaError):
    """What the user gave cannot be used."""


class UnknownNameError(InputError):
    """A name that nothing registered answers to."""


class FileError(InputError):
    """A file is missing, empty, truncated, or not of the expected kind."""


class SceneError(InputError):
    """A scene cannot serve what was asked of it (no floor, no semantics, bad geometry)."""


class ActionError(InputError):
    """An action outside the action space, or a step before reset or after the end."""


class StorageError(InputError):
    """The disk refused a write; nothing half-written was left behind."""


class MissingExtraError(InputError):
    """An optional dependency is not installed."""


class AgentTimeoutError(NavarenaError):
    """An agent took longer than it may; its episode counts as a failure."""


class AgentUnreachableError(NavarenaError):
    """An agent in another process or on another machine does not answer: no fault of an episode."""


class CheckFailedError(NavarenaError):
    """A check ran to its end and found a difference."""

    exit_code = 1
