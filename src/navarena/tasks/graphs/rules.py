"""Rules of the oracle phases of tours on navigation graphs."""

from dataclasses import dataclass


@dataclass(frozen=True)
class GraphOracleRules:
    """Rules of the oracle phases of a tour: shown observations; none that reveal the path by default.

    The last three make known flaws of the reference code available, for comparison.

    Attributes:
        shows_instruction: whether the instruction stays visible while the oracle leads (during
            ORACLE_START that of the next episode, as in the continuous reference).
        drops_last_node: whether both paths end one node early, so that the goal's panorama is never
            seen and the node before it is seen twice (discrete reference).
        reveals_next_path: whether, when the oracle already stands where the next episode starts, it
            goes along the whole described path of that episode: a leak of ground truth (discrete
            reference, training and evaluation).
    """

    shows_instruction: bool = False
    drops_last_node: bool = False
    reveals_next_path: bool = False
