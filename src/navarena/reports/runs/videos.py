"""Videos of chosen episodes, embedded in a page or in files beside it."""

import base64
import os
import re
import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import chain, zip_longest
from pathlib import Path

from navarena.core.errors import require_name
from navarena.core.files import raise_storage_error
from navarena.core.seeding import make_generator
from navarena.evaluation.analyses.compare import Comparison
from navarena.evaluation.records.journal import Row
from navarena.metrics.failures import MEANINGS, FailureClass
from navarena.reports.gallery import OpenBenchmark, start_distance, status_of
from navarena.reports.topdown import open_plans
from navarena.reports.videos import Video, VideoSettings, make_video

BEST, WORST, RANDOM, FAILURES = "best", "worst", "random", "failures"
KINDS = (BEST, WORST, RANDOM, FAILURES)


def choose_videos(
    rows: Sequence[Row],
    count: int,
    kinds: Sequence[str],
    outcome: str,
    score: str,
    classes: Mapping[str, FailureClass] | None,
) -> list[tuple[str, Row]]:
    """At most `count` distinct rows with the reason of their choice, alternating between kinds.

    best: successes, the highest score first. worst: the lowest score first, of equals the easiest. random:
    drawn by the identity of the run. failures: the easiest of each class, the classes in turn; without
    classes the easiest of all.

    Args:
        rows: of a run, at least one.
        count: how many.
        kinds: some of KINDS.
        outcome: name of the metric that says success or not.
        score: name of the metric by which episodes are ranked.
        classes: episode id -> why it failed; None where this is not known.

    Raises UnknownNameError for another kind.
    """
    queues = [
        _rank(rows, require_name("choice of episodes", kind, KINDS), outcome, score, classes)
        for kind in kinds
    ]
    chosen: dict[tuple[str, str], tuple[str, Row]] = {}
    places = [0] * len(queues)
    while len(chosen) < count and any(place < len(queue) for place, queue in zip(places, queues)):
        for k, queue in enumerate(queues):
            while places[k] < len(queue) and _key(queue[places[k]][1]) in chosen:
                places[k] += 1
            if places[k] < len(queue) and len(chosen) < count:
                chosen[_key(queue[places[k]][1])] = queue[places[k]]
                places[k] += 1
    return list(chosen.values())


def _key(row: Row) -> tuple[str, str]:
    return row.scene_id, row.episode_id


def _rank(
    rows: Sequence[Row], kind: str, outcome: str, score: str, classes: Mapping[str, FailureClass] | None
) -> list[tuple[str, Row]]:
    """The rows of a kind with why they were chosen, first choice first."""
    easiest = sorted(rows, key=lambda row: (start_distance(row), *_key(row)))
    if kind == RANDOM:
        order = make_generator("videos", rows[0].identity).permutation(len(easiest))
        return [(kind, easiest[place]) for place in order]
    if kind == BEST:
        good = [row for row in easiest if row.metric(outcome) > 0]
        return [(kind, row) for row in sorted(good, key=lambda row: -row.metric(score))]
    if kind == WORST:
        return [(kind, row) for row in sorted(easiest, key=lambda row: row.metric(score))]
    failed = [row for row in easiest if row.metric(outcome) <= 0]
    if classes is None:
        return [("failure", row) for row in failed]
    groups = [
        [(MEANINGS[one], row) for row in failed if classes.get(row.episode_id) is one] for one in FailureClass
    ]
    return [pair for pair in chain.from_iterable(zip_longest(*groups)) if pair is not None]


@dataclass(frozen=True)
class VideoCard:
    """A video and its episode.

    Attributes:
        run: label of the run.
        episode_id, scene_id: of the episode.
        kind: why it was chosen, such as "best".
        status: "success", "failure", or the error of the agent.
        seconds: that it plays.
        source: what the page loads: the video itself as a data address, or the name of a file beside it.
        poster: an image as a data address, for paper and until it plays.
    """

    run: str
    episode_id: str
    scene_id: str
    kind: str
    status: str
    seconds: float
    source: str
    poster: str


@dataclass(frozen=True)
class VideoPlan:
    """An episode that is to be recorded.

    Attributes:
        contestant: place of the run in the comparison.
        kind: why it was chosen.
        row: whose actions are executed.
    """

    contestant: int
    kind: str
    row: Row

    @property
    def frames(self) -> int:
        """Number of frames."""
        return len(self.row.actions) + 1


def plan_videos(
    comparison: Comparison,
    classes: Sequence[Mapping[str, FailureClass] | None],
    count: int,
    kinds: Sequence[str],
) -> list[VideoPlan]:
    """`count` episodes of the first run of each contestant; see choose_videos."""
    found = []
    for place, (one, known) in enumerate(zip(comparison.contestants, classes, strict=True)):
        leading = one.leading_metrics(comparison.estimates[0])
        chosen = choose_videos(one.rows[0], count, kinds, leading[0], leading[-1], known)
        found += [VideoPlan(place, kind, row) for kind, row in chosen]
    return found


def render_videos(
    comparison: Comparison,
    video_plans: Sequence[VideoPlan],
    settings: VideoSettings,
    open_benchmark: OpenBenchmark,
    page: Path,
    folder: Path | None = None,
    on_frame: Callable[[], object] = lambda: None,
) -> tuple[VideoCard, ...]:
    """Record the episodes; returns how the page shows them.

    Args:
        comparison: whose runs they are.
        video_plans: see plan_videos.
        settings: how they look.
        open_benchmark: opens the benchmark of a run.
        page: where the page will be.
        folder: for the MP4 files, which the page then loads from there; None puts them into the page.
        on_frame: called after each image.

    Raises InputError and CheckFailedError as make_video.
    """
    plans = cache(lambda place: cache(open_plans(open_benchmark(comparison.contestants[place]))))
    cards = []
    with tempfile.TemporaryDirectory() as temporary:
        target = Path(temporary) if folder is None else _make_folder(folder)
        for number, one in enumerate(video_plans, 1):
            contestant = comparison.contestants[one.contestant]
            benchmark = open_benchmark(contestant)
            episode = next(
                episode for episode in benchmark.episodes if episode.episode_id == one.row.episode_id
            )
            path = target / _file_name(number, contestant.label, one)
            plan = plans(one.contestant)(one.row.scene_id)
            video = make_video(path, benchmark, plan, one.row, episode, settings, on_frame)
            source = _embed(video) if folder is None else Path(os.path.relpath(path, page.parent)).as_posix()
            cards.append(
                VideoCard(
                    contestant.label,
                    one.row.episode_id,
                    one.row.scene_id,
                    one.kind,
                    status_of(one.row, benchmark.metrics),
                    video.seconds,
                    source,
                    f"data:image/jpeg;base64,{base64.b64encode(video.poster).decode()}",
                )
            )
    return tuple(cards)


def _embed(video: Video) -> str:
    return f"data:video/mp4;base64,{base64.b64encode(video.path.read_bytes()).decode()}"


def _make_folder(folder: Path) -> Path:
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise_storage_error(folder, error)
    return folder


def _file_name(number: int, label: str, one: VideoPlan) -> str:
    """Such as "03-expert-houses-v1-val-00001-0001.mp4"."""
    words = re.sub(r"[^A-Za-z0-9.]+", "-", f"{label}-{one.row.episode_id}").strip("-")
    return f"{number:02}-{words}.mp4"
