"""Imitation of demonstrations: a recipe learns from a folder, goes on, and refuses what does not fit."""

from dataclasses import replace

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from navarena.cli.main import main  # noqa: E402
from navarena.core.errors import FileError, InputError  # noqa: E402
from navarena.evaluation.demonstrations.manifest import read_manifest, write_manifest  # noqa: E402
from navarena.evaluation.demonstrations.reading import open_demos  # noqa: E402
from navarena.evaluation.demonstrations.writing import DemoSettings, write_demonstrations  # noqa: E402
from navarena.evaluation.settings import EvaluationSettings  # noqa: E402
from navarena.learning.auxiliaries.settings import INVERSE_DYNAMICS, AugmentationSettings  # noqa: E402
from navarena.learning.checkpoints.policies import load_policy, read_info  # noqa: E402
from navarena.learning.networks.encoder_settings import EncoderSettings  # noqa: E402
from navarena.learning.recipes.catalog import RECIPES  # noqa: E402
from navarena.learning.settings import HABITAT_DDPPO  # noqa: E402
from navarena.learning.trainings.aggregation import LEARNED  # noqa: E402
from navarena.learning.trainings.demonstrations import DemoTraining  # noqa: E402
from navarena.learning.trainings.training import Training  # noqa: E402

pytestmark = pytest.mark.learn

TINY = replace(RECIPES.get("pointnav-smoke"), frames=600)


LARGE = "pointnav-v1+rgb=96x72+depth=96x72"


def write(folder, layout="parquet", protocol=LARGE, agent="expert", episodes=4, **changes):
    settings = EvaluationSettings(protocol, agent, episodes=episodes)
    write_demonstrations(DemoSettings(settings, folder, layout=layout, **changes))
    return folder


@pytest.fixture(scope="module")
def demos(tmp_path_factory):
    return write(tmp_path_factory.mktemp("demos") / "demos")


@pytest.fixture(scope="module")
def others(tmp_path_factory):
    """Demonstrations of another agent in the same episodes."""
    return write(tmp_path_factory.mktemp("others") / "demos", agent="forward")


def read_store(training):
    store = training._aggregator._store
    return [store.read(one.key) for one in store.entries]


def test_what_another_training_left_is_not_learned_from(demos, others, tmp_path):
    """Cut off before its first pass: its demonstrations, sizes and inputs count nothing."""
    DemoTraining(TINY, others, tmp_path)
    for recipe in (TINY, replace(TINY, image_size=(72, 96)), replace(TINY, sensors=("depth",))):
        stored = read_store(DemoTraining(recipe, demos, tmp_path))
        expected = [one.actions.tolist() for one in open_demos(demos)]
        assert [one["action"].tolist() for one in stored] == expected
        assert set(stored[0]) == {*recipe.sensors, *LEARNED}
        assert stored[0]["depth"].shape[1:] == (*recipe.image_size, 1)


def test_other_demonstrations_do_not_go_on_and_change_nothing(demos, others, tmp_path):
    DemoTraining(TINY, demos, tmp_path).run()

    def read_files():
        return {one: one.read_bytes() for one in tmp_path.rglob("*") if one.is_file()}

    before = read_files()
    with pytest.raises(InputError, match="got one from others, or from none"):
        DemoTraining(TINY, others, tmp_path)
    with pytest.raises(InputError, match="expected a training without --demos in "):
        Training(TINY, tmp_path)
    assert read_files() == before
    assert DemoTraining(TINY, demos, tmp_path).frames >= TINY.frames


def test_images_of_demonstrations_scale_the_inputs(demos, tmp_path):
    """Each frame once, beside the first one of mean 0, and again by no pass nor start."""
    encoder = EncoderSettings(images="resnet18", numbers="embedded", normalise=True, base_planes=16)
    recipe = replace(TINY, image_size=(72, 96), policy=replace(TINY.policy, encoder=encoder))
    training = DemoTraining(recipe, demos, tmp_path)
    means = np.concatenate([one["depth"].astype(float).mean((1, 2, 3)) for one in read_store(training)])
    expected = means.sum() / (len(means) + 1)
    normaliser = training._policy.encoder.images.normaliser
    assert normaliser.mean.item() == pytest.approx(expected, rel=1e-4) and expected > 0.05
    training._save()
    again = DemoTraining(recipe, demos, tmp_path)
    assert again._policy.encoder.images.normaliser.count == len(means) + 1


@pytest.mark.parametrize("name", ["cma-small", "tour-cma-small"])
def test_tours_are_learned_as_far_as_the_policy_remembers(name, tmp_path, monkeypatch):
    """Three episodes of a tour: one after the other in a lane, whose state goes on; or each from nothing."""
    settings = EvaluationSettings("ir2r-ce-v1+rgb=64x64+depth=64x64", "expert", split="mini", episodes=3)
    seen = ("rgb", "depth", "instruction_tokens")
    write_demonstrations(DemoSettings(settings, tmp_path / "demos", layout="parquet", sensors=seen))
    recipe = RECIPES.get(name)
    recipe = replace(
        recipe, protocol="ir2r-ce-v1", frames=1, targets=(), method=replace(recipe.method, auxiliaries=())
    )
    training, batches = DemoTraining(recipe, tmp_path / "demos", tmp_path / "out"), []

    def note(policy, optimiser, batch, state, generator):
        batches.append([(entry.key, goes_on) for _, entry, goes_on in batch])
        return {"imitation_loss": 0.0}

    monkeypatch.setattr(training._aggregator, "learn_batch", note)
    training.run()
    assert len({one.tour for one in training._aggregator._store.entries}) == 1
    if name == "cma-small":
        assert [len(batch) for batch in batches] == [3] and not any(on for _, on in batches[0])
    else:
        assert batches == [[("0", False)], [("1", True)], [("2", True)]]


def test_units_are_those_of_the_protocol(tmp_path):
    """Depth in shares of 5 m is not one in shares of 10 m, though their shapes are the same."""
    found = write(tmp_path / "demos", protocol="multion-1on-v1+max_steps=5", episodes=1)
    far = "multion-1on-v1+depth=far"
    recipe = replace(TINY, protocol=far, sensors=("depth",), image_size=(36, 36))
    with pytest.raises(InputError, match="expected depth in shares of 10 m in .*, got shares of 5 m of "):
        DemoTraining(recipe, found, tmp_path / "out")
    DemoTraining(replace(recipe, protocol="multion-1on-v1"), found, tmp_path / "out")


def test_settings_of_the_recipe_are_those_of_the_training(demos, tmp_path):
    plain = DemoTraining(TINY, demos, tmp_path / "plain")
    assert plain._policy.in_bfloat16 is (TINY.precision == "bfloat16")
    changed = replace(TINY, precision="bfloat16", targets=("progress",), masked=("turn_left",))
    training = DemoTraining(changed, demos, tmp_path / "changed")
    assert training._policy.in_bfloat16
    left = training._info.actions.index("turn_left")
    for one in read_store(training):
        assert (one["label"] == np.where(one["action"] == left, -1, one["action"])).all()
    assert any((one["action"] == left).any() for one in read_store(training))
    rows = []
    info = training.run(rows.append)
    assert rows[0]["imitation_loss"] < 3.0, "no label is impossible"
    identity = open_demos(demos).manifest.identity
    assert info.demonstrations == f"expert on {identity}"
    assert info.trained_with == (f"demonstrations of expert on {identity}",)


def test_the_loss_falls_and_the_checkpoint_acts(demos, tmp_path, capsys):
    out = tmp_path / "cloned"
    rows = []
    info = DemoTraining(replace(TINY, frames=2000), demos, out).run(rows.append)
    assert rows[-1]["imitation_loss"] < rows[0]["imitation_loss"] - 0.05
    assert rows[-1]["agreement"] > rows[0]["agreement"]
    once = open_demos(demos).manifest.frames
    assert info.frames == once * len(rows) >= 2000 > once * (len(rows) - 1)
    arguments = ["--agent", f"checkpoint:{out}", "--episodes", "1", "--episode-steps", "5"]
    assert main(["evaluate", "pointnav-v1", *arguments, "--out", str(tmp_path / "run"), "--quiet"]) == 0


def test_what_is_stored_is_what_the_policy_reads(demos, tmp_path):
    training = DemoTraining(TINY, demos, tmp_path / "out")
    found, stored = open_demos(demos).read(2), training._aggregator._store
    arrays = stored.read(stored.entries[2].key)
    np.testing.assert_array_equal(arrays["action"], found.actions)
    np.testing.assert_array_equal(arrays["label"], found.actions)
    depth = found.observations["depth"]  # of 72 x 96, every second pixel
    np.testing.assert_array_equal(arrays["depth"], depth[:, 1::2, 1::2].astype(np.float16))


def test_it_goes_on_with_the_same_bits(demos, tmp_path):
    DemoTraining(TINY, demos, tmp_path / "whole").run()

    class Stopped(Exception):
        pass

    def stop(row):
        if row["updates"] == 2:
            raise Stopped

    with pytest.raises(Stopped):  # before the second pass is saved
        DemoTraining(TINY, demos, tmp_path / "parts").run(stop)
    again = DemoTraining(TINY, demos, tmp_path / "parts")
    assert again.updates == 1
    again.run()
    ones, others = (load_policy(tmp_path / name)[1].state_dict() for name in ("whole", "parts"))
    assert all(torch.equal(ones[name], others[name]) for name in ones)
    assert (
        len((tmp_path / "parts" / "log.jsonl").read_text().splitlines())
        == read_info(tmp_path / "whole").updates
    )


def test_it_starts_from_another_training(demos, tmp_path):
    DemoTraining(TINY, demos, tmp_path / "first").run()
    started = DemoTraining(replace(TINY, start=str(tmp_path / "first")), demos, tmp_path / "then")
    saved = load_policy(tmp_path / "first")[1].state_dict()
    assert all(torch.equal(value, saved[name]) for name, value in started._policy.state_dict().items())
    with pytest.raises(FileError):
        DemoTraining(replace(TINY, start=str(tmp_path / "none")), demos, tmp_path / "other")


def test_lerobot_is_learned_from_too(tmp_path):
    pytest.importorskip("av")
    rows = []
    DemoTraining(TINY, write(tmp_path / "demos", "lerobot"), tmp_path / "out").run(rows.append)
    assert rows[-1]["imitation_loss"] < rows[0]["imitation_loss"]


def test_what_does_not_fit_is_refused(demos, tmp_path):
    with pytest.raises(InputError, match="expected demonstrations of objectnav-robothor2021-v1, got "):
        DemoTraining(replace(TINY, protocol="objectnav-robothor2021-v1", sensors=("depth",)), demos, tmp_path)
    with pytest.raises(InputError, match="expected a recipe of imitation"):
        DemoTraining(replace(TINY, method=HABITAT_DDPPO), demos, tmp_path)
    with pytest.raises(InputError, match="got inverse_dynamics; add --set method.auxiliaries="):
        method = replace(TINY.method, auxiliaries=(INVERSE_DYNAMICS,))
        DemoTraining(replace(TINY, method=method), demos, tmp_path)
    for name in ("corruptions", "mixture"):
        with pytest.raises(InputError, match=f"expected no {name} with --demos"):
            DemoTraining(replace(TINY, **{name: ("clean+depth_holes:3",)}), demos, tmp_path)
    with pytest.raises(InputError, match="expected policy.remembers=episode or longer with --demos"):
        DemoTraining(replace(TINY, policy=replace(TINY.policy, remembers="subtask")), demos, tmp_path)
    with pytest.raises(InputError, match="expected no augmentation with --demos"):
        DemoTraining(replace(TINY, augmentation=AugmentationSettings(mirror=0.5)), demos, tmp_path)
    with pytest.raises(InputError, match=r"expected depth of \(96, 128, 1\) at least"):
        DemoTraining(replace(TINY, image_size=(96, 128)), demos, tmp_path)
    with pytest.raises(InputError, match="expected the observation compass in .*, got rgb, depth, pointgoal"):
        DemoTraining(replace(TINY, sensors=("depth", "compass")), demos, tmp_path)
    assert not list(tmp_path.iterdir())
    write_manifest(tmp_path, replace(read_manifest(demos), complete=False))
    with pytest.raises(FileError, match="got half-written ones"):
        DemoTraining(TINY, tmp_path, tmp_path / "out")


def test_the_command(demos, tmp_path, capsys):
    out = tmp_path / "cloned"
    given = [
        "train",
        "pointnav-smoke",
        "--demos",
        str(demos),
        "--frames",
        "300",
        "--out",
        str(out),
        "--quiet",
    ]
    assert main(given) == 0
    assert "checkpoint:" in capsys.readouterr().out and read_info(out).updates >= 1
    assert main([*given[:3], str(tmp_path), *given[4:-2], str(tmp_path / "b")]) == 2
    assert "without demos.json" in capsys.readouterr().err
    for setting in ("epochs", "minibatches"):
        assert main([*given, f"--method.{setting}=3"]) == 2
        assert f"settings that --demos uses, got method.{setting}; leave it" in capsys.readouterr().err
