"""HAMT: the published size and keys, all steps at once as one after the other, rows of TourHAMT."""

from dataclasses import replace

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from navarena.core.errors import FileError, InputError  # noqa: E402
from navarena.learning.networks.dropout import Dropout  # noqa: E402
from navarena.learning.networks.hamt import HAMT, ObservedSteps  # noqa: E402
from navarena.learning.networks.hamt_settings import SMALL, TOUR_ROWS, HAMTSettings  # noqa: E402
from navarena.learning.published.hamt import load_hamt, rename_hamt, save_hamt  # noqa: E402

pytestmark = pytest.mark.learn

TINY = HAMTSettings(
    words=30, max_words=8, features=5, width=12, heads=3, inner=16, text_layers=2, panorama_layers=1,
    cross_layers=2, steps=12,
)  # fmt: skip
TOKENS = torch.tensor([4, 7, 9, 2, 0, 0])


def make(**changes):
    with torch.random.fork_rng():
        torch.manual_seed(0)
        network = HAMT(replace(TINY, **changes))
        for one in network.parameters():
            torch.nn.init.normal_(one, std=0.3)
        return network.eval()


def draw_walk(steps=5, seed=0, candidates=3):
    generator = np.random.default_rng(seed)
    views = torch.from_numpy(generator.integers(0, 36, (steps, candidates)))
    views[:, -1] = -1
    views[1, 1] = views[1, 0]
    return ObservedSteps(
        *(
            torch.from_numpy(generator.normal(size=shape)).float()
            for shape in ((steps, 36, 5), (steps, 36, 4))
        ),
        torch.from_numpy(generator.integers(0, 36, steps)),
        *(torch.from_numpy(generator.normal(size=(steps, candidates, size))).float() for size in (5, 4)),
        views,
        torch.tensor([1, 2, 1, 2, 0])[:steps],
    )


def test_the_published_size_is_counted():
    layer = 4 * (768 * 768 + 768) + 2 * 768 + 768 * 3072 + 3072 + 3072 * 768 + 768 + 2 * 768
    cross = 2 * layer + 4 * (768 * 768 + 768) + 2 * 768
    features = 768 * 768 + 768 + 4 * 768 + 768 + 4 * 768
    text = (30_522 + 512 + 2) * 768 + 2 * 768 + 9 * layer
    history = 2 * features + 2 * layer + (1 + 50 + 1) * 768 + 2 * 768
    head = 768 * 768 + 768 + 2 * 768 + 769
    with torch.device("meta"):
        network = HAMT(HAMTSettings())
    found = sum(one.numel() for one in network.parameters())
    assert found == text + 4 * cross + features + 3 * 768 + 2 * 768 + history + head == 170_393_089


def test_keys_are_those_of_the_published_files():
    with torch.device("meta"):
        keys = set(save_hamt(HAMT(replace(HAMTSettings(), tour=True, parts_tour=True))))
    known = {
        "embeddings.word_embeddings.weight",
        "embeddings.LayerNorm.bias",
        "encoder.layer.8.attention.self.key.bias",
        "encoder.layer.0.attention.output.LayerNorm.weight",
        "encoder.layer.3.intermediate.dense.weight",
        "encoder.layer.3.output.LayerNorm.bias",
        "encoder.x_layers.3.visual_attention.att.value.weight",
        "encoder.x_layers.0.visual_attention.output.LayerNorm.weight",
        "encoder.x_layers.1.lang_self_att.self.query.bias",
        "encoder.x_layers.1.visn_self_att.output.dense.weight",
        "encoder.x_layers.2.lang_inter.dense.weight",
        "encoder.x_layers.2.visn_output.LayerNorm.bias",
        "img_embeddings.img_linear.weight",
        "img_embeddings.ang_layer_norm.bias",
        "img_embeddings.nav_type_embedding.weight",
        "img_embeddings.layer_norm.bias",
        "hist_embeddings.cls_token",
        "hist_embeddings.prev_hist_token",
        "hist_embeddings.pano_img_linear.weight",
        "hist_embeddings.pano_ang_layer_norm.weight",
        "hist_embeddings.pano_encoder.layer.1.attention.self.query.weight",
        "hist_embeddings.position_embeddings.weight",
        "hist_embeddings.type_embedding.weight",
        "hist_embeddings.ang_linear.bias",
        "next_action.net.0.weight",
        "next_action.net.4.bias",
    }
    assert known <= keys
    with pytest.raises(FileError, match="a weight of HAMT, got other"):
        rename_hamt("other.weight")


def test_published_files_are_loaded(tmp_path):
    ours, theirs = make(tour=True, parts_tour=True), make()
    for one in theirs.parameters():
        torch.nn.init.normal_(one)
    found = {f"vln_bert.{name}": value for name, value in save_hamt(theirs).items()}
    table = "vln_bert.hist_embeddings.position_embeddings.weight"
    found[table] = torch.cat((found[table], found[table]))
    torch.save({"vln_bert": {"state_dict": found, "epoch": 3}}, tmp_path / "best")
    load_hamt(ours, tmp_path / "best")
    walk = draw_walk()
    assert torch.equal(ours.judge_steps(TOKENS, walk), theirs.judge_steps(TOKENS, walk))
    del found["vln_bert.next_action.net.0.bias"]
    torch.save(found, tmp_path / "worse")
    with pytest.raises(FileError, match=r"next_action.net.0.bias of shape \(12,\) is missing"):
        load_hamt(ours, tmp_path / "worse")


@pytest.mark.parametrize("row", [{}, *TOUR_ROWS.values()])
def test_all_steps_at_once_are_those_one_after_the_other(row):
    network, walk = make(**row), draw_walk()
    earlier = network.remember(draw_walk(4, 1)) if row else None
    together = network.judge_steps(TOKENS, walk, earlier)
    for steps in range(1, 6):
        alone = network.judge_steps(TOKENS, walk.first(steps), earlier)
        torch.testing.assert_close(alone[-1], together[steps - 1], atol=1e-5, rtol=1e-5)
    assert together.shape == (5, 4) and bool(together[:, -1].isneginf().all()), "no candidate is there"
    assert bool(together[:, :3].isfinite().all())


@pytest.mark.parametrize("needed", [1, 3, 7])
def test_the_last_layer_computes_what_is_needed(needed):
    network = make()
    for one in network.parameters():
        torch.nn.init.normal_(one, std=0.3)
    generator = torch.Generator().manual_seed(needed)
    words, history, seen = (torch.randn(2, size, 12, generator=generator) for size in (6, 4, 7))
    is_word, is_seen, is_there = (torch.rand(2, size, generator=generator) < 0.7 for size in (6, 4, 7))
    whole = network.fuse(words, is_word, history, is_seen, seen, is_there)
    part = network.fuse(words, is_word, history, is_seen, seen, is_there, needed)
    torch.testing.assert_close(part.words, whole.words[:, :1], atol=1e-5, rtol=1e-5)
    torch.testing.assert_close(part.history, whole.history[:, :1], atol=1e-5, rtol=1e-5)
    torch.testing.assert_close(part.seen, whole.seen[:, :needed], atol=1e-5, rtol=1e-5)


def test_what_is_remembered():
    walk, network, tours = draw_walk(), make(), make(tour=True)
    changed = replace(walk, views=walk.views.clone())
    changed.views[1] += 1.0
    before, after = network.judge_steps(TOKENS, walk), network.judge_steps(TOKENS, changed)
    assert torch.equal(before[0], after[0]) and not torch.equal(before[2], after[2])
    first, second = (tours.remember(draw_walk(4, seed)) for seed in (1, 2))
    assert not torch.equal(tours.judge_steps(TOKENS, walk, first), tours.judge_steps(TOKENS, walk, second))
    long = torch.cat((second, first, second, first))
    newest = long[len(long) - (12 - 1 - 4) :]
    assert torch.equal(tours.judge_steps(TOKENS, walk, long), tours.judge_steps(TOKENS, walk, newest))


def test_what_is_frozen_has_no_gradient():
    for row, learns in (("ph", False), ("ph+th", True)):
        network = make(**TOUR_ROWS[row])
        earlier = network.remember(draw_walk(4, 1))
        network.judge_steps(TOKENS, draw_walk(), earlier)[:, :3].sum().backward()
        assert network.text_layers[0].inner.first.weight.grad is None
        assert (network.history.ahead.image.weight.grad is not None) == learns
        assert network.cross_layers[0].cross.query.weight.grad is not None


def test_weights_of_turns():
    walk, labels = draw_walk(), torch.tensor([1, 2, 1, 2, 0])
    assert make().weigh(walk, labels).tolist() == [1.0] * 5
    for step, turn in enumerate((0.1, 2.0, -0.2, -1.5)):
        walk.candidate_angles[step, labels[step] - 1, :2] = torch.tensor([np.sin(turn), np.cos(turn)]).float()
    weights = make(**TOUR_ROWS["ph+th+phi+iw"]).weigh(walk, labels)
    third = pytest.approx(5 / 3)
    assert weights.tolist() == [1.0, third, 1.0, third, third]


def test_a_walk_is_learned():
    with torch.random.fork_rng():
        torch.manual_seed(1)
        network = HAMT(replace(TINY, dropout=0.0, feature_dropout=0.0))
    walk, labels = draw_walk(), torch.tensor([1, 2, 1, 2, 0])
    optimiser = torch.optim.Adam(network.parameters(), 5e-3)
    for _ in range(80):
        loss = torch.nn.functional.cross_entropy(network.judge_steps(TOKENS, walk), labels)
        optimiser.zero_grad()
        loss.backward()
        optimiser.step()
    assert float(loss.detach()) < 0.1


def test_bad_settings_are_refused():
    with pytest.raises(InputError, match="whole heads"):
        HAMTSettings(width=100)
    with pytest.raises(InputError, match="tour=true"):
        replace(SMALL, parts_tour=True)


def test_dropout_drops_its_share_and_keeps_the_mean():
    torch.manual_seed(0)
    layer, given = Dropout(0.4), torch.ones(301, 333, requires_grad=True)
    found = layer(given)
    found.sum().backward()
    share = float((found == 0).float().mean())
    assert share == pytest.approx(0.4, abs=0.01) and not torch.equal(found, layer(given))
    kept = found[found != 0]
    assert torch.allclose(kept, torch.full_like(kept, 1 / 0.6), rtol=1e-4)
    assert torch.equal(given.grad, found), "the gradient is that of the same draw"
    assert torch.equal(layer.eval()(given), given) and torch.equal(Dropout(0.0)(given), given)
    # neighbours, which share a drawn number, are dropped independently of each other
    dropped = (found == 0).float().flatten()[: 4 * 25_000].view(-1, 4)
    assert torch.corrcoef(dropped.T).sub(torch.eye(4)).abs().max() < 0.03
