"""Training in one drawn room: it learns, goes on bit for bit, and its checkpoint plays alike in any batch."""

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from navarena.agents.agent import Boundary, Start  # noqa: E402
from navarena.agents.loading import declare_agent, load_agent  # noqa: E402
from navarena.cli.main import main  # noqa: E402
from navarena.cli.training.train import change_setting  # noqa: E402
from navarena.core.errors import (  # noqa: E402
    CheckFailedError,
    FileError,
    InputError,
    StorageError,
    UnknownNameError,
)
from navarena.episodes.episode import Episode  # noqa: E402
from navarena.episodes.goals import PointGoal  # noqa: E402
from navarena.learning.auxiliaries.settings import INVERSE_DYNAMICS, ROTATION  # noqa: E402
from navarena.learning.checkpoints.files import INFO, MODEL, RESUME  # noqa: E402
from navarena.learning.checkpoints.policies import load_policy  # noqa: E402
from navarena.learning.checkpoints.selection import TrainingEvaluationSettings  # noqa: E402
from navarena.learning.distributed import Machine  # noqa: E402
from navarena.learning.recipes.catalog import RECIPES  # noqa: E402
from navarena.learning.recipes.recipe import Recipe  # noqa: E402
from navarena.learning.rollouts.teaching import TeacherMix  # noqa: E402
from navarena.learning.settings import (  # noqa: E402
    HABITAT_DDPPO,
    ImitationSettings,
    OptimiserSettings,
    Schedule,
    constant,
)
from navarena.learning.trainings.log import LOG  # noqa: E402
from navarena.learning.trainings.setup import make_training_task  # noqa: E402
from navarena.learning.trainings.training import Training  # noqa: E402
from navarena.simulation.world import World, WorldCache  # noqa: E402
from navarena.tasks.catalog import get_body_task  # noqa: E402
from worlds import draw_navmesh, draw_scene  # noqa: E402

from .made import SMALL  # noqa: E402

pytestmark = pytest.mark.learn

ROOM = ["......", "......", "......", "......"]
DAGGER = ImitationSettings(
    OptimiserSettings(constant(3e-3), max_gradient=1.0), teacher_share=Schedule(1.0, 0.3), veto=0.9,
    inflection_weight=2.0,
)  # fmt: skip
TINY = Recipe(
    "a room",
    "pointnav-v1+max_steps=40",
    ("depth", "pointgoal_with_gps_compass"),
    DAGGER,
    image_size=(36, 48),
    policy=SMALL,
    slots=8,
    steps=8,
    frames=4 * 64,
    scenes=1,
    save_updates=2,
    log_updates=1,
    evaluation=TrainingEvaluationSettings(updates=0),
)
PPO = replace(TINY, method=replace(HABITAT_DDPPO, bootstrap_truncated=True))


def make_worlds(task, rooms=("room",)):
    worlds = WorldCache(task.embodiment)
    for room in rooms:
        worlds.add(World.of(draw_scene(ROOM, scene_id=room), draw_navmesh(ROOM)))
    return worlds


def make_episodes(count=40):
    generator = np.random.default_rng(7)
    episodes = []
    for number in range(count):
        x, z, gx, gz = generator.uniform((0.5, 0.5, 0.5, 0.5), (5.5, 3.5, 5.5, 3.5)).tolist()
        goal = PointGoal((gx, 0.0, gz))
        yaw = float(generator.uniform(-3, 3))
        episodes.append(Episode(str(number), "room", (x, 0.0, z), yaw, goal, None))
    return episodes


def make_training(folder: Path, recipe=TINY, rooms=("room",), **more):
    worlds = make_worlds(make_training_task(recipe), rooms)
    episodes = [replace(one, scene_id=rooms[k % len(rooms)]) for k, one in enumerate(make_episodes())]
    return Training(recipe, folder, Machine(**more), episodes, worlds)


def same(a, b):
    return all(torch.equal(value, b[name]) for name, value in a.items())


def stop_after(count):
    rows = []

    def report(row):
        rows.append(row)
        if len(rows) == count:
            raise KeyboardInterrupt

    return report


@pytest.mark.parametrize("recipe", [TINY, PPO], ids=["dagger", "ppo"])
def test_resumed_training_goes_on_bit_for_bit(tmp_path, recipe):
    whole = make_training(tmp_path / "whole", recipe)
    rows = []
    whole.run(rows.append)
    stopped = make_training(tmp_path / "stopped", recipe)
    with pytest.raises(KeyboardInterrupt):
        stopped.run(stop_after(3))  # the checkpoint is of the second update
    again = make_training(tmp_path / "stopped", recipe)
    assert again.frames == 2 * 64
    later = []
    again.run(later.append)
    chance = {"frames_per_second", "eta_seconds", "cpu_seconds"} | {
        name for name in rows[0] if name.startswith("share_")
    }
    for row, expected in zip(later, rows[2:], strict=True):
        assert {k: v for k, v in row.items() if k not in chance} == {
            k: v for k, v in expected.items() if k not in chance
        }
    assert same(whole._policy.state_dict(), again._policy.state_dict())
    assert (tmp_path / "whole" / MODEL).read_bytes() == (tmp_path / "stopped" / MODEL).read_bytes()


def test_images_are_written_once_between_renderer_and_learner(tmp_path):
    """Colours are drawn where they are learned from; depth is converted there, as it is stored as float16."""
    recipe = replace(TINY, sensors=("rgb", "depth", "pointgoal_with_gps_compass"))
    training = make_training(tmp_path, recipe)
    rollout, batch = training._rollout, training._batch
    places = {name: value.data_ptr() for name, value in rollout.observations.items()}
    written = []
    write = rollout._write

    def count(one, observed, step):
        place = rollout._seen[one.name][step]
        written.append((one.name, observed.data_ptr() == place.data_ptr()))
        write(one, observed, step)

    rollout._write = count
    training.advance()
    assert {name for name, is_there in written if is_there} == {"rgb", "pointgoal_with_gps_compass"}
    assert [name for name, is_there in written if not is_there] == ["depth"] * (recipe.steps + 1)
    part = rollout.fragment()
    assert {name: value.data_ptr() for name, value in part.observations.items()} == places
    copied = make_training(tmp_path / "copied", recipe)
    copied._rollout.rows = lambda step, specs: {}
    copied.advance()
    assert same(rollout.observations, copied._rollout.observations), "no later image is drawn over one"
    assert rollout.observations["rgb"].flatten(2).float().std(2).mean() > 10
    shown = batch.observations["rgb"]
    assert np.shares_memory(shown, rollout._seen["rgb"][recipe.steps].numpy())
    torch.testing.assert_close(torch.from_numpy(shown), rollout._seen["rgb"][recipe.steps])
    assert not torch.equal(rollout.observations["rgb"][-1], rollout._seen["rgb"][recipe.steps])


def test_devices_are_there_or_named(tmp_path, capsys):
    assert not torch.cuda.is_available() or pytest.skip("there is one")
    for device, words in (("cuda", "no CUDA device"), ("gpu", "cpu, cuda or cuda:1")):
        arguments = ["train", "pointnav-smoke", "--device", device, "--out", str(tmp_path / "run")]
        assert main(arguments) == 2
        assert words in capsys.readouterr().err


def test_log_and_files(tmp_path):
    training = make_training(tmp_path, PPO)
    training.run()
    rows = [json.loads(line) for line in (tmp_path / LOG).read_text().splitlines()]
    assert [row["frames"] for row in rows] == [64, 128, 192, 256]
    expected = {
        *("success", "spl", "reward", "entropy", "kl", "clip_fraction", "value_loss", "policy_loss", "rate"),
        *("gradient_norm", "ratio_error", "episodes", "dropped", "frames_per_second", "eta_seconds"),
        *("share_simulation", "share_acting", "share_learning", "share_reset"),
    }
    assert expected - {"success", "spl"} <= set(rows[0]) and expected <= set().union(*rows)
    assert all(row["ratio_error"] == 0.0 for row in rows), "acting and learning see the same numbers"
    assert torch.load(tmp_path / RESUME, weights_only=True)["frames"] == 256
    info = json.loads((tmp_path / INFO).read_text())
    assert info["protocol"] == "pointnav-v1+custom+max_steps=40" and info["frames"] == 256


def test_a_disk_that_is_full_for_the_log_leaves_the_checkpoint(tmp_path):
    """The log is a file that takes nothing more; what was saved before goes on."""
    make_training(tmp_path).run(lambda row: None)
    longer = make_training(tmp_path / "longer", replace(TINY, save_updates=1))
    longer.advance()
    longer._save()
    (tmp_path / "longer" / LOG).unlink()
    (tmp_path / "longer" / LOG).symlink_to("/dev/full")
    with pytest.raises(StorageError, match=r"log.jsonl.*free some space"):
        longer.run()
    (tmp_path / "longer" / LOG).unlink()
    again = make_training(tmp_path / "longer", replace(TINY, save_updates=1))
    assert again.frames == 64 and again.run().frames == TINY.frames
    assert (tmp_path / "longer" / MODEL).read_bytes() == (tmp_path / MODEL).read_bytes()


def test_imitation_learns_the_room(tmp_path):
    method = replace(DAGGER, epochs=8, teacher_share=constant(0.5))
    recipe = replace(TINY, method=method, slots=16, steps=16, frames=10 * 256, log_updates=2)
    training = make_training(tmp_path, recipe)
    rows = []
    training.run(rows.append)
    assert rows[-1]["imitation_loss"] < 0.75 * rows[0]["imitation_loss"]
    assert rows[-1]["agreement"] > 0.55


def test_seed_decides_everything(tmp_path):
    models = []
    for name, seed in (("a", 1), ("b", 1), ("c", 2)):
        make_training(tmp_path / name, replace(TINY, seed=seed, frames=64)).run()
        models.append((tmp_path / name / MODEL).read_bytes())
    assert models[0] == models[1] != models[2]


def test_another_recipe_does_not_go_on(tmp_path):
    make_training(tmp_path, replace(TINY, frames=64)).run()
    with pytest.raises(InputError, match=r"expected method.veto=0.9 .* got 0.5"):
        make_training(tmp_path, replace(TINY, frames=64, method=replace(DAGGER, veto=0.5)))
    told_otherwise = replace(TINY, frames=64, description="the same", core_hours=1.0)
    assert make_training(tmp_path, told_otherwise).frames == 64, "what only describes it may differ"


def test_rewards_that_are_no_numbers_stop_the_training(tmp_path):
    training = make_training(tmp_path)
    training.advance()
    judge = training._batch.task.judge

    def break_it(*arguments):
        result = judge(*arguments)
        result.reward[3] = np.nan
        return result

    training._batch.task.judge = break_it
    with pytest.raises(CheckFailedError, match=r"got nan in slot 3, episode \d+ of room"):
        training.advance()


@pytest.mark.parametrize("name", ["corruptions", "mixture"])
def test_corruptions_without_effect_are_refused(tmp_path, name):
    recipe = replace(TINY, **{name: ("depth_holes:3", "goal_image_noise:3")})
    with pytest.raises(InputError, match="goals given by image.* for the corruption 'goal_image_noise:3'"):
        make_training(tmp_path, recipe)
    graphs = RECIPES.get("hamt-small")
    with pytest.raises(InputError, match="no mixture on navigation graphs, got instruction_word_drop"):
        Training(replace(graphs, split="mini", slots=2, mixture=("instruction_word_drop:3",)), tmp_path)


def test_goals_that_cannot_be_reached_are_dropped(tmp_path):
    task = make_training_task(TINY)
    worlds, rows = WorldCache(task.embodiment), ["...#...", "...#...", "...#..."]
    worlds.add(World.of(draw_scene(rows, scene_id="room"), draw_navmesh(rows)))
    starts, near, far = (0.5, 0.0, 0.5), PointGoal((2.5, 0.0, 2.5)), PointGoal((5.5, 0.0, 1.5))
    mixed = [Episode(str(k), "room", starts, 0.0, far if k % 2 else near, None) for k in range(10)]
    training = Training(TINY, tmp_path / "mixed", Machine(), mixed, worlds)
    training.advance()
    running = {training._batch.episode(slot).goal for slot in range(TINY.slots)}
    assert running == {near} and training._collector.dropped > 0
    with pytest.raises(CheckFailedError, match="100 others in a row, the last 1 in room"):
        Training(TINY, tmp_path / "far", Machine(), mixed[1:2], worlds).advance()


def test_weights_that_are_no_numbers_stop_the_training(tmp_path):
    training = make_training(tmp_path, PPO)
    with torch.no_grad():
        training._policy.critic.bias.fill_(float("nan"))
    with pytest.raises(CheckFailedError, match=r"update 1, .*values of slot 0, which runs \d+ in room"):
        training.advance()


def spoil_observations(rollout):
    rollout.observations["pointgoal_with_gps_compass"][2, 5] = float("inf")


def spoil_state(rollout):
    next(iter(rollout.state.values()))[4] = float("nan")
    rollout.mask[0] = True  # no episode begins here


@pytest.mark.parametrize(
    ("spoil", "message"),
    [(spoil_observations, "pointgoal_with_gps_compass of slot 5"), (spoil_state, "new values of slot 4")],
)
def test_numbers_that_are_not_finite_in_an_update_name_their_slot(tmp_path, spoil, message):
    training = make_training(tmp_path, PPO)
    collect = training._collector.collect

    def collect_spoilt(*arguments):
        rollout = collect(*arguments)
        spoil(rollout)
        return rollout

    training._collector.collect = collect_spoilt
    with pytest.raises(CheckFailedError, match=rf"first in {message}, which runs \d+ in room; there is no"):
        training.advance()
    training._save()
    with pytest.raises(CheckFailedError, match=r"the checkpoint in .* is good, lower"):
        training.advance()


def test_features_of_views_are_refused_where_there_are_no_views(tmp_path):
    with pytest.raises(
        InputError, match="expected features=classes on navigation graphs alone, got pointnav"
    ):
        make_training(tmp_path, replace(TINY, features="classes"))


def test_a_checkpoint_with_weights_that_are_not_finite_is_refused(tmp_path):
    training = make_training(tmp_path)
    training.advance()
    with torch.no_grad():
        training._policy.head.linear.weight[1, 2] = float("nan")
    training._save()
    with pytest.raises(FileError, match=r"expected finite numbers in .*safetensors, got others in head"):
        load_policy(tmp_path)


def test_teacher_mixes_by_hand():
    own, labels = np.array([0, 0, 1, 1]), np.array([0, 1, 1, 2])
    led = TeacherMix(replace(DAGGER, teacher_share=constant(1.0)), 0, 4, np.random.default_rng(0))
    led.begin(np.ones(4, bool), 0.0)
    assert led.choose(own, labels, 0.0).tolist() == labels.tolist(), "cloning"
    free = TeacherMix(replace(DAGGER, teacher_share=constant(0.0), veto=0.0), 0, 4, np.random.default_rng(0))
    free.begin(np.ones(4, bool), 0.0)
    assert free.choose(own, labels, 0.0).tolist() == own.tolist()
    strict = TeacherMix(
        replace(DAGGER, teacher_share=constant(0.0), veto=1.0), 0, 4, np.random.default_rng(0)
    )
    strict.begin(np.ones(4, bool), 0.0)
    assert strict.choose(own, labels, 0.0).tolist() == [0, 1, 1, 1], "only a wrong declaration is overruled"
    halves = ImitationSettings(teacher_share=Schedule(1.0, 0.0), mixing="step")
    mix = TeacherMix(halves, 9, 10_000, np.random.default_rng(0))
    taken = mix.choose(np.zeros(10_000, np.int64), np.ones(10_000, np.int64), 0.75)
    assert taken.mean() == pytest.approx(0.25, abs=0.02)


@pytest.fixture(scope="module")
def trained(tmp_path_factory):
    folder = tmp_path_factory.mktemp("trained")
    make_training(folder, replace(TINY, frames=64)).run()
    return folder


@pytest.mark.parametrize("options", ["", "?sample=true", "?temperature=0.5"])
def test_actions_are_equal_in_any_batch(trained, options):
    """Each episode shows what its number says; slots, order and neighbours must not matter."""
    task = get_body_task("pointnav-v1+max_steps=40")
    episodes, steps = 20, 3
    generator = np.random.default_rng(0)
    depth = generator.random((steps, episodes, 480, 640, 1), np.float32)
    goals = generator.normal(size=(steps, episodes, 2)).astype(np.float32) + 2

    def play(slots, order):
        agent = load_agent(f"checkpoint:{trained}{options}", task)
        actions = np.full((episodes, steps), -1)
        for first in range(0, episodes, slots):
            part = order[first : first + slots]
            agent.reset([Start(slot, str(one), "room", Boundary.SCENE) for slot, one in enumerate(part)])
            for step in range(steps):
                seen = {"depth": depth[step, part], "pointgoal_with_gps_compass": goals[step, part]}
                actions[part, step] = agent.act(seen, np.ones(len(part), bool))
        return actions

    expected = play(32, np.arange(20))
    assert len(np.unique(expected)) > 1 or not options
    for slots, order in ((1, np.arange(20)), (3, np.arange(20)[::-1]), (32, generator.permutation(20))):
        np.testing.assert_array_equal(play(slots, order), expected)


def test_probabilities_that_are_not_finite_are_no_action(trained):
    """The first action, STOP, would be what is left of them."""
    agent = load_agent(f"checkpoint:{trained}?sample=true", get_body_task("pointnav-v1+max_steps=40"))
    agent.reset([Start(0, "0", "room", Boundary.SCENE)])
    seen = {
        "depth": np.zeros((1, 480, 640, 1), np.float32),
        "pointgoal_with_gps_compass": np.ones((1, 2), np.float32),
    }
    agent.act(seen, np.ones(1, bool))
    seen["pointgoal_with_gps_compass"][0, 0] = np.nan
    with pytest.raises(CheckFailedError, match="among what it observed: pointgoal_with_gps_compass"):
        agent.act(seen, np.ones(1, bool))


@pytest.mark.parametrize("more", [(), ("look_up", "look_down")], ids=["order", "superset"])
def test_checkpoints_act_by_the_names_of_actions(trained, more):
    generator, slots, steps = np.random.default_rng(1), 16, 4
    depth = generator.random((steps, slots, 480, 640, 1), np.float32)
    goals = generator.normal(size=(steps, slots, 2)).astype(np.float32) + 2

    def play(actions):
        task = get_body_task("pointnav-v1+max_steps=40")
        task.actions = actions
        agent = load_agent(f"checkpoint:{trained}?sample=true", task)
        agent.reset([Start(slot, str(slot), "room", Boundary.SCENE) for slot in range(slots)])
        taken = [
            agent.act({"depth": depth[step], "pointgoal_with_gps_compass": goals[step]}, np.ones(slots, bool))
            for step in range(steps)
        ]
        return [[actions[number] for number in step.tolist()] for step in taken]

    own = ("stop", "move_forward", "turn_left", "turn_right")
    expected = play(own)
    assert len({name for step in expected for name in step}) > 2
    assert play((*more, "turn_right", "move_forward", "stop", "turn_left")) == expected


def test_checkpoints_that_do_not_fit_are_refused(trained, tmp_path):
    declared = declare_agent(f"checkpoint:{trained}")
    assert declared.sensors == TINY.sensors and declared.resizes == ("depth=48x36",)
    with pytest.raises(
        InputError, match=r"actions stop, move_forward.* trained on pointnav-v1\+custom\+max_steps=40"
    ):
        load_agent(f"checkpoint:{trained}", get_body_task("multion-1on-v1"))
    with pytest.raises(
        InputError, match=r"depth in shares of 5 m of .* got depth in metres of robustnav-point"
    ):
        load_agent(f"checkpoint:{trained}", get_body_task("robustnav-pointnav-v1"))
    goat = get_body_task("pointnav-v1")
    goat.actions, goat.declaration = (*goat.actions, "subtask_stop"), "subtask_stop"
    with pytest.raises(InputError, match="got stop, move_forward, turn_left, turn_right, subtask_stop of"):
        load_agent(f"checkpoint:{trained}", goat)
    with pytest.raises(FileError, match="does not exist"):
        load_agent(f"checkpoint:{tmp_path / 'nowhere'}", get_body_task("pointnav-v1"))
    with pytest.raises(InputError, match="Did you mean 'sample'"):
        load_agent(f"checkpoint:{trained}?smaple=true", get_body_task("pointnav-v1"))
    for name in (INFO, MODEL, RESUME):
        (tmp_path / name).write_bytes((trained / name).read_bytes())
    (tmp_path / MODEL).write_bytes(b"x" + (trained / MODEL).read_bytes()[1:])
    with pytest.raises(FileError, match="does not belong to the checkpoint.json"):
        load_policy(tmp_path)
    (tmp_path / INFO).write_text(json.dumps({"format": "navarena-checkpoint-v9"}))
    with pytest.raises(FileError, match=r"expected a policy \(navarena-checkpoint-v1\) .* got '.*-v9'"):
        load_policy(tmp_path)
    (tmp_path / INFO).write_text(json.dumps({"format": "navarena-checkpoint-v1", "version": "99.0"}))
    with pytest.raises(FileError, match=r"navarena 99\.0 wrote it, this is .*: install that one, or"):
        load_policy(tmp_path)
    (tmp_path / RESUME).write_bytes(b"nothing")
    with pytest.raises(FileError, match="is damaged"):
        make_training(tmp_path)


def test_settings_are_changed_by_name():
    changed = change_setting(change_setting(TINY, "method.teacher_share.last=0.5"), "sensors=depth,gps")
    assert changed.method.teacher_share.last == 0.5 and changed.sensors == ("depth", "gps")
    assert change_setting(TINY, "image_size=72,96").image_size == (72, 96)
    losses = change_setting(PPO, "method.auxiliaries=rotation,inverse_dynamics").method.auxiliaries
    assert losses == (ROTATION, INVERSE_DYNAMICS)
    assert change_setting(PPO, "method.auxiliaries=").method.auxiliaries == ()
    predicting = change_setting(PPO, "method.auxiliaries=goal_distance,recognition,segmentation")
    assert predicting.all_targets == ("goal_distance", "semantic_classes")
    seeing = replace(
        predicting, sensors=(*PPO.sensors, "semantic_classes"), targets=("progress", "goal_distance")
    )
    assert seeing.all_targets == ("progress", "goal_distance")
    for text, error, words in (
        ("slots", InputError, "NAME=VALUE"),
        ("slot=3", UnknownNameError, "slots"),
        ("slots=many", InputError, "'many'"),
        ("method=1", InputError, "method.veto"),
        ("slots.more=1", InputError, "within slots"),
        ("policy.memory=gsu", UnknownNameError, "value of memory 'gsu'. Did you mean 'gru'"),
        ("method.auxiliaries=rotations", UnknownNameError, "Did you mean 'rotation'"),
    ):
        with pytest.raises(error, match=words):
            change_setting(TINY, text)


def test_command_names_what_is_wrong(tmp_path, capsys):
    for arguments, words in (
        (["pointnav-smal"], "pointnav-small"),
        (["pointnav-smoke", "--set", "image_size=40,64"], "expected an image_size"),
        (["pointnav-smoke", "--protocol", "pointnav-v2"], "pointnav-v1"),
    ):
        assert main(["train", *arguments, "--out", str(tmp_path / "run")]) == 2
        assert words in capsys.readouterr().err


def test_command_trains_goes_on_and_evaluates(tmp_path, capsys):
    """In houses of navarena; the document has the keys that docs/json-keys.md names."""
    tiny = ["slots=8", "steps=4", "scenes=1", "episodes=2", "log_updates=1", "split=mini"]
    tiny.append("evaluation.episodes=1")
    arguments = [word for one in tiny for word in ("--set", one)]
    arguments = ["train", "pointnav-smoke", *arguments, "--frames", "64", "--out", str(tmp_path), "--json"]
    documents = []
    for _ in range(2):
        assert main(arguments) == 0
        documents.append(json.loads(capsys.readouterr().out))
    assert [one["resumed"] for one in documents] == [0, 64]
    assert set(documents[0]) == {
        *("recipe", "protocol", "out", "frames", "updates", "resumed", "failed", "log", "seconds"),
        *("curves", "warnings", "best", "runs"),
    }
    assert documents[0]["log"]["frames"] == documents[1]["frames"] == 64
    rows = []
    for size in ("1", "2"):
        out = tmp_path / f"run-{size}"
        played = ["--agent", f"checkpoint:{tmp_path}?sample=true"]
        command = ["evaluate", "pointnav-v1+max_steps=20", "--split", "mini", "--episodes", "2", *played]
        assert main([*command, "--batch-size", size, "--out", str(out), "--json", "--quiet"]) == 0
        rows.append(json.loads(capsys.readouterr().out)["metrics"])
    assert rows[0] == rows[1]


def test_a_policy_whose_encoder_died_is_told_from_one_that_sees(tmp_path):
    training = make_training(tmp_path, replace(TINY, frames=64, log_updates=1))
    rows = []
    training.run(rows.append)
    policy, rollout = training._policy, training._rollout
    seen = {name: value[0] for name, value in rollout.observations.items()}
    assert rows[-1]["image_effect"] > 0.01 and policy.measure_image_effect(seen) > 0.01
    with torch.no_grad():
        policy.encoder.image_encoder.layers[4].bias.fill_(-1e3)
    assert policy.measure_image_effect(seen) == 0.0
    alone = {name: value[:1] for name, value in seen.items()}
    assert policy.measure_image_effect(alone) is None
    training.close()
