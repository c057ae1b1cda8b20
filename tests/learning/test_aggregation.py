"""DAgger with a store: episodes once each, whole and in order; tours with carried states; resumed alike."""

from dataclasses import replace

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from navarena.core.errors import FileError, InputError  # noqa: E402
from navarena.episodes.episode import Episode  # noqa: E402
from navarena.episodes.goals import PointGoal  # noqa: E402
from navarena.learning.auxiliaries.heads import AuxiliaryHeads, record_activations  # noqa: E402
from navarena.learning.auxiliaries.settings import PROGRESS  # noqa: E402
from navarena.learning.inputs import InputSpec  # noqa: E402
from navarena.learning.networks.encoder_settings import EncoderSettings  # noqa: E402
from navarena.learning.settings import (  # noqa: E402
    AggregationSettings,
    ImitationSettings,
    OptimiserSettings,
    PolicySettings,
    constant,
    powers,
)
from navarena.learning.storage import EpisodeEnd  # noqa: E402
from navarena.learning.trainings.aggregation import (  # noqa: E402
    LEARNED,
    Aggregator,
    order_by_length,
    order_by_tours,
)
from navarena.learning.trainings.store import INDEX, SHARDS, Entry, TrajectoryStore  # noqa: E402
from navarena.learning.trainings.training import STORE  # noqa: E402
from navarena.learning.trainings.updates import make_optimiser  # noqa: E402

from .made import INPUTS, fill_rollout, make_policy  # noqa: E402
from .test_graph_policy import draw as draw_graph  # noqa: E402
from .test_graph_policy import make as make_graph_policy  # noqa: E402
from .test_training import TINY, make_training, same  # noqa: E402

pytestmark = pytest.mark.learn

METHOD = ImitationSettings(
    OptimiserSettings(constant(3e-3), max_gradient=1.0), aggregation=AggregationSettings(2, 1, 4)
)


def make_entry(number, steps=3, tour="", iteration=0):
    return Entry(f"{iteration}/{number}", iteration, tour, steps)


def make_arrays(number, steps=3):
    return {"depth": np.full((steps, 2, 2, 1), number, np.float16), "label": np.arange(steps, dtype=np.int16)}


def test_store_keeps_episodes_once_and_goes_on(tmp_path):
    store = TrajectoryStore(tmp_path)
    assert store.add(make_entry(1), make_arrays(1)) and store.add(make_entry(2, 5), make_arrays(2, 5))
    assert not store.add(make_entry(1), make_arrays(9)), "nothing twice"
    assert (store.read("0/2")["depth"] == 2).all(), "before it is written"
    store.flush()
    store.flush()
    again = TrajectoryStore(tmp_path)
    assert again.entries == store.entries and len(list((tmp_path / SHARDS).iterdir())) == 1
    found = again.read("0/2")
    np.testing.assert_array_equal(found["depth"], make_arrays(2, 5)["depth"])
    assert found["label"].tolist() == [0, 1, 2, 3, 4] and found["label"].dtype == np.int16
    assert not again.add(make_entry(2, 5), make_arrays(2, 5)) and again.add(make_entry(3), make_arrays(3))
    again.flush()
    assert [one.key for one in TrajectoryStore(tmp_path).entries] == ["0/1", "0/2", "0/3"]


def test_equal_episodes_have_equal_names_and_damage_is_seen(tmp_path):
    for name in ("a", "b"):
        store = TrajectoryStore(tmp_path / name)
        store.add(make_entry(1), make_arrays(1))
        store.flush()
    shards = [next((tmp_path / name / SHARDS).iterdir()) for name in ("a", "b")]
    assert shards[0].name == shards[1].name
    shards[1].write_bytes(shards[1].read_bytes()[:-1] + b"x")
    with pytest.raises(FileError, match="is damaged"):
        TrajectoryStore(tmp_path / "b").read("0/1")
    shards[0].unlink()
    with pytest.raises(FileError, match="cannot read the shard"):
        TrajectoryStore(tmp_path / "a").read("0/1")
    (tmp_path / "a" / INDEX).write_text('{"format": "other", "shards": []}')
    with pytest.raises(FileError, match="expected the format"):
        TrajectoryStore(tmp_path / "a")
    with pytest.raises(InputError, match="expected 4 steps"):
        store.add(make_entry(7, 4), make_arrays(7, 3))


def test_batches_of_like_length_hold_every_episode_once():
    entries = [make_entry(k, steps=1 + k % 7) for k in range(30)]
    batches = list(order_by_length(entries, 4, np.random.default_rng(0)))
    assert sorted(one.key for batch in batches for _, one, _ in batch) == sorted(e.key for e in entries)
    assert max(max(o.steps for _, o, _ in b) - min(o.steps for _, o, _ in b) for b in batches) <= 1
    assert [b[0][1].steps for b in batches] != sorted(b[0][1].steps for b in batches), "shuffled"


def test_tours_keep_their_order_in_one_lane():
    entries = [make_entry(k, tour=f"t{k % 3}") for k in range(11)] + [make_entry(20), make_entry(21)]
    batches = list(order_by_tours(entries, 2, True, False, np.random.default_rng(0)))
    seen = {}
    for batch in batches:
        for lane, one, goes_on in batch:
            seen.setdefault(one.tour or one.key, []).append((lane, int(one.key[2:]), goes_on))
    assert sum(map(len, seen.values())) == 13
    for parts in seen.values():
        assert len({lane for lane, _, _ in parts}) == 1
        assert [number for _, number, _ in parts] == sorted(number for _, number, _ in parts)
        assert [goes_on for _, _, goes_on in parts] == [False] + [True] * (len(parts) - 1)
    apart = order_by_tours(entries, 2, False, True, np.random.default_rng(0))
    assert not any(goes_on for batch in apart for _, _, goes_on in batch)


def make_ends(ends, tour=""):
    goal = PointGoal((0.0, 0.0, 0.0))
    return [EpisodeEnd(t, n, Episode(f"{n}-{t}", "room", (0, 0, 0), 0.0, goal, None, tour_id=tour))
            for t, n in ends]  # fmt: skip


def test_episodes_are_cut_across_rollouts(tmp_path):
    store = TrajectoryStore(tmp_path)
    aggregator = Aggregator(METHOD, "episode", store, 0)
    policy = make_policy()
    first, second = (fill_rollout(policy, steps=6, slots=16, seed=seed) for seed in (0, 1))
    for rollout in (first, second):
        rollout.labels[:] = rollout.actions
    first.weights[1, 0] = 0.0
    first.ends, second.ends = make_ends([(2, 0), (3, 0), (5, 1)]), make_ends([(0, 0)])
    aggregator.cut(first, 0)
    restored = Aggregator(METHOD, "episode", TrajectoryStore(tmp_path), 0)
    restored.restore_state(aggregator.save_state())
    restored._store = store
    restored.cut(second, 0)
    assert [one.steps for one in store.entries] == [3, 1, 6, 3]
    across = store.read(store.entries[3].key)
    expected = torch.cat((first.observations["depth"][4:, 0], second.observations["depth"][:1, 0]))
    np.testing.assert_array_equal(across["depth"], expected.numpy())
    assert store.read(store.entries[0].key)["label"][1] == -1, "labels that count nothing"


@pytest.mark.parametrize("remembers", ["episode", "tour"])
def test_carried_states_are_those_of_the_true_last_steps(tmp_path, remembers):
    store = TrajectoryStore(tmp_path)
    aggregator, policy = Aggregator(METHOD, remembers, store, 0), make_policy()
    rollout = fill_rollout(policy, steps=6, slots=16)
    rollout.labels[:] = 1
    rollout.ends, rollout.mask[1:] = make_ends([(1, 0), (5, 1)], "t"), True
    aggregator.cut(rollout, 0)
    state = policy.initial_state(4)
    batch = [(2, store.entries[0], False), (0, store.entries[1], False)]
    expected = {}
    with torch.no_grad():
        for lane, entry, _ in batch:
            stored = store.read(entry.key)
            seen = {k: torch.tensor(v)[:, None] for k, v in stored.items() if k not in LEARNED}
            mask = torch.ones(entry.steps, 1, dtype=torch.bool)
            mask[0] = False
            actions = torch.tensor(stored["action"]).long()[:, None]
            judged = policy.evaluate_sequence(seen, actions, policy.initial_state(1), mask)
            expected[lane] = judged.state["hidden"][0]
    optimiser = make_optimiser(policy, METHOD.optimiser)
    found = aggregator.learn_batch(policy, optimiser, batch, state, np.random.default_rng(0))
    assert np.isfinite(found["imitation_loss"])
    for lane in (0, 2):
        own = expected[lane] if remembers == "tour" else torch.zeros_like(expected[lane])
        torch.testing.assert_close(state["hidden"][lane], own, atol=1e-6, rtol=0)
    assert not state["hidden"][[1, 3]].any(), "other lanes stay"


@pytest.mark.parametrize("order", ["lengths", "tours"])
def test_training_with_a_store_learns_and_goes_on_bit_for_bit(tmp_path, order):
    method = replace(
        METHOD, aggregation=AggregationSettings(2, 3, 4, order), teacher_share=powers(0.5, 2), veto=0.9
    )
    recipe = replace(TINY, method=method, steps=16, frames=4 * 128, save_updates=1)
    whole = make_training(tmp_path / "a", recipe)
    rows = []
    whole.run(rows.append)
    part = make_training(tmp_path / "b", recipe)
    part.advance()
    part._save()
    part.advance()  # an iteration whose episodes were stored, but not the checkpoint
    again = make_training(tmp_path / "b", recipe)
    assert again.frames == 128
    again.run()
    assert same(whole._policy.state_dict(), again._policy.state_dict())
    assert whole._aggregator._store.entries == again._aggregator._store.entries
    learned = [row for row in rows if "imitation_loss" in row]
    assert len(learned) == 2 and learned[1]["imitation_loss"] < learned[0]["imitation_loss"]


def test_episodes_of_a_training_without_a_checkpoint_are_not_learned_from(tmp_path):
    recipe = replace(TINY, method=METHOD, steps=16, frames=4 * 128, save_updates=50)
    begun = make_training(tmp_path, replace(recipe, protocol="pointnav-v1+max_steps=10"))
    begun.advance()
    begun.advance()
    assert begun._aggregator._store.entries and (tmp_path / STORE / INDEX).exists()
    assert not make_training(tmp_path, recipe)._aggregator._store.entries
    assert not list((tmp_path / STORE).rglob("*.arrow"))


def test_auxiliary_losses_learn_from_the_steps_of_episodes_alone(tmp_path):
    """Of episodes of 2 and 6 steps side by side: the mean over 8 steps, and gradients of both losses."""
    target = InputSpec("progress", (1,), "float32")
    rows = {}
    for auxiliaries in ((), (PROGRESS,)):
        store = TrajectoryStore(tmp_path / str(len(auxiliaries)))
        method = replace(METHOD, auxiliaries=auxiliaries)
        aggregator, policy = Aggregator(method, "episode", store, 0), make_policy()
        if auxiliaries:
            policy.auxiliaries = AuxiliaryHeads(policy, auxiliaries, INPUTS, [target], 4, 0)
        rollout = fill_rollout(policy, steps=6, slots=16)
        rollout.observations["progress"] = torch.rand(6, 16, 1, generator=torch.Generator().manual_seed(0))
        rollout.labels[:] = 1
        rollout.ends, rollout.mask[1:] = make_ends([(1, 0), (5, 1)]), True
        aggregator.cut(rollout, 0)
        predicted, wanted = [], []
        for entry in store.entries if auxiliaries else []:
            stored = store.read(entry.key)
            wanted.append(torch.tensor(stored["progress"])[:, 0])
            seen = {k: torch.tensor(stored[k])[:, None] for k in ("depth", INPUTS[1].name)}
            mask = torch.arange(entry.steps)[:, None] > 0
            actions = torch.tensor(stored["action"]).long()[:, None]
            with torch.no_grad(), record_activations(policy) as activations:
                policy.evaluate_sequence(seen, actions, policy.initial_state(1), mask)
                predicted.append(policy.auxiliaries.heads["progress"](activations.beliefs)[:, 0, 0])
        batch = [(lane, entry, False) for lane, entry in enumerate(store.entries)]
        before = {name: value.clone() for name, value in policy.state_dict().items()}
        optimiser = make_optimiser(policy, METHOD.optimiser)
        row = aggregator.learn_batch(
            policy, optimiser, batch, policy.initial_state(4), np.random.default_rng(0)
        )
        rows[len(auxiliaries)] = row
        if auxiliaries:
            mean = (torch.cat(predicted) - torch.cat(wanted)).square().mean()
            assert row["progress_loss"] == pytest.approx(mean.item(), rel=1e-4)
            head = [name for name in before if name.startswith("auxiliaries.")]
            assert head and not any(torch.equal(policy.state_dict()[name], before[name]) for name in head)
    assert rows[0]["imitation_loss"] == rows[1]["imitation_loss"]
    assert rows[0]["gradient_norm"] != rows[1]["gradient_norm"] and "progress_loss" not in rows[0]


def test_memory_begins_anew_where_it_did_in_the_rollout(tmp_path):
    """As with the second goal of an episode where the policy remembers sub-tasks: two halves from nothing."""
    store, policy = TrajectoryStore(tmp_path), make_policy()
    method = replace(METHOD, inflection_weight=3.0)
    aggregator = Aggregator(method, "subtask", store, 0)
    rollout = fill_rollout(policy, steps=6, slots=16)
    rollout.labels[:], rollout.mask[:, 0] = 1, torch.tensor([False, True, True, False, True, True])
    rollout.ends = make_ends([(5, 0)])
    aggregator.cut(rollout, 0)
    stored = store.read(store.entries[0].key)
    errors = []
    for half in (slice(0, 3), slice(3, 6)):
        seen = {k: torch.tensor(v[half])[:, None] for k, v in stored.items() if k not in LEARNED}
        mask = torch.tensor([False, True, True])[:, None]
        actions = torch.tensor(stored["action"][half]).long()[:, None]
        with torch.no_grad():
            judged = policy.evaluate_sequence(seen, actions, policy.initial_state(1), mask)
        errors += (-judged.distribution.log_probs[:, 0, 1]).tolist()
    weights = np.array([3.0, 1, 1, 3, 1, 1])
    optimiser = make_optimiser(policy, METHOD.optimiser)
    batch = [(0, store.entries[0], False)]
    row = aggregator.learn_batch(policy, optimiser, batch, policy.initial_state(1), np.random.default_rng(0))
    assert row["imitation_loss"] == pytest.approx((weights * errors).sum() / weights.sum(), rel=1e-5)


def test_large_turns_weigh_more_on_graphs(tmp_path):
    """Of three steps a turn of 90 degrees and the stop are inflections: they weigh 3 / 2."""
    store, policy = TrajectoryStore(tmp_path), make_graph_policy(tour=True, weighs_turns=True).eval()
    for name, one in policy.named_parameters():
        one.data.mul_(20.0 if name.endswith("norm.weight") else 1.0)  # logits that differ
    seen, _, _ = draw_graph(3)
    labels = np.array([1, 2, 0], np.int16)
    seen["candidate_angles"][:] = torch.tensor([0.0, 1.0, 0.0, 1.0])
    seen["candidate_angles"][1, 0, 1] = torch.tensor([1.0, 0.0, 0.0, 1.0])
    arrays = {name: value[:, 0].numpy() for name, value in seen.items()}
    store.add(make_entry(0), arrays | {"action": labels, "label": labels, "mask": np.arange(3) > 0})
    own = {name: value[:, :1] for name, value in seen.items()}
    mask, actions = torch.tensor([[False], [True], [True]]), torch.tensor(labels).long()[:, None]
    with torch.no_grad():
        judged = policy.evaluate_sequence(own, actions, policy.initial_state(1), mask)
    errors = -judged.distribution.log_probs[torch.arange(3), 0, actions[:, 0]].numpy()
    aggregator = Aggregator(METHOD, "episode", store, 0)
    row = aggregator.learn_batch(
        policy,
        make_optimiser(policy, METHOD.optimiser),
        [(0, store.entries[0], False)],
        policy.initial_state(1),
        np.random.default_rng(0),
    )
    assert row["imitation_loss"] == pytest.approx((errors * [1, 1.5, 1.5]).sum() / 4, rel=1e-5)


def test_images_of_all_rollouts_scale_the_inputs(tmp_path):
    """Beside the first frame of mean 0: 2 x 4 frames of 0.2, before anything is learned."""
    settings = PolicySettings(
        hidden=8,
        encoder=EncoderSettings(images="resnet18", numbers="embedded", normalise=True, base_planes=16),
    )
    inputs = (InputSpec("rgb", (64, 64, 3), "uint8"), INPUTS[1])
    policy = make_policy(inputs=inputs, settings=settings)
    rollout = fill_rollout(policy, steps=2, slots=4, inputs=inputs)
    rollout.observations["rgb"][:] = 51
    aggregator = Aggregator(METHOD, "episode", TrajectoryStore(tmp_path), 0)
    aggregator.advance(
        policy, make_optimiser(policy, METHOD.optimiser), rollout, 0.0, 0.1, np.random.default_rng(0)
    )
    normaliser = policy.encoder.images.normaliser
    assert normaliser.count == 9
    np.testing.assert_allclose(normaliser.mean.flatten(), 8 * 0.2 / 9, rtol=1e-6)


def test_settings_of_a_store_that_cannot_be():
    with pytest.raises(InputError, match="at least one iteration"):
        AggregationSettings(0)
