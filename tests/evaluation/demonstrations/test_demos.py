"""Demonstrations: what is kept is what the agent saw, in every layout, once, with the same bytes."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from navarena.cli.main import main
from navarena.core.errors import CheckFailedError, FileError, InputError
from navarena.evaluation.demonstrations import sharding
from navarena.evaluation.demonstrations.columns import Column
from navarena.evaluation.demonstrations.lerobot_layout import LeRobotLayout
from navarena.evaluation.demonstrations.manifest import read_manifest
from navarena.evaluation.demonstrations.reading import open_demos
from navarena.evaluation.demonstrations.writing import write_demonstrations
from navarena.evaluation.running.replay import replay_run
from navarena.tasks.batch import NavigationBatch
from navarena.tasks.catalog import get_task
from navarena.tasks.sources import load_task_episodes
from navarena.tasks.user_files import NO_SOURCES

from .small import EPISODES, PROTOCOL, files_of, settings, write


@pytest.fixture(scope="module")
def exact(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("demos") / "parquet"
    write(folder, layout="parquet")
    return folder


@pytest.fixture(scope="module")
def lerobot(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("demos") / "lerobot"
    write(folder)
    return folder


def test_frames_are_what_a_body_sees_that_takes_the_actions(exact: Path) -> None:
    """A batch of one slot, stepped by hand, is the reference."""
    task = get_task(PROTOCOL)
    episodes = {one.episode_id: one for one in load_task_episodes(task, "mini", None, NO_SOURCES).episodes}
    demos = open_demos(exact, PROTOCOL)
    batch = NavigationBatch(task, 1, 1)
    for entry, found in zip(demos.manifest.episodes, demos, strict=True):
        batch.start([0], [episodes[entry.episode_id]])
        for t, action in enumerate(found.actions.tolist()):
            for name in ("rgb", "depth", "pointgoal_with_gps_compass"):
                np.testing.assert_array_equal(found.observations[name][t], batch.observations[name][0])
                assert found.observations[name].dtype == batch.observations[name].dtype
            position = batch.simulator.positions[0]
            np.testing.assert_allclose(found.poses[t, :3], position, atol=1e-6)
            assert found.poses[t, 3] == pytest.approx(float(batch.simulator.yaws[0]), abs=1e-6)
            result = batch.step(np.array([action]))
            assert found.rewards[t] == pytest.approx(float(result.reward[0]), abs=1e-6)
            assert found.terminated[t] == result.terminated[0] and found.truncated[t] == result.truncated[0]
        assert not batch.running[0] and found.terminated[-1] and not found.terminated[:-1].any()
    assert len(demos) == EPISODES


def test_every_episode_is_there_once_and_in_several_files(exact: Path) -> None:
    manifest = read_manifest(exact)
    ids = [one.episode_id for one in manifest.episodes]
    assert len(set(ids)) == len(ids) == EPISODES and len(manifest.files) > 1
    firsts = np.cumsum([0, *(one.steps for one in manifest.episodes)])
    assert [one.first for one in manifest.episodes] == firsts[:-1].tolist()
    assert manifest.frames == firsts[-1] == sum(len(one.actions) for one in open_demos(exact))
    assert not replay_run(exact / "run").differences


def test_videos_and_depth_of_lerobot_are_near_the_exact_ones(exact: Path, lerobot: Path) -> None:
    for sharp, near in zip(open_demos(exact), open_demos(lerobot), strict=True):
        np.testing.assert_array_equal(near.actions, sharp.actions)
        np.testing.assert_array_equal(near.rewards, sharp.rewards)
        np.testing.assert_array_equal(near.terminated, sharp.terminated)
        np.testing.assert_array_equal(near.poses, sharp.poses)
        name = "pointgoal_with_gps_compass"
        np.testing.assert_array_equal(near.observations[name], sharp.observations[name])
        levels = np.abs(near.observations["depth"] - sharp.observations["depth"])
        assert levels.max() <= 0.5001 / 10_000  # rounded to the nearest level
        errors = near.observations["rgb"].astype(float) - sharp.observations["rgb"]
        own = float((errors**2).mean())
        shifted = np.roll(near.observations["rgb"], 1, axis=0).astype(float) - sharp.observations["rgb"]
        assert own < 120 and own < 0.5 * float((shifted**2).mean())  # the frame itself, not its neighbour


@pytest.mark.parametrize("layout", ["parquet", "lerobot"])
def test_an_interrupted_command_goes_on_with_the_same_bytes(
    layout: str, exact: Path, lerobot: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = exact if layout == "parquet" else lerobot
    own = settings(tmp_path / "demos", layout=layout)

    def stop(shard: object) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        write_demonstrations(own, on_shard=stop)
    with pytest.raises(FileError, match="half-written"):
        open_demos(own.out)
    encoded: list[int] = []
    encode = sharding.Encoding.encode
    monkeypatch.setattr(
        sharding.Encoding, "encode", lambda self, one: (encoded.append(one.number), encode(self, one))[1]
    )
    write_demonstrations(replace(own, resumes=True))
    assert encoded == list(range(1, max(one.shard for one in read_manifest(own.out).episodes) + 1))
    assert files_of(own.out) == files_of(whole)
    write_demonstrations(own)
    assert len(encoded) + 1 == len({one.shard for one in read_manifest(own.out).episodes})


def test_a_file_that_was_cut_short_is_written_again(exact: Path, tmp_path: Path) -> None:
    own = settings(tmp_path / "demos", layout="parquet")
    written: list[Path] = []

    def cut(shard: object) -> None:
        (path,) = (own.out / "data").glob("*.parquet")
        path.write_bytes(path.read_bytes()[:100])
        written.append(path)
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        write_demonstrations(own, on_shard=cut)
    write_demonstrations(own)
    assert written and files_of(own.out) == files_of(exact)


def test_only_successes_are_kept_when_asked(tmp_path: Path) -> None:
    with pytest.raises(CheckFailedError, match="got none of 4"):
        write(tmp_path / "a", agent="random", successes=True, layout="parquet", sensors=("compass",))
    manifest = write(tmp_path / "b", agent="random", layout="parquet", sensors=("compass",))
    assert [one.success for one in manifest.episodes] == [0.0] * EPISODES


def test_texts_and_tours_are_kept(tmp_path: Path) -> None:
    manifest = write(tmp_path / "d", protocol="ir2r-v1", layout="parquet", episodes=6, shard_frames=1)
    shards = {}
    for one in manifest.episodes:
        assert one.tour_id and shards.setdefault(one.tour_id, one.shard) == one.shard
    found = open_demos(tmp_path / "d").read(1)
    words = " ".join(str(found.observations["instruction"][0]).split())
    assert words and words == manifest.episodes[1].task
    assert found.observations["candidate_angles"].shape[0] == manifest.episodes[1].steps


def test_what_lerobot_cannot_hold_is_refused() -> None:
    planes = Column("instances", "plane", (4, 4), "int32", 0, 100_000)
    with pytest.raises(InputError, match="expected numbers of 0 to 32767 in instances, got 0 to 100000"):
        LeRobotLayout([planes], 10)
    with pytest.raises(InputError, match=r"got map of shape \(4, 4, 2\); choose --format parquet"):
        LeRobotLayout([Column("map", "array", (4, 4, 2), "uint8")], 10)
    with pytest.raises(InputError, match="even width and height for videos, got 32 x 25"):
        LeRobotLayout([Column("rgb", "image", (25, 32, 3), "uint8", 0, 255)], 10)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--agent", "exprt"], "unknown agent 'exprt'. Did you mean 'expert'?"),
        (["--format", "lerobt"], "lerobt"),
        (["--sensors", "rbg"], "unknown"),
        (["--resume"], "expected demonstrations to go on with"),
        (["--frames-per-second", "0"], "expected at least one frame per second"),
        (["--split", "train"], "expected --episodes N for a stream"),
        (["--workers", "0"], "expected workers of at least 1, got 0"),
    ],
)
def test_bad_flags_are_one_line_and_write_nothing(
    arguments: list[str], said: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    given = ["demos", PROTOCOL, "--out", str(tmp_path / "demos"), *arguments]
    given += [] if "--split" in arguments else ["--split", "mini"]
    assert main(given) == 2
    err = capsys.readouterr().err
    assert said in err and err.count("error:") == 1 and "Traceback" not in err
    assert not (tmp_path / "demos").exists()


def test_a_folder_of_anything_else_is_refused(exact: Path, tmp_path: Path) -> None:
    with pytest.raises(
        InputError, match="expected the protocol of the demonstrations in .*, got 'pointnav-v1'"
    ):
        write(exact, protocol="pointnav-v1", layout="parquet")
    with pytest.raises(InputError, match="expected the layout of the demonstrations"):
        write(exact)
    with pytest.raises(InputError, match="expected the agent of the demonstrations"):
        write(exact, layout="parquet", agent="random")
    (tmp_path / "notes.txt").write_text("mine")
    with pytest.raises(InputError, match="got other files"):
        write(tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["notes.txt"]
    with pytest.raises(
        InputError, match=r"expected demonstrations of objectnav-habitat2020-v1, got .*pointnav"
    ):
        open_demos(exact, "objectnav-habitat2020-v1")
    with pytest.raises(FileError, match="got a folder without demos.json"):
        open_demos(tmp_path)


def test_a_damaged_file_is_named(exact: Path, tmp_path: Path) -> None:
    for name, content in files_of(exact).items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_bytes(content)
    path = tmp_path / "data" / "file-00000.parquet"
    path.write_bytes(path.read_bytes()[:-1] + b"x")
    with pytest.raises(FileError, match="file-00000.parquet does not belong to the demos.json"):
        open_demos(tmp_path).read(0)
    (tmp_path / "demos.json").write_text('{"format": "other"}')
    with pytest.raises(FileError, match="expected demonstrations of the format navarena-demos-v1"):
        open_demos(tmp_path)


def test_the_card_names_protocol_hash_houses_and_agent(lerobot: Path) -> None:
    card, manifest = (lerobot / "README.md").read_text(), read_manifest(lerobot)
    for text in (manifest.protocol, manifest.identity, "`expert`", manifest.episodes[0].scene_id, "LeRobot"):
        assert text in card
    assert f"| episodes, frames | {EPISODES}, {manifest.frames} |" in card
