"""Proxy tasks of HAMT: losses by hand and one episode after the other, what is hidden, training, names."""

from dataclasses import replace

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from navarena.core.errors import InputError  # noqa: E402
from navarena.learning.auxiliaries.proxies import (  # noqa: E402
    DISTANCES,
    ProxyLearner,
    action_angles,
    draw_others,
    find_same,
    find_whole_episodes,
    gather_paths,
    match_loss,
    measure_progress,
    proxy_loss,
    relate_views,
    shares_loss,
    shuffle_steps,
    view_shares,
)
from navarena.learning.auxiliaries.settings import PROXIES, ProxySettings  # noqa: E402
from navarena.learning.checkpoints.policies import load_policy, read_info  # noqa: E402
from navarena.learning.graph_policy import GraphPolicy  # noqa: E402
from navarena.learning.networks.hamt_proxies import ProxyHeads  # noqa: E402
from navarena.learning.published.hamt import rename_proxies  # noqa: E402
from navarena.learning.recipes.catalog import RECIPES  # noqa: E402
from navarena.learning.settings import Schedule  # noqa: E402
from navarena.learning.storage import Fragment  # noqa: E402
from navarena.learning.trainings.training import Training  # noqa: E402

from .small_hamt import INPUTS, TINY  # noqa: E402

pytestmark = pytest.mark.learn

PLAIN = ProxySettings(image_share=0.0, angle_share=0.0)


def make():
    with torch.random.fork_rng():
        torch.manual_seed(0)
        policy = GraphPolicy(INPUTS, 5, TINY)
        policy.auxiliaries = ProxyHeads(TINY, TINY.features)
        for one in policy.parameters():
            torch.nn.init.normal_(one, std=0.3)
        return policy


def draw(seed=0):
    """9 steps of two slots: whole episodes 0 to 2 and 3 to 6 in slot 0, 2 to 8 in slot 1; two are cut off."""
    generator = np.random.default_rng(seed)
    tokens = generator.integers(2, 30, (9, 2, 10)).astype(np.int32)
    tokens[..., 7:] = 0
    seen = {
        "instruction_tokens": tokens,
        "view_features": generator.random((9, 2, 36, 5)).astype(np.float32),
        "view_index": generator.integers(0, 36, (9, 2)),
        "candidate_views": generator.integers(0, 36, (9, 2, 4)),
        "candidate_angles": generator.normal(size=(9, 2, 4, 4)).astype(np.float32),
        "phase": np.zeros((9, 2), np.int64),
        "tour_position": np.zeros((9, 2), np.int64),
        DISTANCES: generator.uniform(1, 3, (9, 2, 4)).astype(np.float32),
    }
    seen["candidate_views"][..., -1] = -1
    labels = torch.from_numpy(generator.integers(1, 4, (9, 2)))
    mask = torch.ones(9, 2, dtype=torch.bool)
    for slot, first, last in ((0, 0, 2), (0, 3, 6), (0, 7, 9), (1, 2, 8)):
        mask[first, slot] = False
        labels[last:, slot][:1] = 0
    mask[1, 1] = True
    zeros = torch.zeros(9, 2)
    observations = {name: torch.from_numpy(value) for name, value in seen.items()}
    return Fragment(observations, {}, mask, labels, zeros, zeros, labels, zeros + 1, mask)


def learner(policy, settings=PLAIN, seed=0):
    return ProxyLearner(policy, settings, np.random.default_rng(seed))


def test_whole_episodes_are_found():
    part = draw()
    found = find_whole_episodes(~part.mask.numpy(), (part.labels == 0).numpy())
    assert found == [(0, 0, 2), (0, 3, 6), (1, 2, 8)]
    paths = gather_paths(make(), part)
    assert paths.tokens.shape == (3, 7) and paths.is_there.sum(1).tolist() == [3, 4, 7]
    assert paths.step.tolist() == [0, 1, 2, 0, 1, 2, 3, 0, 1, 2, 3, 4, 5, 6]
    assert torch.equal(paths.walk.views[7:], part.observations["view_features"][2:, 1])
    assert torch.equal(paths.tokens[1], part.observations["instruction_tokens"][3, 0, :7].long())
    nothing = replace(part, labels=torch.ones_like(part.labels))
    loss, row = proxy_loss(make(), PLAIN, nothing, np.random.default_rng(0))
    assert float(loss.detach()) == 0.0 and not row


def test_angles_and_progress_by_hand():
    paths = gather_paths(make(), draw())
    actions, distances = paths.walk.actions.tolist(), paths.distances.tolist()
    lengths = [distances[row][action - 1] if action else 0.0 for row, action in enumerate(actions)]
    expected = []
    for first, last in ((0, 2), (3, 6), (7, 13)):
        total = sum(lengths[first:last])
        expected += [sum(lengths[first:row]) / total for row in range(first, last)] + [1.0]
    assert measure_progress(paths).tolist() == pytest.approx(expected, abs=1e-6)
    angles = action_angles(paths.walk)
    for row, action in enumerate(actions):
        s, c, u, v = paths.walk.candidate_angles[row, action - 1].tolist()
        hand = [np.arctan2(s, c), np.arctan2(u, v)] if action else [0.0, 0.0]
        assert angles[row].tolist() == pytest.approx(hand, abs=1e-6)


def test_relations_of_views_by_hand():
    found = relate_views()
    third = np.pi / 6
    assert found[0, 1] == pytest.approx([third, 0.0])
    assert found[1, 0] == pytest.approx([-third, 0.0])
    assert found[0, 11] == pytest.approx([-third, 0.0]), "the short way round"
    assert found[5, 35] == pytest.approx([-np.pi, 2 * third])
    assert found[35, 5] == pytest.approx([-np.pi, -2 * third])


def test_losses_by_hand():
    shares = torch.tensor([[0.25, 0.75], [0.0, 0.0], [1.0, 0.0]])
    logits = torch.tensor([[0.0, 0.0], [5.0, -5.0], [np.log(3.0), 0.0]])
    first = 0.25 * np.log(0.25 / 0.5) + 0.75 * np.log(0.75 / 0.5)
    assert float(shares_loss(logits, shares)) == pytest.approx((first - np.log(0.75)) / 2)
    assert float(shares_loss(logits[1:2], shares[1:2])) == 0.0, "nothing is seen"
    assert view_shares(torch.tensor([[1.0, 3.0**0.5], [0.0, 0.0]])).tolist() == [
        pytest.approx([0.25, 0.75]),
        [0.0, 0.0],
    ]
    counted = torch.tensor([[True, True, False], [True, True, True]])
    given = torch.tensor([[0.0, 0.0, 9.0], [np.log(2.0), 0.0, 0.0]])
    assert float(match_loss(given, counted)) == pytest.approx(np.log(2.0))


def test_actions_are_judged_as_in_walks():
    policy, part = make().eval(), draw()
    paths, found = gather_paths(policy, part), []
    for slot, first, last in ((0, 0, 2), (0, 3, 6), (1, 2, 8)):
        seen = {name: value[first : last + 1, slot] for name, value in part.observations.items()}
        labels = part.labels[first : last + 1, slot]
        tokens = seen["instruction_tokens"][0, :7].long()
        logits = policy.network.judge_steps(tokens, policy.make_observed_steps(seen, labels))
        found.append(torch.nn.functional.cross_entropy(logits, labels, reduction="none"))
    torch.testing.assert_close(learner(policy).sap(paths), torch.cat(found).mean(), atol=1e-5, rtol=1e-5)


def one_by_one(policy, part, tokens, described):
    """Words and history of every episode alone, without padding."""
    found, begin = [], 0
    for row, count in enumerate((3, 4, 7)):
        words, is_word = policy.network.read(tokens[row : row + 1])
        steps = policy.network.history.number(described[begin : begin + count], torch.arange(count))
        history = torch.cat((policy.network.history.begin(), steps))[None]
        found.append(policy.network.fuse(words, is_word, history, torch.ones(1, 1 + count).bool()))
        begin += count
    return found


def test_words_are_told_from_the_whole_path():
    policy, part = make().eval(), draw()
    paths = gather_paths(policy, part)
    told, shown = learner(policy)._hide_words(paths.tokens)
    assert told.any(1).all() and torch.equal(shown[~told], paths.tokens[~told])
    alone = one_by_one(policy, part, shown, learner(policy)._describe(paths.walk))
    losses = []
    for row, fused in enumerate(alone):
        logits = policy.auxiliaries.words(fused.words[0, told[row]]) @ policy.network.words.weight.T
        logits = logits + policy.auxiliaries.word_bias
        labels = paths.tokens[row, told[row]]
        losses += torch.nn.functional.cross_entropy(logits, labels, reduction="none").tolist()
    assert float(learner(policy).mlm(paths).detach()) == pytest.approx(float(np.mean(losses)), abs=1e-4)


def test_hidden_steps_are_told():
    policy, part = make().eval(), draw()
    paths, own = gather_paths(policy, part), learner(policy)
    hidden = own._draw_some(paths.is_there.numpy(), PLAIN.step_share)
    assert hidden.any(1).all() and not (hidden & ~paths.is_there.numpy()).any()
    views = paths.walk.views.clone()
    rows = [
        begin + step for begin, row in zip((0, 3, 7), hidden, strict=True) for step in np.flatnonzero(row)
    ]
    views[rows] = 0.0
    alone = one_by_one(policy, part, paths.tokens, own._describe(replace(paths.walk, views=views)))
    losses = []
    for fused, row, begin in zip(alone, hidden, (0, 3, 7), strict=True):
        for step in np.flatnonzero(row):
            target = paths.walk.views[begin + step, paths.walk.view[begin + step]].square().numpy()
            target = target / target.sum()
            guess = policy.auxiliaries.classes(fused.history[0, 1 + step]).softmax(0).detach().numpy()
            losses.append(float((target * np.log(target / guess)).sum()))
    assert float(learner(policy).mrc(paths).detach()) == pytest.approx(float(np.mean(losses)), abs=1e-4)


def test_paths_are_told_from_others_and_from_themselves_in_another_order():
    paths = gather_paths(make(), draw())
    assert (find_same(paths) == np.eye(3, dtype=bool)).all()
    is_same = np.array([[1, 1, 0], [1, 1, 0], [0, 0, 1]], bool)
    for seed in range(5):
        other, found = draw_others(is_same, np.random.default_rng(seed))
        assert other[:2].tolist() == [2, 2] and other[2] in (0, 1) and found.all()
    assert not draw_others(np.ones((2, 2), bool), np.random.default_rng(0))[1].any()
    order, lengths = np.tile(np.arange(4), (3, 1)), np.array([1, 2, 4])
    for seed in range(5):
        shuffled, found = shuffle_steps(order, lengths, np.random.default_rng(seed))
        assert found.tolist() == [False, True, True] and shuffled[1].tolist() == [1, 0, 2, 3]
        assert sorted(shuffled[2]) == [0, 1, 2, 3] and shuffled[2].tolist() != [0, 1, 2, 3]


def test_half_of_a_path_is_hidden_as_asked():
    policy = make()
    walk = gather_paths(policy, draw()).walk
    hidden = learner(policy, ProxySettings(image_share=1.0))._hide_seen(walk)
    assert not hidden.views.any() and torch.equal(hidden.view_angles, walk.view_angles)
    hidden = learner(policy, ProxySettings(image_share=0.0, angle_share=1.0))._hide_seen(walk)
    assert not hidden.candidate_angles.any() and torch.equal(hidden.candidates, walk.candidates)


def test_matches_are_judged_path_by_path():
    policy, part = make().eval(), draw()
    paths, generator = gather_paths(policy, part), np.random.default_rng(0)
    described, lengths = learner(policy)._describe(paths.walk), (3, 4, 7)
    others = [draw_others(np.eye(3, dtype=bool), generator)[0] for _ in range(2)]
    order = np.tile(np.arange(7), (3, 1))
    shuffles = [shuffle_steps(order, np.array(lengths), generator)[0] for _ in range(2)]
    losses, begins = [], (0, 3, 7)
    for row in range(3):
        words, is_word = policy.network.read(paths.tokens[row : row + 1])
        scores = []
        candidates = [(row, order[0]), *((int(one[row]), order[0]) for one in others)]
        for other, steps in [*candidates, *((row, one[row]) for one in shuffles)]:
            own = described[begins[other] : begins[other] + lengths[other]]
            tokens = policy.network.history.number(own, torch.from_numpy(steps[: lengths[other]]))
            history = torch.cat((policy.network.history.begin(), tokens))[None]
            fused = policy.network.fuse(words, is_word, history, torch.ones(history.shape[:2]).bool())
            scores.append(float(policy.auxiliaries.matches(fused.words[0, 0] * fused.history[0, 0]).detach()))
        losses.append(np.log(np.exp(scores).sum()) - scores[0])
    found = float(learner(policy).itm(paths).detach())
    assert found == pytest.approx(float(np.mean(losses)), abs=1e-4)


@pytest.mark.parametrize("task", [one for one in PROXIES if one != "itm"])
def test_tasks_are_learned(task):
    with torch.random.fork_rng():
        torch.manual_seed(1)
        policy = GraphPolicy(INPUTS, 5, replace(TINY, dropout=0.0, feature_dropout=0.0))
        policy.auxiliaries = ProxyHeads(replace(TINY, dropout=0.0), TINY.features)
    part = draw()
    settings = replace(PLAIN, **{one: float(one == task) for one in PROXIES})
    optimiser, losses = torch.optim.Adam(policy.parameters(), 1e-2), []
    for _ in range(30):
        loss, row = proxy_loss(policy, settings, part, np.random.default_rng(3))
        assert list(row) == [f"{task}_loss"]
        optimiser.zero_grad()
        loss.backward()
        optimiser.step()
        losses.append(row[f"{task}_loss"])
    assert losses[-1] < 0.85 * losses[0]


def test_keys_of_the_heads_are_the_published_ones():
    found = {rename_proxies(name) for name in ProxyHeads(TINY, 5).state_dict()}
    linear = ("weight", "bias")
    expected = {"mlm_head.predictions.bias"}
    expected |= {
        f"mlm_head.predictions.transform.{one}.{leaf}" for one in ("dense", "LayerNorm") for leaf in linear
    }
    for head, layers in (
        ("regress_action", "024"),
        ("sprel_head", "024"),
        ("image_classifier", "023"),
        ("itm_head", "023"),
    ):
        last = {"024": "4", "023": "3"}[layers]
        expected |= {f"{head}.net.{layer}.{leaf}" for layer in ("0", "2", last) for leaf in linear}
    assert found == expected


def mini(name, **changes):
    recipe = RECIPES.get(name)
    sizes = replace(recipe.policy.hamt, width=16, inner=16, heads=2, text_layers=1, cross_layers=1)
    recipe = replace(
        recipe, split="mini", slots=2, steps=16, frames=96, save_updates=2, log_updates=1, scenes=1,
        policy=replace(recipe.policy, hamt=sizes), method=replace(recipe.method, minibatches=1),
    )  # fmt: skip
    return replace(recipe, **changes)


def test_training_goes_on_and_starts_the_agent(tmp_path):
    recipe = mini("hamt-pretrain-small")
    Training(recipe, tmp_path / "whole").run()
    info = read_info(tmp_path / "whole")
    part = Training(recipe, tmp_path / "part")
    for _ in range(2):
        part.advance()
    part._save()
    Training(recipe, tmp_path / "part").run()
    again = read_info(tmp_path / "part")
    assert again.model_sha256 == info.model_sha256 and again.heads_sha256 == info.heads_sha256 != ""
    started = Training(mini("hamt-small", start=str(tmp_path / "whole")), tmp_path / "agent")
    _, before = load_policy(tmp_path / "whole")
    now = started._policy.state_dict()
    assert all(torch.equal(now[name], value) for name, value in before.state_dict().items())
    started.run()
    assert read_info(tmp_path / "agent").model_sha256 != info.model_sha256


def test_bad_settings_are_refused(tmp_path):
    with pytest.raises(InputError, match="one is positive"):
        ProxySettings(**dict.fromkeys(PROXIES, 0.0))
    with pytest.raises(InputError, match="shares of 0 to 1"):
        ProxySettings(word_share=1.5)
    method = RECIPES.get("hamt-pretrain-small").method
    with pytest.raises(InputError, match="the teacher alone"):
        replace(method, teacher_share=Schedule(1.0, 0.5))
    with pytest.raises(InputError, match="the target candidate_distances for proxies"):
        Training(mini("hamt-pretrain-small", targets=()), tmp_path / "one")
    with pytest.raises(InputError, match="with the heads of proxy tasks"):
        ProxyLearner(GraphPolicy(INPUTS, 5, TINY), PLAIN, np.random.default_rng(0))
