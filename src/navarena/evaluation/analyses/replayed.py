"""What a replay of a run has shown, as a section of its report."""

from navarena.evaluation.analyses.analysis import Analysis, Column
from navarena.evaluation.record import describe_hardware, describe_versions
from navarena.evaluation.replay import Replay


def describe_replay(replay: Replay) -> Analysis:
    """Where the run was recorded, where it was replayed just now, and which kind of sameness held."""
    hardware, versions = describe_hardware(), describe_versions()
    here = (str(hardware["system"]), str(hardware["machine"]))
    ours = (*here, *(f"{name} {version}" for name, version in sorted(versions.items())))
    return Analysis(
        "replay",
        "Verified by replay",
        (
            Column("recorded on"),
            Column("replayed on"),
            Column("episodes", "count"),
            Column("differences", "count"),
            Column("held"),
        ),
        (
            (
                ", ".join(replay.record.platform),
                ", ".join(ours),
                replay.episodes,
                len(replay.differences),
                replay.held,
            ),
        ),
        ("All actions were executed again, and every metric was computed anew.",),
    )
