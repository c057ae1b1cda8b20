"""HAMT as a policy: all steps at once as one after the other, memory of tours, training, agent, bad input."""

import hashlib
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from navarena.core.errors import InputError  # noqa: E402
from navarena.evaluation import EvaluationSettings, evaluate  # noqa: E402
from navarena.evaluation.records.record import read_record  # noqa: E402
from navarena.learning.checkpoints.exporting import export_checkpoint  # noqa: E402
from navarena.learning.checkpoints.policies import load_policy  # noqa: E402
from navarena.learning.graph_policy import GraphPolicy  # noqa: E402
from navarena.learning.inputs import TOKENS  # noqa: E402
from navarena.learning.losses import imitation_loss  # noqa: E402
from navarena.learning.networks.hamt import ObservedSteps  # noqa: E402
from navarena.learning.networks.hamt_settings import SMALL, TOUR_ROWS  # noqa: E402
from navarena.learning.recipes.catalog import RECIPES  # noqa: E402
from navarena.learning.rollouts.collection import Collector  # noqa: E402
from navarena.learning.settings import PolicySettings  # noqa: E402
from navarena.learning.storage import NO_LABEL  # noqa: E402
from navarena.learning.tensors import take_rows  # noqa: E402
from navarena.learning.trainings.setup import make_training_task  # noqa: E402
from navarena.learning.trainings.training import Training  # noqa: E402
from navarena.learning.trainings.updates import descend  # noqa: E402
from navarena.scenes.graphs.panorama import panorama_angles  # noqa: E402
from navarena.tasks.task import StepResult  # noqa: E402

from .small_hamt import INPUTS, TINY  # noqa: E402

pytestmark = pytest.mark.learn


def make(**changes):
    with torch.random.fork_rng():
        torch.manual_seed(0)
        policy = GraphPolicy(INPUTS, 5, replace(TINY, **changes))
        for one in policy.parameters():
            torch.nn.init.normal_(one, std=0.3)
        return policy


def draw(steps, seed=0, slots=2):
    """T steps of two slots: in slot 0 an episode ends before step 3, in slot 1 an oracle leads in 3 and 4."""
    generator = np.random.default_rng(seed)
    seen = {
        "instruction_tokens": generator.integers(1, 30, (1, slots, 10)).repeat(steps, 0).astype(np.int32),
        "view_features": generator.normal(size=(steps, slots, 36, 5)).astype(np.float32),
        "view_index": generator.integers(0, 36, (steps, slots)),
        "candidate_views": generator.integers(0, 36, (steps, slots, 4)),
        "candidate_angles": generator.normal(size=(steps, slots, 4, 4)).astype(np.float32),
        "phase": np.zeros((steps, slots), np.int64),
        "tour_position": np.zeros((steps, slots), np.int64),
    }
    seen["candidate_views"][..., -1] = -1
    seen["phase"][3:5, 1], seen["tour_position"][5:, 1] = 1, 1
    seen["view_index"][4:5, 1] = seen["candidate_views"][3:4, 1, 2]
    seen["instruction_tokens"][3:5, 1] = 0
    actions = torch.from_numpy(generator.integers(0, 4, (steps, slots)))
    mask = torch.ones(steps, slots, dtype=torch.bool)
    mask[0], mask[3:4, 0] = False, False
    return {name: torch.from_numpy(value) for name, value in seen.items()}, actions, mask


@pytest.mark.parametrize("row", [{}, *TOUR_ROWS.values()])
def test_rollouts_are_judged_as_they_were_acted(row):
    policy = make(**row).eval()
    seen, actions, mask = draw(8)
    state, values = policy.initial_state(2), []
    states = [state]
    for step in range(8):
        now = {name: value[step] for name, value in seen.items()}
        decision = policy.act(now, states[-1], mask[step])
        values.append(decision.values)
        states.append(policy.replace_actions(decision.state, actions[step]))
    for first in (0, 2, 4):
        own = {name: value[first:] for name, value in seen.items()}
        judged = policy.evaluate_sequence(own, actions[first:], states[first], mask[first:])
        agents = seen["phase"][first:] == 0
        torch.testing.assert_close(
            judged.values[agents], torch.stack(values)[first:][agents], atol=1e-4, rtol=1e-4
        )
        for name, value in judged.state.items():
            kept = states[-1]["is_there"][..., None] if name == "tokens" else True
            torch.testing.assert_close(value * kept, states[-1][name] * kept, atol=1e-5, rtol=1e-5)


@pytest.mark.parametrize("row", [{}, *TOUR_ROWS.values()])
def test_following_makes_the_state_of_acting(row):
    policy = make(**row).eval()
    seen, actions, mask = draw(8)
    state = policy.initial_state(2)
    for step in range(8):
        now = {name: value[step] for name, value in seen.items()}
        followed = policy.replace_actions(policy.follow(now, state, mask[step]), actions[step])
        state = policy.replace_actions(policy.act(now, state, mask[step]).state, actions[step])
        assert state.keys() == followed.keys()
        assert all(torch.equal(value, followed[name]) for name, value in state.items())


def test_candidates_that_no_step_has_change_nothing():
    policy, (seen, actions, mask) = make().eval(), draw(4)
    seen["candidate_views"][..., 2:] = -1
    own = mask.clone()
    narrow = policy.evaluate_sequence(seen, actions, policy.initial_state(2), own)
    seen["candidate_views"][0, 1, 3] = 7  # in one row alone, so that none of the columns is left out
    wide = policy.evaluate_sequence(seen, actions, policy.initial_state(2), own)
    one, two = narrow.distribution.log_probs[:, 0], wide.distribution.log_probs[:, 0]
    torch.testing.assert_close(one, two, atol=1e-5, rtol=1e-5)
    assert bool((one[:, 3:].exp() == 0).all()) and one.shape == (4, 5)


def test_one_episode_is_what_the_network_says_of_its_walk():
    policy = make().eval()
    seen, actions, mask = draw(3)
    judged = policy.evaluate_sequence(seen, actions, policy.initial_state(2), mask)
    views, places = seen["view_features"][:, 0], seen["candidate_views"][:, 0]
    near = torch.stack([view[place.clamp_min(0)] for view, place in zip(views, places, strict=True)])
    angles = np.stack([panorama_angles(int(view) % 12) for view in seen["view_index"][:, 0]])
    walk = ObservedSteps(
        views, torch.from_numpy(angles).float(), seen["view_index"][:, 0], near * (places >= 0)[..., None],
        seen["candidate_angles"][:, 0], places, actions[:, 0],
    )  # fmt: skip
    expected = policy.network.judge_steps(seen["instruction_tokens"][0, 0].long(), walk).log_softmax(-1)
    found = judged.distribution.log_probs[:, 0]
    torch.testing.assert_close(found[:, :4], expected[:, :4], atol=1e-5, rtol=1e-5)
    assert bool((found[:, 4].exp() == 0).all()), "nothing leads there"


def test_what_lasts_for_episodes_and_tours():
    seen, actions, mask = draw(8)
    changed = {**seen, "view_features": seen["view_features"].clone()}
    changed["view_features"][1] += 1
    for policy, is_kept in ((make().eval(), False), (make(tour=True).eval(), True)):
        own = mask.clone()
        own[5, 1] = is_kept  # an episode policy forgets where the oracle has arrived
        one, two = (
            policy.evaluate_sequence(what, actions, policy.initial_state(2), own).values
            for what in (seen, changed)
        )
        assert not torch.equal(one[2], two[2])
        assert torch.equal(one[3:, 0], two[3:, 0]), "another tour or episode begins in slot 0"
        assert torch.equal(one[5:, 1], two[5:, 1]) != is_kept


def test_steps_that_an_oracle_leads_throughout_teach_nothing():
    policy, (seen, actions, mask) = make(tour=True), draw(4)
    before = {name: value.clone() for name, value in policy.state_dict().items()}
    seen["phase"][:] = 1
    judged = policy.evaluate_sequence(seen, actions, policy.initial_state(2), mask)
    labels = torch.full((4, 2), NO_LABEL)
    loss = imitation_loss(judged.distribution.log_probs, labels, torch.ones(4, 2))
    assert descend(policy, torch.optim.Adam(policy.parameters()), loss, 1.0) == 0.0
    assert all(torch.equal(value, before[name]) for name, value in policy.state_dict().items())


def test_acting_has_no_dropout_and_learning_has():
    policy, (seen, actions, mask) = make(), draw(4)
    now, state = {name: value[0] for name, value in seen.items()}, policy.initial_state(2)
    one, two = (policy.act(now, state, mask[0]).values for _ in range(2))
    assert torch.equal(one, two) and policy.training
    one, two = (policy.evaluate_sequence(seen, actions, state, mask).values for _ in range(2))
    assert not torch.equal(one, two)


def test_weights_of_turns_by_episode():
    policy, (seen, _, mask) = make(**TOUR_ROWS["ph+th+phi+iw"]), draw(6)
    seen["candidate_angles"][:] = torch.tensor([0.0, 1.0, 0.0, 1.0])
    seen["candidate_angles"][1, 0, 1] = torch.tensor([1.0, 0.0, 0.0, 1.0])  # a turn of 90 degrees
    labels = torch.tensor([[1, 1], [2, 1], [0, 0], [1, -1], [1, -1], [0, 1]])
    found = policy.weigh_labels(seen, labels, mask)
    assert found[:, 0].tolist() == [1.0, 1.5, 1.5, 1.0, 1.0, 3.0]
    assert found[:, 1].tolist() == [1.0, 1.0, 3.0, 1.0, 1.0, 1.0]
    assert make().weigh_labels(seen, labels, mask).eq(1).all()


@pytest.mark.parametrize(("blank", "hidden"), [("instruction", TOKENS), ("vision", "view_features")])
def test_controls_do_not_see_what_is_blank(blank, hidden):
    seen, actions, mask = draw(4)
    changed = {**seen, hidden: torch.flip(seen[hidden], (2,))}
    for one, is_same in ((make(blank=(blank,)).eval(), True), (make().eval(), False)):
        before, after = (
            one.evaluate_sequence(given, actions, one.initial_state(2), mask).distribution.log_probs
            for given in (seen, changed)
        )
        assert torch.equal(before, after) == is_same and bool(before[..., :4].isfinite().all())


def test_parameters_are_counted():
    wide = tuple(replace(one, shape=(36, 128)) if one.name == "view_features" else one for one in INPUTS)
    policy = GraphPolicy(wide, 5, SMALL)
    assert sum(one.numel() for one in policy.network.parameters()) == 1_233_281
    assert sum(one.numel() for one in policy.critic.parameters()) == 128 * 512 + 512 + 512 + 1


def test_bad_input_is_refused(tmp_path):
    with pytest.raises(InputError, match="expected the inputs instruction_tokens"):
        GraphPolicy(INPUTS[:-1], 5, TINY)
    with pytest.raises(InputError, match="features=6 numbers, got 5"):
        GraphPolicy(INPUTS, 5, replace(TINY, features=6))
    with pytest.raises(InputError, match=r"remembers=tour with hamt\.tour"):
        PolicySettings(memory="hamt", hamt=replace(TINY, tour=True))
    policy, (seen, actions, mask) = make(words=12), draw(3)
    with pytest.raises(InputError, match="another vocabulary"):
        policy.evaluate_sequence(seen, actions, policy.initial_state(2), mask)
    with pytest.raises(InputError, match="expected no masked actions of memory=hamt, got stop"):
        make_training_task(replace(RECIPES.get("hamt-small"), masked=("stop",)))
    with pytest.raises(InputError, match="on navigation graphs and there alone"):
        Training(replace(RECIPES.get("hamt-small"), protocol="r2r-ce-v1"), tmp_path)


@pytest.mark.parametrize("name", ["hamt-small", "tour-hamt-iw-small"])
def test_training_goes_on_with_the_same_bits_and_is_evaluated(name, tmp_path):
    recipe = RECIPES.get(name)
    sizes = replace(recipe.policy.hamt, width=16, inner=16, heads=2, text_layers=1, cross_layers=1)
    recipe = replace(
        recipe, split="mini", slots=2, steps=8, frames=64, save_updates=2, log_updates=1,
        policy=replace(recipe.policy, hamt=sizes), method=replace(recipe.method, minibatches=1), scenes=1,
    )  # fmt: skip
    whole = Training(recipe, tmp_path / "whole")
    info = whole.run()
    assert info.features == "classes" and info.privileged_sensors == ("view_features",)
    part = Training(recipe, tmp_path / "part")
    for _ in range(2):
        part.advance()
    part._save()
    again = Training(recipe, tmp_path / "part")
    assert again.frames == 32
    again.run()
    weights = [(tmp_path / one / "model.safetensors").read_bytes() for one in ("whole", "part")]
    assert weights[0] == weights[1]
    agent, out = f"checkpoint:{tmp_path / 'whole'}", tmp_path / "run"
    settings = EvaluationSettings(
        recipe.protocol, agent, split="mini", episodes=4, workers=1, out=out, features="classes"
    )
    done = evaluate(settings)
    assert len(done.rows) == 4 and not any(row.failed for row in done.rows)
    assert read_record(out).model_sha256 == hashlib.sha256(weights[0]).hexdigest()
    with pytest.raises(InputError, match="choose them by --features"):
        evaluate(replace(settings, features=None, out=tmp_path / "other"))
    export_checkpoint(tmp_path / "whole", tmp_path / "small")
    (_, kept), (_, small) = load_policy(tmp_path / "whole"), load_policy(tmp_path / "small")
    for weight, value in small.state_dict().items():
        assert torch.equal(value, kept.state_dict()[weight].half().to(value.dtype))


def test_states_are_copied_by_rows():
    policy, (seen, actions, mask) = make(tour=True).eval(), draw(8)
    state = policy.evaluate_sequence(seen, actions, policy.initial_state(2), mask).state
    rows = torch.tensor([1])
    own = {name: value[:, rows] for name, value in seen.items()}
    on = policy.evaluate_sequence(own, actions[:, rows], take_rows(state, rows), torch.ones(8, 1).bool())
    both = policy.evaluate_sequence(seen, actions, state, torch.ones(8, 2).bool())
    torch.testing.assert_close(on.values[:, 0], both.values[:, 1], atol=1e-5, rtol=1e-5)


@pytest.mark.parametrize(("remembers", "is_kept"), [("episode", False), ("tour", True)])
def test_states_begin_anew_where_an_oracle_has_arrived(remembers, is_kept):
    recipe = SimpleNamespace(policy=SimpleNamespace(remembers=remembers))
    no = np.zeros(3, bool)
    arrived = np.array([False, True, False])
    result = StepResult(np.zeros(3), no, no, arrived=arrived)
    collector = SimpleNamespace(_recipe=recipe, _batch=None)
    assert Collector._find_kept(collector, result, {}, no).tolist() == [True, is_kept, True]
