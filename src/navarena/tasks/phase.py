"""Who leads a body along a tour."""

import enum


class Phase(enum.IntEnum):
    """Who decides where the body goes."""

    AGENT = 0
    ORACLE_GOAL = 1
    ORACLE_START = 2
