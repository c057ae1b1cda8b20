"""Commands about checkpoints: describe, export, select, draw; seeds side by side; settings as flags."""

import json
import re
import shutil
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from types import ModuleType

import pytest

torch = pytest.importorskip("torch")

from navarena.agents.loading import find_agent  # noqa: E402
from navarena.cli.main import main  # noqa: E402
from navarena.cli.training.curves import read_training  # noqa: E402
from navarena.cli.training.train import spell_settings  # noqa: E402
from navarena.core.errors import InputError  # noqa: E402
from navarena.evaluation.records.record import read_record  # noqa: E402
from navarena.evaluation.running.runner import open_run  # noqa: E402
from navarena.evaluation.settings import EvaluationSettings  # noqa: E402
from navarena.learning.agents.fit import find_vocabulary, require_fitting  # noqa: E402
from navarena.learning.auxiliaries.settings import INVERSE_DYNAMICS  # noqa: E402
from navarena.learning.checkpoints.exporting import export_checkpoint, select_checkpoint  # noqa: E402
from navarena.learning.checkpoints.files import INFO, MODEL, RESUME, encode_info  # noqa: E402
from navarena.learning.checkpoints.policies import (  # noqa: E402
    BEST,
    HEADS,
    earlier_folders,
    load_policy,
    read_heads,
    read_info,
    save_policy,
)
from navarena.learning.distributed import Machine  # noqa: E402
from navarena.learning.inputs import InputSpec  # noqa: E402
from navarena.learning.networks.encoder_settings import EncoderSettings  # noqa: E402
from navarena.learning.recipes.catalog import RECIPES  # noqa: E402
from navarena.learning.trainings.log import describe_health  # noqa: E402
from navarena.learning.trainings.setup import PACKAGE, find_commit  # noqa: E402
from navarena.tasks.catalog import get_body_task, get_task  # noqa: E402

from .made import SMALL, make_policy  # noqa: E402
from .rooms import WATCHED, train_in_rooms  # noqa: E402

pytestmark = pytest.mark.learn


@pytest.fixture(scope="module")
def trained(tmp_path_factory):
    folder = tmp_path_factory.mktemp("trained") / "watched"
    train_in_rooms(folder, replace(WATCHED, corruptions=("speckle_noise:3",))).run()
    return folder


def run_json(capsys, *arguments):
    assert main([*map(str, arguments), "--json"]) == 0
    return json.loads(capsys.readouterr().out)


def test_info_says_how_it_was_made(trained, capsys):
    told = run_json(capsys, "checkpoint", "info", trained)
    assert told["frames"] == 256 and told["seeds"] == {"training": 0} and told["resumes"]
    assert told["trained_with"] == ["speckle_noise:3"] and told["privileged_sensors"] == []
    assert [one["frames"] for one in told["curve"]] == [64, 128, 192, 256]
    assert told["best"]["frames"] == read_info(trained / BEST).frames
    assert re.fullmatch(r"[0-9a-f]{40}\+?|", told["commit"])
    assert main(["checkpoint", "info", str(trained)]) == 0
    text = capsys.readouterr().out
    for words in ("pointnav-v1", "speckle_noise:3", "depth 36 x 48 x 1 float16", "256 frames in 4 updates"):
        assert words in text


def test_a_result_declares_what_its_agent_was_trained_with(trained, tmp_path, capsys):
    command = ["evaluate", "pointnav-v1+max_steps=20", "--split", "mini", "--episodes", "1", "--quiet"]
    assert main([*command, "--agent", f"checkpoint:{trained}", "--out", str(tmp_path / "run")]) == 0
    assert read_record(tmp_path / "run").trained_with == ("speckle_noise:3",)
    for name in (MODEL, INFO):
        shutil.copy(trained / name, tmp_path / name)
    info = replace(read_info(trained), selection="paper", augmentations=("random_crop",))
    (tmp_path / INFO).write_bytes(encode_info(info))
    assert main([*command, "--agent", f"checkpoint:{tmp_path}", "--out", str(tmp_path / "paper")]) == 0
    said = read_record(tmp_path / "paper").trained_with
    assert said == ("speckle_noise:3", "random_crop", "selection on val")
    capsys.readouterr()


def test_a_run_holds_the_hash_of_its_weights_and_goes_on_with_no_others(trained, tmp_path, capsys):
    weights, run = tmp_path / "weights", tmp_path / "run"
    shutil.copytree(trained / BEST, weights)
    own = read_info(weights).model_sha256
    command = ["evaluate", "pointnav-v1+max_steps=20", "--split", "mini", "--episodes", "1", "--quiet"]
    command += ["--agent", f"checkpoint:{weights}", "--out", str(run)]
    assert main(command) == 0
    capsys.readouterr()
    assert read_record(run).model_sha256 == own
    assert run_json(capsys, "replay", run)["declared"]["weights"] == own
    assert run_json(capsys, "compare", run, run)["runs"][1]["model_sha256"] == [own]
    assert main(["compare", str(run), str(run)]) == 0
    assert own[:12] in capsys.readouterr().out
    assert main(command) == 0, "the same weights go on"
    capsys.readouterr()
    assert main(["checkpoint", "export", str(trained), str(weights)]) == 0
    assert main(command) == 2
    other = read_info(weights).model_sha256
    assert other != own and f"weights and files are {own}, not {other}" in capsys.readouterr().err


def test_weights_that_a_training_saves_between_naming_and_loading_are_not_played(trained, tmp_path):
    weights, run = tmp_path / "weights", tmp_path / "run"
    shutil.copytree(trained / BEST, weights)
    own = read_info(weights).model_sha256
    settings = EvaluationSettings(
        "pointnav-v1+max_steps=20", f"checkpoint:{weights}", split="mini", episodes=1, out=run
    )
    words = f"expected the weights {own} of checkpoint:.*they have changed"
    with pytest.raises(InputError, match=words), open_run(settings) as opened:
        assert read_record(run).model_sha256 == own
        export_checkpoint(trained, weights)
        opened.finish()
    assert not run.exists()


def test_export_is_half_as_large_and_acts_alike(trained, tmp_path, capsys):
    told = run_json(capsys, "checkpoint", "export", trained, tmp_path / "small")
    assert sorted(one.name for one in (tmp_path / "small").iterdir()) == [INFO, MODEL]
    assert (tmp_path / "small" / MODEL).stat().st_size < 0.6 * told["before"]
    assert 0 < told["largest_change"] <= 2**-11
    (_, whole), (info, small) = load_policy(trained), load_policy(tmp_path / "small")
    assert info.frames == 256 and len(info.curve) == 4
    for name, value in small.state_dict().items():
        expected = whole.state_dict()[name]
        assert value.dtype == expected.dtype and torch.equal(value, expected.half().float())
    with pytest.raises(InputError, match="could not go on"):
        export_checkpoint(trained / BEST, trained)


def test_weights_beyond_half_precision_are_not_exported(trained, tmp_path):
    folder = tmp_path / "large"
    shutil.copytree(trained, folder)
    training = train_in_rooms(folder, replace(WATCHED, corruptions=("speckle_noise:3",)))
    with torch.no_grad():
        training._policy.critic.weight[0, 0] = 1e5
    training._save()
    with pytest.raises(InputError, match=r"1e\+05 in critic.weight"):
        export_checkpoint(folder, tmp_path / "small")
    assert not (tmp_path / "small").exists()


def test_what_normalisers_counted_is_exported_as_it_is(trained, tmp_path):
    """65,504 is the largest number of float16."""
    inputs = (InputSpec("depth", (64, 64, 1), "float16"),)
    encoder = EncoderSettings(images="resnet18", numbers="embedded", base_planes=16, normalise=True)
    settings = replace(SMALL, encoder=encoder)
    policy = make_policy(inputs=inputs, settings=settings)
    normaliser = policy.encoder.images.normaliser
    normaliser.count.fill_(100_001.0)
    normaliser.mean.fill_(0.1)
    save_policy(tmp_path / "large", replace(read_info(trained), inputs=inputs, policy=settings), policy)
    export_checkpoint(tmp_path / "large", tmp_path / "small")
    small = load_policy(tmp_path / "small")[1].encoder.images.normaliser
    assert small.count.item() == 100_001.0 and torch.equal(small.mean, normaliser.mean)


def test_select_chooses_by_another_metric(trained, tmp_path, capsys):
    folder = tmp_path / "run"
    shutil.copytree(trained, folder)
    kept = earlier_folders(folder)
    for frames, mean in zip(kept, (0.9, 0.1), strict=True):
        info = read_info(kept[frames])
        point = info.curve[-1]
        scores = {**point.scores, "spl": replace(point.scores["spl"], mean=mean)}
        curve = (*info.curve[:-1], replace(point, scores=scores))
        (kept[frames] / INFO).write_bytes(encode_info(replace(info, curve=curve)))
    told = run_json(capsys, "checkpoint", "select", folder, "--by", "spl")
    first, second = kept
    assert {first, second} <= {one["frames"] for one in told["candidates"]}
    assert load_policy(folder / BEST)[0].frames == first
    assert main(["checkpoint", "select", str(folder), "--by", "sucess"]) == 2
    assert "success" in capsys.readouterr().err
    assert main(["checkpoint", "select", str(tmp_path)]) == 2
    assert "evaluation.updates" in capsys.readouterr().err


def test_the_selected_one_has_the_heads_of_its_losses(tmp_path):
    folder = tmp_path / "run"
    method = replace(WATCHED.method, auxiliaries=(INVERSE_DYNAMICS,))
    train_in_rooms(folder, replace(WATCHED, method=method)).run()
    shutil.rmtree(folder / BEST)  # it is made anew
    best, _ = select_checkpoint(folder, "spl")
    (chosen,) = [
        one for one in earlier_folders(folder).values() if read_info(one).frames == read_info(best).frames
    ]
    assert (best / HEADS).read_bytes() == (chosen / HEADS).read_bytes()
    assert read_heads(read_info(best), best)


def test_curves_show_every_seed_and_need_no_pytorch(trained, tmp_path, capsys):
    for seed in (0, 1):
        recipe = replace(WATCHED, seed=seed, corruptions=("speckle_noise:3",))
        if seed:
            train_in_rooms(tmp_path / "many" / f"seed-{seed}", recipe).run()
        else:
            shutil.copytree(trained, tmp_path / "many" / "seed-0")
    page = tmp_path / "page.html"
    told = run_json(capsys, "checkpoint", "curves", tmp_path / "many", trained, "--out", page)
    assert [(one["group"], one["seed"]) for one in told["runs"]] == [("many", 0), ("many", 1), ("watched", 0)]
    assert all(one["evaluations"] == 4 and one["frames"] == 256 for one in told["runs"])
    text = page.read_text()
    assert "http" not in text.replace("http://www.w3.org", "") and text.count("<svg") >= 8
    for words in ("Success in held-out houses against million frames", "minutes of a core", "imitation loss"):
        assert words.lower() in text.lower()
    run = read_training(trained)
    best = read_info(trained / BEST)
    assert run.best["frames"] == best.frames and run.best["mean"] == best.curve[-1].scores["success"].mean
    assert main(["checkpoint", "curves", str(tmp_path / "nowhere")]) == 2
    assert "navarena train" in capsys.readouterr().err


@pytest.mark.slow
def test_seeds_are_trained_side_by_side_and_a_failing_one_leaves_the_others(tmp_path, capsys):
    """A damaged checkpoint stops its seed alone; afterwards the same command trains what is missing."""
    tiny = ["--slots=8", "--steps=4", "--scenes=1", "--episodes=2", "--log-updates=1", "--split=mini"]
    tiny += ["--evaluation.updates=0", "--quiet"]
    tiny += ["--frames", "64"]
    command = ["train", "pointnav-smoke", *tiny, "--seeds", "2", "--seed", "5", "--out", str(tmp_path)]
    (tmp_path / "seed-6").mkdir()
    (tmp_path / "seed-6" / RESUME).write_bytes(b"PK")
    assert main([*command, "--json"]) == 2
    told, said = capsys.readouterr()
    assert "1 of 2 trainings failed, the same command goes on with them; seed 6: " in said
    assert f"{tmp_path / 'seed-6' / RESUME} is damaged" in said
    document = json.loads(told)
    assert [one["seed"] for one in document["runs"]] == [5] and document["runs"][0]["resumed"] == 0
    assert [(one["seed"], one["exit_code"]) for one in document["failed"]] == [(6, 2)]
    (tmp_path / "seed-6" / RESUME).unlink()
    told = run_json(capsys, *command)
    assert [(one["seed"], one["resumed"]) for one in told["runs"]] == [(5, 64), (6, 0)]
    assert told["failed"] == [] and (tmp_path / "curves.html").exists()
    assert read_info(tmp_path / "seed-6").recipe["steps"] == 4
    run_json(capsys, "train", "pointnav-smoke", *tiny, "--seed", "6", "--out", tmp_path / "alone")
    bytes_of = {name: (tmp_path / name / MODEL).read_bytes() for name in ("seed-5", "seed-6", "alone")}
    assert bytes_of["seed-6"] == bytes_of["alone"] != bytes_of["seed-5"]


def test_settings_have_flags_of_their_own():
    given = ["smoke", "--method.epochs=2", "--image-size=36,48", "--frames=64", "--out", "x=y", "--slot=3"]
    assert spell_settings(given) == [
        *("smoke", "--set", "method.epochs=2", "--set", "image_size=36,48", "--frames=64", "--out", "x=y"),
        "--slot=3",
    ]


def test_unknown_settings_name_the_nearest(capsys):
    assert main(["train", "pointnav-smoke", "--method.epoch=2"]) == 2
    assert "epochs" in capsys.readouterr().err
    assert main(["train", "pointnav-smoke", "--treads=2"]) == 2
    assert "--threads" in capsys.readouterr().err


def test_health_is_told_in_words():
    well = {"ratio_error": 0.0, "kl": 0.02, "explained_variance": 0.3, "entropy": 0.9}
    assert describe_health(well) == [] and describe_health({}) == []
    for change, words in (
        ({"ratio_error": 0.02}, "ratio 0.02"),
        ({"kl": 0.3}, "KL 0.3"),
        ({"explained_variance": -2.0}, "variance -2"),
        ({"entropy": 1e-5}, "tries nothing"),
        ({"image_effect": 0.0}, "encoder has died"),
    ):
        (told,) = describe_health(well | change)
        assert words in told


def test_tensorboard_gets_every_number(tmp_path, monkeypatch):
    written = []

    class Writer:
        def __init__(self, folder):
            written.append(Path(folder).name)

        def add_scalar(self, name, value, frames):
            written.append((name, value, frames))

        def close(self):
            written.append("closed")

    fake = ModuleType("torch.utils.tensorboard")
    fake.SummaryWriter = Writer
    monkeypatch.setitem(sys.modules, "tensorboard", ModuleType("tensorboard"))
    monkeypatch.setitem(sys.modules, "torch.utils.tensorboard", fake)
    tiny = ["--slots=8", "--steps=4", "--scenes=1", "--episodes=2", "--log_updates=1", "--split=mini"]
    command = ["train", "pointnav-smoke", *tiny, "--evaluation.updates=0", "--frames", "32", "--tensorboard"]
    assert main([*command, "--out", str(tmp_path), "--quiet"]) == 0
    assert written[0] == "tensorboard" and written[-1] == "closed"
    assert ("training/updates", 1, 32) in written and "training/imitation_loss" in {one[0] for one in written}


def see(name, shape):
    return (InputSpec(name, shape, "float16"),)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"actions": ("stop", "jump")}, r"the actions stop, jump of .* got stop, move_forward"),
        ({"inputs": see("depht", (36, 48, 1))}, r"observations depht of .* got others .*depth"),
        ({"inputs": see("depth", (960, 1280, 1))}, r"depth of \(960, 1280, 1\) .* 640 x 480"),
        ({"inputs": see("depth", (36, 48, 3))}, r"\(36, 48, 3\).* got depth of \(36, 48, 1\)"),
        ({"vocabulary": ("chair", "bed")}, r"2 categories \(bed, chair more\) of .* got 0 categories of"),
    ],
)  # fmt: skip
def test_a_mismatch_names_both_sides(trained, tmp_path, change, words):
    info = replace(read_info(trained), **change)
    with pytest.raises(InputError, match=words) as refused:
        require_fitting(info, get_body_task("pointnav-v1"), trained)
    assert f"of {trained}, trained on pointnav-v1" in str(refused.value)


def test_protocols_of_another_kind_are_refused_by_name(trained, tmp_path):
    with pytest.raises(
        InputError, match=r"navigation graphs on r2r-v1, .*, trained on pointnav-v1.*; choose of"
    ):
        find_agent(f"checkpoint:{trained}", get_task("r2r-v1"))
    recipe = replace(RECIPES.get("pointnav-smoke"), protocol="multion-1on-v1")
    with pytest.raises(InputError, match=r"256 x 256 pixels of multion-1on-v1.*--set image_size=36,36"):
        recipe.begin(tmp_path, Machine())


def test_categories_in_another_order_are_refused(trained):
    task = get_body_task("objectnav-hm3d2022-v1")
    words = find_vocabulary(task)
    info = replace(read_info(trained), actions=tuple(task.actions), inputs=(), vocabulary=words)
    require_fitting(info, task, trained)
    with pytest.raises(InputError, match=r"categories in the order of .* got another order of objectnav"):
        require_fitting(replace(info, vocabulary=words[::-1]), task, trained)


@pytest.mark.skipif(shutil.which("git") is None, reason="needs git")
def test_the_commit_is_that_of_the_tree_that_runs(tmp_path):
    """A commit where there is one, marked where files differ from it; nothing in an installed package."""
    package = tmp_path / "src" / "navarena"
    package.mkdir(parents=True)
    (package / "__init__.py").write_text("")
    assert find_commit(package) == ""
    git = ["git", "-C", str(tmp_path), "-c", "user.name=n", "-c", "user.email=e@example.org"]
    for command in (["init", "-q"], ["add", "."], ["commit", "-q", "-m", "Begin"]):
        subprocess.run([*git, *command], check=True)
    said = subprocess.run([*git, "rev-parse", "HEAD"], check=True, capture_output=True, text=True)
    head = said.stdout.strip()
    assert find_commit(package) == head
    (package / "__init__.py").write_text("changed = True")
    assert find_commit(package) == head + "+"
    assert PACKAGE.name == "navarena" and (PACKAGE / "learning").is_dir()
