"""Phases on navigation graphs: the files that they name, checked when a challenge is opened."""

from pathlib import Path

from navarena.core.errors import FileError, InputError, unknown_name
from navarena.episodes.exchange.r2r import load_r2r
from navarena.episodes.tours import load_tours, pick_split
from navarena.scenes.graphs.matterport import Connectivity
from navarena.tasks.graphs.task import GraphTask
from navarena.web.challenge.settings import Phase


def require_graph_phase(phase: Phase, task: GraphTask) -> None:
    """Raise InputError unless a phase on navigation graphs names files that belong together.

    They are an R2R file whose paths are known up to their goals, the graphs of its scans, and for protocols
    with tours a tour file. FileError for files that are missing or damaged.
    """
    if phase.is_hidden or "live" in phase.accepts:
        got = "hidden episodes" if phase.is_hidden else 'accepts with "live"'
        raise InputError(
            f"expected no live agents for {phase.protocol}, which runs on navigation graphs, got {got}; "
            'write accepts = ["log"]'
        )
    if not phase.datasets or phase.scenes is None:
        raise InputError(
            f"expected R2R files (datasets) and their connectivity files (scenes) for {phase.protocol}, got "
            f"no {'scenes' if phase.datasets else 'datasets'}; name files beside the challenge file"
        )
    if (phase.tours is None) != (task.tour_scoring is None):
        what = "no tours" if task.tour_scoring is None else "a tour file (tours)"
        raise InputError(f"expected {what} for {phase.protocol}, got {phase.tours or 'none'}")
    graphs = Connectivity(Path(str(phase.find_file(phase.scenes))))
    for dataset in phase.datasets:
        _require_r2r(phase, Path(str(phase.find_file(dataset))), graphs)


def _require_r2r(phase: Phase, path: Path, graphs: Connectivity) -> None:
    file = load_r2r(path)
    if file.split != phase.split:
        raise InputError(f"expected the split of {path.name}, {file.split!r}, got split = {phase.split!r}")
    if not all(len(one.path) > 1 for one in file.paths):
        raise InputError(
            f"expected paths up to their goals in {path.name}, got starts only (a test split): nothing could "
            "be scored"
        )
    for scan in file.scans:
        if scan not in graphs:
            raise FileError(f"{path.name}: {unknown_name(f'scan in {phase.scenes}', scan, graphs.scans)}")
    if phase.tours is not None:
        tours = Path(str(phase.find_file(phase.tours)))
        pick_split(load_tours(tours), file.split, tours)
