"""Uploaded trajectories: their intake, and the job that computes every metric from them."""

import hashlib
from collections.abc import Callable, Iterable, Sequence

import msgspec

from navarena.core.errors import FileError
from navarena.core.files import MAX_QUOTED
from navarena.evaluation.benchmark import Benchmark
from navarena.evaluation.exchange import r2r_results
from navarena.evaluation.exchange.exports import require_atlas
from navarena.evaluation.memory_groups import make_groups
from navarena.evaluation.records.journal import Row
from navarena.tasks.catalog import get_task
from navarena.tasks.graphs.task import GraphTask
from navarena.tasks.protocols.object_nav_robothor import ObjectNavRobothor2021
from navarena.web.challenge.given_poses import GivenPoses
from navarena.web.challenge.log_format import read_about, unpack_lines
from navarena.web.challenge.refusals import Refusal
from navarena.web.challenge.service import Service
from navarena.web.challenge.settings import Challenge, Phase
from navarena.web.challenge.storage.jobs import Lease
from navarena.web.challenge.storage.models import PhaseRow, Submission
from navarena.web.challenge.submissions import CheckedUpload, require_inputs, require_track
from navarena.web.challenge.trajectory_files import (
    Answer,
    FileClaim,
    PathAnswer,
    PoseAnswer,
    find_layout,
    read_trajectories,
)
from navarena.web.challenge.verification import (
    ScoreWriter,
    finish_submission,
    list_done,
    open_parts,
    read_upload,
    refuse,
)

Score = Callable[[Answer], Row]
"""The row that a trajectory gives; raises FileError for one that cannot have been walked."""

LISTED = 3


def check_trajectories(
    challenge: Challenge, phase: Phase, benchmarks: Sequence[Benchmark], pieces: Iterable[bytes]
) -> CheckedUpload:
    """Read uploaded trajectories from end to end without following them.

    Args:
        challenge: whose tracks they may name.
        phase: to which they are submitted.
        benchmarks: of the parts of the phase, in order.
        pieces: of the file.

    Raises Refusal for everything that needs no scene and no graph to be seen.
    """
    lines = unpack_lines(pieces)
    first = next(lines, None)
    if first is None:
        raise Refusal("empty_log", "expected a results file, got nothing; make it by `navarena submit`")
    about = read_about(first)
    track = require_track(challenge, about.track)
    claims: list[FileClaim] = []
    found: list[dict[str, bytes]] = []
    ids = [{one.episode_id for one in benchmark.episodes} for benchmark in benchmarks]
    for one in read_trajectories(lines, find_layout(phase.protocol)):
        if isinstance(one, FileClaim):
            if len(claims) == len(benchmarks):
                raise Refusal(
                    "doubled_run", f"expected {len(benchmarks)} results files for the phase, got one more"
                )
            require_inputs(track, bool(one.privileged_inputs), one.privileged_inputs)
            claims.append(one)
            found.append({})
            continue
        name, known = one.episode_id, found[-1]
        if name in known:
            raise Refusal("doubled_episode", f"expected each episode once, got {name!r} twice")
        if name not in ids[len(claims) - 1]:
            raise Refusal(
                "other_episodes",
                f"expected episodes of {benchmarks[len(claims) - 1].identity}, got {name!r}, which is none",
            )
        known[name] = hashlib.sha256(msgspec.json.encode(one.proof)).digest()
    for part, benchmark in enumerate(benchmarks):
        answered = found[part] if part < len(found) else {}
        _require_all(benchmark, answered)
    digest = hashlib.sha256()
    for benchmark, answers in zip(benchmarks, found):
        for name in sorted(answers):
            digest.update(msgspec.json.encode((str(benchmark.identity), name)) + answers[name])
    return CheckedUpload(
        kind="trajectory",
        about=about,
        agent=claims[0].agent,
        privileged=any(one.privileged_inputs for one in claims),
        privileged_inputs=tuple(dict.fromkeys(name for one in claims for name in one.privileged_inputs)),
        trained_with=tuple(dict.fromkeys(name for one in claims for name in one.trained_with)),
        content_hash=digest.hexdigest(),
        episodes=sum(map(len, found)),
    )


def _require_all(benchmark: Benchmark, answered: dict[str, bytes]) -> None:
    missing = [one.episode_id for one in benchmark.episodes if one.episode_id not in answered]
    if missing:
        raise Refusal(
            "incomplete_run" if answered else "empty_log",
            f"expected trajectories of {len(benchmark.episodes)} episodes of {benchmark.identity}, got none "
            f"of {len(missing)} ({', '.join(missing[:LISTED])}{', ...' if len(missing) > LISTED else ''})",
        )


def run_trajectory_job(service: Service, lease: Lease) -> None:
    """Follow the trajectories of a job from where it stands, and write its end.

    A trajectory that cannot have been walked refuses all. Raises LeaseLostError when another worker has taken
    over.
    """
    storage = service.storage
    with storage.read() as session:
        submission = session.get_one(Submission, lease.submission_id)
        phase = service.challenge.phase(session.get_one(PhaseRow, submission.phase_id).slug)
        agent, trained_with = submission.agent, list(submission.trained_with)
        done = list_done(session, submission.id)
        _, *lines = read_upload(session, submission.id)
    benchmarks = open_parts(phase)
    part, writers = -1, [ScoreWriter(storage, lease, part) for part in range(len(benchmarks))]
    try:
        for one in read_trajectories(lines, find_layout(phase.protocol)):
            if isinstance(one, FileClaim):
                part += 1
                score = make_score_function(phase, benchmarks[part])
                positions = {each.episode_id: n for n, each in enumerate(benchmarks[part].episodes)}
            elif positions[one.episode_id] not in done[part]:
                writers[part].add(positions[one.episode_id], score(one))
        for writer in writers:
            writer.commit()
    except FileError as error:
        with storage.write() as session:
            refuse(session, lease, Refusal("impossible_move", _shorten(str(error))))
        return
    finish_submission(storage, lease, phase, benchmarks, [agent] * len(benchmarks), trained_with)


def _shorten(text: str) -> str:
    """One line of at most MAX_QUOTED letters: a message may quote what was sent."""
    line = " ".join(text.split())
    return line if len(line) <= MAX_QUOTED else f"{line[:MAX_QUOTED]}..."


def make_score_function(phase: Phase, benchmark: Benchmark) -> Score:
    """The function that scores trajectories as rows of `benchmark`."""
    task = get_task(phase.protocol)
    if isinstance(task, GraphTask):
        return _score_paths(task, benchmark)
    assert isinstance(task, ObjectNavRobothor2021)
    return _score_poses(task, benchmark)


def _score_paths(task: GraphTask, benchmark: Benchmark) -> Score:
    """R2R's answers along the graphs of the phase."""
    atlas, identity = require_atlas(benchmark), str(benchmark.identity)
    places = {
        one.episode_id: (group, place)
        for group in make_groups(benchmark.episodes, set(), "tour")
        for place, one in enumerate(group.episodes)
    }

    def score(answer: Answer) -> Row:
        assert isinstance(answer, PathAnswer)
        group, place = places[answer.episode_id]
        given = r2r_results.Answer(answer.instr_id, answer.trajectory)
        where = f"instruction {answer.instr_id}"
        nodes = r2r_results.find_nodes(where, given, group.episodes[place], atlas)
        return r2r_results.score_answer(nodes, group, place, atlas, task, identity)[0]

    return score


def _score_poses(task: ObjectNavRobothor2021, benchmark: Benchmark) -> Score:
    """RoboTHOR's poses in the scenes of the phase."""
    given = GivenPoses(task)
    episodes = {one.episode_id: one for one in benchmark.episodes}

    def score(answer: Answer) -> Row:
        assert isinstance(answer, PoseAnswer)
        return given.score(episodes[answer.episode_id], answer, benchmark)

    return score
