"""Recordings for the rerun viewer, read back: what they hold is what happened."""

import numpy as np
import pytest

from navarena.cli.main import main
from navarena.core.errors import InputError, UnknownNameError
from navarena.evaluation import EvaluationSettings, evaluate, execute_actions, read_rows
from navarena.reports.rerun_file import color_triangles, write_rerun
from navarena.scenes.scene import Material, Scene

STEPS = 4


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    folder = tmp_path_factory.mktemp("runs") / "run"
    settings = EvaluationSettings(
        "multion-2on-v1", agent="expert", episodes=2, episode_steps=STEPS, out=folder
    )
    return evaluate(settings)


@pytest.fixture(scope="module")
def outcomes(run):
    episodes = {one.episode_id: one for one in run.benchmark.episodes}
    pairs = [(row, episodes[row.episode_id]) for row in run.rows]
    return {row.episode_id: outcome for row, _, outcome in execute_actions(run.benchmark, pairs)}


def read(path):
    """Entity -> component -> {step: value}, whatever the order of chunks; step None for what is static."""
    from rerun.chunk import RrdReader

    found = {}
    for chunk in RrdReader(str(path)).stream().to_chunks():
        batch = chunk.to_record_batch()
        columns = {name: batch.column(name).to_pylist() for name in batch.schema.names}
        entity = found.setdefault(str(chunk.entity_path).replace("\\", ""), {})
        steps = columns.pop("step", [None] * batch.num_rows)
        for name, values in columns.items():
            if name != "rerun.controls.RowId":
                known = {step: value for step, value in zip(steps, values, strict=True) if value is not None}
                entity.setdefault(name, {}).update(known)
    return found


def values(entity, name):
    """The single values of a component, by rising step."""
    assert sorted(entity[name]) == list(range(len(entity[name])))
    return np.array([entity[name][step][0] for step in sorted(entity[name])])


def test_the_recording_holds_what_happened(run, outcomes, tmp_path, capsys):
    path = tmp_path / "run.rrd"
    assert main(["replay", str(run.folder), "--rerun", str(path)]) == 0
    assert "2 episodes recorded in" in capsys.readouterr().out
    found = read(path)
    assert set(outcomes) and f"/world/scenes/{run.rows[0].scene_id}" in found
    for name, outcome in outcomes.items():
        track, place = outcome.trajectory, f"/world/episodes/{name}"
        body = found[f"{place}/body"]
        assert len(body["Transform3D:translation"]) == len(track.actions) + 1
        assert np.allclose(values(body, "Transform3D:translation"), track.positions, atol=1e-5)
        # three columns one after the other: the third axis looks backward
        ahead = -values(body, "Transform3D:mat3x3").reshape(-1, 3, 3)[:, 2]
        expected = np.stack([-np.sin(track.yaws), np.zeros(len(track.yaws)), -np.cos(track.yaws)], 1)
        assert np.allclose(ahead, expected, atol=1e-6)
        distances = values(found[f"/distance/{name}"], "Scalars:scalars")
        assert np.allclose(distances, track.distance_to_goal)
        walked = np.array(found[f"{place}/walked"]["LineStrips3D:strips"][None][0])
        assert np.allclose(walked, track.positions, atol=1e-5)
        for entity in ("rgb_camera/rgb", "depth_camera/depth", "goals", "goals/shortest"):
            assert f"{place}/{entity}" in found, entity
        heights = values(found[f"{place}/rgb_camera"], "Transform3D:translation")[:, 1]
        assert np.allclose(heights, track.positions[:, 1] + 0.88, atol=1e-4)
        assert len(found[f"/maps/{name}"]["Image:buffer"]) == len(track.actions) + 1


def test_depth_is_in_metres(run, tmp_path):
    path, name = tmp_path / "one.rrd", run.rows[1].episode_id
    assert write_rerun(run.folder, path, [name]) == 1
    found = read(path)
    assert not [entity for entity in found if run.rows[0].episode_id in entity], "only what was asked for"
    image = found[f"/world/episodes/{name}/depth_camera/depth"]
    metres = np.frombuffer(bytes(image["DepthImage:buffer"][0][0]), np.float32)
    assert metres.shape == (256 * 256,) and metres.max() > 1.0, "not the share of the range"


def test_equal_runs_give_equal_poses(run, tmp_path):
    for name in ("a.rrd", "b.rrd"):
        write_rerun(run.folder, tmp_path / name, [run.rows[0].episode_id])
    first, second = read(tmp_path / "a.rrd"), read(tmp_path / "b.rrd")
    first.pop("/__properties", None), second.pop("/__properties", None)
    assert first == second


def test_evaluate_records_as_replay_does(tmp_path, capsys):
    told, path = [str(tmp_path / "run"), str(tmp_path / "b.rrd")], tmp_path / "a.rrd"
    command = ["evaluate", "pointnav-v1", "--agent", "random", "--episodes", "1", "--quiet", "--out", told[0]]
    assert main([*command, "--rerun", str(path)]) == 0
    assert f"1 episode recorded in {path}" in capsys.readouterr().out
    assert main(["replay", told[0], "--rerun", told[1]]) == 0
    first, second = read(path), read(told[1])
    first.pop("/__properties", None), second.pop("/__properties", None)
    assert first == second
    assert main([*command, "--rerun", str(path), "--repeat", "2"]) == 2
    assert "expected one run to record with --rerun, got several" in capsys.readouterr().err


def test_bad_input_leaves_nothing(run, tmp_path, capsys):
    assert main(["replay", str(run.folder), "--rerun", str(tmp_path / "run.bin")]) == 2
    assert "expected a recording's name to end in .rrd, got" in capsys.readouterr().err
    assert main(["replay", str(run.folder), "--episode", "x"]) == 2
    assert "expected --rerun FILE.rrd beside --episode" in capsys.readouterr().err
    with pytest.raises(UnknownNameError, match="unknown episode of the run 'x'"):
        write_rerun(run.folder, tmp_path / "run.rrd", ["x"])
    (tmp_path / "file").write_text("")
    with pytest.raises(InputError, match="cannot write"):
        write_rerun(run.folder, tmp_path / "file" / "run.rrd", [run.rows[0].episode_id])
    assert [one.name for one in tmp_path.iterdir()] == ["file"]
    assert len(read_rows(run.folder)) == 2


def test_meshes_have_the_colours_of_their_materials():
    scene = Scene(
        "two",
        np.array([(0, 0, 0), (1, 0, 0), (0, 0, 1), (1, 0, 1)], np.float32),
        np.array([(0, 1, 2), (1, 3, 2)], np.int32),
        np.zeros(2, np.int32),
        np.array([0, 1], np.int32),
        (Material("red", (200, 0, 0)), Material("cloth", (100, 100, 100), 0)),
        np.zeros((2, 3, 2), np.float32),
        (np.full((2, 2, 3), (255, 51, 0), np.uint8),),
        vertex_light=np.array([1, 1, 1, 0.5], np.float32),
    )
    positions, colors = color_triangles(scene)
    assert positions.shape == (6, 3) and positions[4].tolist() == [1, 0, 1]
    assert colors.tolist() == [[200, 0, 0]] * 3 + [[100, 20, 0], [50, 10, 0], [100, 20, 0]]
