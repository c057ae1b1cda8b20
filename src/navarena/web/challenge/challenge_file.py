"""Reads a challenge file, and checks that its names, numbers and times fit together."""

import datetime
import re
import tomllib
from collections.abc import Sequence
from itertools import combinations
from pathlib import Path
from typing import Any

import msgspec

from navarena.core.errors import (
    FileError,
    InputError,
    NavarenaError,
    UnknownNameError,
    require_name,
    require_seconds,
    unknown_name,
)
from navarena.core.files import read_text
from navarena.corruptions.catalog import write_corruption
from navarena.corruptions.suites import SUITES
from navarena.episodes.catalog import get_recipe, split_sizes
from navarena.evaluation.benchmark import is_scene
from navarena.metrics.catalog import TOUR_METRICS, get_metric
from navarena.scenes.catalog import SCENE_SETS
from navarena.tasks.catalog import get_task
from navarena.tasks.graphs.task import GraphTask
from navarena.web.challenge.graph_phases import require_graph_phase
from navarena.web.challenge.live.hidden import hidden_scenes
from navarena.web.challenge.settings import (
    PRESETS,
    UNSEEN_MEAN,
    Challenge,
    Phase,
    Quota,
    Track,
    read_private_seed,
)
from navarena.web.challenge.trajectory_files import require_layout

_NAME = re.compile(r"[a-z0-9][a-z0-9-]{0,62}")
_REMEDY = "mend the file, or write a commented one with `navarena serve --init DIR`"


def load_challenge(path: Path) -> Challenge:
    """The challenge in the file at `path`.

    Raises FileError for a file that is missing or no TOML, UnknownNameError for an unknown protocol, field,
    metric, suite or preset, and InputError for what contradicts itself.
    """
    text = read_text(path, "challenge file")
    try:
        held = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise FileError(f"challenge file {path} is no TOML ({error}); {_REMEDY}") from error
    _require_fields(held, Challenge, "a challenge")
    for kind, key, name in ((Track, "tracks", "a track"), (Phase, "phases", "a phase")):
        for one in _tables(held.get(key)):
            _require_fields(one, kind, name)
            _require_fields(one.get("quota"), Quota, "a quota")
    try:
        challenge = msgspec.convert(held, Challenge)
    except msgspec.ValidationError as error:
        raise InputError(f"challenge file {path}: {_lower(str(error))}; {_REMEDY}") from error
    slug = challenge.slug or "-".join(re.findall(r"[a-z0-9]+", challenge.name.lower()))[:63]
    challenge = msgspec.structs.replace(
        challenge,
        slug=slug,
        folder=(folder := str(path.absolute().parent)),
        phases=tuple(
            msgspec.structs.replace(_with_preset(one, challenge.preset), folder=folder)
            for one in challenge.phases
        ),
    )
    try:
        require_challenge(challenge)
    except InputError as error:
        raise type(error)(f"challenge file {path}: {error}") from error
    return challenge


def require_challenge(challenge: Challenge) -> None:
    """Raise InputError unless `challenge` can be held."""
    for kind, names in (
        ("challenge", [challenge.slug]),
        ("track", [one.name for one in challenge.tracks]),
        ("phase", [one.name for one in challenge.phases]),
    ):
        for name in names:
            if not _NAME.fullmatch(name):
                raise InputError(
                    f"expected the name of a {kind} in addresses to be small letters, digits and dashes, "
                    f"got {name!r}"
                )
        if len(set(names)) < len(names) or not names:
            raise InputError(f"expected each {kind} once and at least one, got {', '.join(names) or 'none'}")
    for phase in challenge.phases:
        require_phase(challenge, phase)
    require_times(challenge.phases)
    offered = {name for one in challenge.phases for name in get_task(one.protocol).sensors}
    for track in challenge.tracks:
        for sensor in track.sensors:
            try:
                require_name("sensor of its protocols", sensor, offered)
            except InputError as error:
                raise type(error)(f"track {track.name!r}: {error}") from error


def _with_preset(phase: Phase, preset: str | None) -> Phase:
    """`phase` with the quota of the preset, where it has none of its own."""
    if preset is None or phase.quota is not None:
        return phase
    if preset not in PRESETS:
        raise unknown_name("preset", preset, PRESETS)
    return msgspec.structs.replace(phase, quota=PRESETS[preset].get(phase.name))


def _tables(value: Any) -> Sequence[dict[str, Any]]:
    return [one for one in value if isinstance(one, dict)] if isinstance(value, list) else []


def _require_fields(table: Any, kind: type[msgspec.Struct], name: str) -> None:
    """Raise UnknownNameError for a key of `table` that is no field of `kind`."""
    known = set(kind.__struct_fields__) - {"folder"}  # of the file itself
    if isinstance(table, dict):
        for key in table:
            if key not in known:
                raise unknown_name(f"field of {name}", key, known)


def _lower(text: str) -> str:
    return text[:1].lower() + text[1:]


def require_phase(challenge: Challenge, phase: Phase) -> None:
    """Raise InputError, with the phase's name, unless `phase` can be held."""
    try:
        _require_rules(phase)
        _require_hidden(challenge, phase)
        _require_numbers(phase)
    except NavarenaError as error:
        raise type(error)(f"phase {phase.name!r}: {error}") from error


def _require_rules(phase: Phase) -> None:
    """Check a phase's parts and ranking rules."""
    task = get_task(phase.protocol)
    require_name("metric", phase.rank_metric, (*task.metrics, *task.common_metrics, *TOUR_METRICS))
    if get_metric(phase.rank_metric).better is None:
        raise InputError(
            f"expected a metric to rank by of which more or less is better, got {phase.rank_metric!r}; "
            "choose another, such as success"
        )
    if phase.rank_metric in TOUR_METRICS and task.tour_scoring is None:
        raise InputError(
            f"expected a metric of episodes for {phase.protocol}, which has no tours, got "
            f"{phase.rank_metric!r}"
        )
    if phase.suite is not None:
        require_name("suite", phase.suite, SUITES)
        if phase.corruptions:
            raise InputError("expected either suite or corruptions, got both")
    for text in phase.corruptions:
        write_corruption(text)
    if phase.rank_by.startswith(UNSEEN_MEAN) and phase.suite is None:
        raise InputError(f"expected a suite of corruptions for rank_by = {phase.rank_by!r}, got none")
    if len(set(phase.datasets)) < len(phase.datasets):
        raise InputError(f"expected each of datasets once, got {', '.join(phase.datasets)}")
    if not phase.accepts:
        raise InputError('expected accepts to name "log", "live" or "trajectory", got none')
    if "trajectory" in phase.accepts:
        require_layout(phase)
    if isinstance(task, GraphTask):
        require_graph_phase(phase, task)
        return
    for name in ("scenes", "tours"):
        if getattr(phase, name) is not None:
            raise InputError(f"expected no {name} for {phase.protocol}, got {getattr(phase, name)!r}")
    if phase.is_hidden:  # made in scenes, not read
        return
    recipe = get_recipe(phase.protocol)
    for dataset in _datasets_of(phase):
        if dataset in SCENE_SETS or dataset == recipe.default_dataset:
            require_name("split", phase.split, split_sizes(dataset, recipe))
        elif not is_scene(dataset) and not Path(str(phase.find_file(dataset))).exists():
            error = unknown_name("dataset", dataset, SCENE_SETS.names())
            raise UnknownNameError(f"{error}; or name an episode file beside the challenge file")


def _datasets_of(phase: Phase) -> tuple[str, ...]:
    """The data sets of a phase, the protocol's own where it names none."""
    return phase.datasets or (get_recipe(phase.protocol).default_dataset,)


def _require_hidden(challenge: Challenge, phase: Phase) -> None:
    """Hidden episodes have a seed and are run live; nothing else is hidden."""
    if not phase.is_hidden:
        for name in ("per_scene", "new_houses"):
            if getattr(phase, name) is not None:
                raise InputError(f"expected private_seed beside {name}, got none")
        return
    if phase.accepts != ("live",):
        raise InputError(
            'expected accepts = ["live"] where episodes are hidden: a log can only be made of episodes that '
            f"everybody has; got {list(phase.accepts)}"
        )
    if phase.per_scene is None:
        raise InputError("expected hidden episodes (private_seed) with per_scene, got none")
    if phase.new_houses is None:
        for dataset in _datasets_of(phase):
            hidden_scenes(phase, dataset)
    read_private_seed(challenge, phase)


def _require_numbers(phase: Phase) -> None:
    """Counts are at least 1, seconds are positive."""
    counts = {
        "episodes": phase.episodes,
        "per_scene": phase.per_scene,
        "new_houses": phase.new_houses,
        "calibration_steps": phase.calibration_steps,
        "quota per_day": phase.limits.per_day,
        "quota in_all": phase.limits.in_all,
    }
    for name, count in counts.items():
        if count is not None and count < 1:
            raise InputError(f"expected {name} of at least 1, got {count}")
    seconds = {
        "episode_seconds": phase.episode_seconds,
        "step_seconds": phase.step_seconds,
        "grace_seconds": phase.grace_seconds,
        "quota seconds": phase.limits.seconds,
    }
    for name, value in seconds.items():
        require_seconds(name, value)


def require_times(phases: Sequence[Phase]) -> None:
    """Raise InputError for reversed times, times without a zone, and phases that share episodes and overlap.

    Where two phases over the same episodes were open at once, no quota would hold.
    """
    for phase in phases:
        for name in ("opens", "closes", "reveals"):
            when = getattr(phase, name)
            if when is not None and when.tzinfo is None:
                raise InputError(
                    f"phase {phase.name!r}: expected {name} with a zone, got {when.isoformat()}; write "
                    f"{when.isoformat()}Z for UTC"
                )
        if phase.opens is not None and phase.closes is not None and phase.opens >= phase.closes:
            raise InputError(
                f"phase {phase.name!r}: expected it to open before it closes, got {phase.opens.isoformat()} "
                f"and {phase.closes.isoformat()}"
            )
        if phase.reveals is not None and phase.board == "public":
            raise InputError(f'phase {phase.name!r}: expected board = "hidden" beside reveals, got "public"')
        if phase.reveals is not None and phase.opens is not None and phase.reveals < phase.opens:
            raise InputError(
                f"phase {phase.name!r}: expected the board to be shown after {phase.opens.isoformat()}, when "
                f"it opens, got {phase.reveals.isoformat()}"
            )
    for one, other in combinations(phases, 2):
        if _share_episodes(one, other) and _overlap(one, other):
            raise InputError(
                f"expected phases over the same episodes to be open one after the other, got {one.name!r} "
                f"and {other.name!r}, which overlap; change opens and closes, or the split"
            )


def _share_episodes(one: Phase, other: Phase) -> bool:
    """Whether an episode is in both; the first so many of a data set are in more of them, too."""
    names = ("protocol", "split", "private_seed", "corruptions", "suite", "scenes", "tours")
    same = all(getattr(one, name) == getattr(other, name) for name in names)
    return same and not set(_datasets_of(one)).isdisjoint(_datasets_of(other))


def _overlap(one: Phase, other: Phase) -> bool:
    first = datetime.datetime.min.replace(tzinfo=datetime.UTC)
    last = datetime.datetime.max.replace(tzinfo=datetime.UTC)
    begins = max(one.opens or first, other.opens or first)
    return begins < min(one.closes or last, other.closes or last)
