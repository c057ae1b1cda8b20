"""Encoders of maps of categories: against tables, then convolutions; and what they refuse."""

from dataclasses import replace

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from navarena.core.errors import InputError  # noqa: E402
from navarena.learning.inputs import InputSpec, choose_inputs  # noqa: E402
from navarena.learning.networks.embedded_encoder import EmbeddedEncoder  # noqa: E402
from navarena.learning.networks.encoder_settings import EncoderSettings  # noqa: E402
from navarena.learning.networks.encoders import ObservationEncoder  # noqa: E402
from navarena.learning.networks.map_encoder import ROWS, MapEncoder  # noqa: E402
from navarena.tasks.sensors.catalog import GOAL_SENSORS  # noqa: E402

from .made import draw_input, fill_rollout, make_policy  # noqa: E402
from .papers import get_recipe  # noqa: E402

pytestmark = pytest.mark.learn

MAP = InputSpec("oracle_map", (50, 50, 2), "uint8", categories=(3, 9))
SMALL = EncoderSettings(maps="small", category_features=4, map_features=8)


def encode_slowly(encoder, maps, goals=None):
    """Tables first, as the papers say, and what a cell weighs for the goal; then the convolutions."""
    parts = [table(maps[..., k].long()) for k, table in enumerate(encoder.tables)]
    if encoder.relevance is not None:
        weighs = encoder.relevance.weight.split([len(table.weight) for table in encoder.tables], 1)
        weighed = [
            sum(weighs[k][goal, one[..., k].long()] for k in range(one.shape[2]))
            for goal, one in zip(goals[:, 0].tolist(), maps, strict=True)
        ]
        parts.append(torch.stack(weighed)[..., None])
    return encoder.layers(torch.cat(parts, 3).permute(0, 3, 1, 2))


@pytest.mark.parametrize("settings, count", [(EncoderSettings(), 0), (SMALL, 0), (SMALL, 5)])
def test_folded_tables_are_tables_and_a_convolution(settings, count):
    torch.manual_seed(0)
    encoder = MapEncoder(MAP, settings, count).double()
    maps = torch.from_numpy(draw_input(MAP, ROWS + 3, np.random.default_rng(0)))
    goals = torch.randint(0, count, (len(maps), 1)) if count else None
    if count:
        torch.nn.init.normal_(encoder.relevance.weight)
    seen, slow = encoder(maps, goals), encode_slowly(encoder, maps, goals)
    assert seen.shape == (ROWS + 3, settings.map_features) and seen.any()
    torch.testing.assert_close(seen, slow, rtol=1e-9, atol=1e-9)
    weights = torch.randn_like(seen)
    gradients = [
        torch.autograd.grad((out * weights).sum(), list(encoder.parameters())) for out in (seen, slow)
    ]
    for ours, theirs in zip(*gradients, strict=True):
        torch.testing.assert_close(ours, theirs, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("goals", [0, 5])
def test_cells_of_nothing_cost_nothing_and_change_nothing(goals):
    """The compiled convolution against the one of one-hot maps, which other devices compute."""
    torch.manual_seed(1)
    encoder = MapEncoder(MAP, SMALL, goals).double()
    if goals:
        torch.nn.init.normal_(encoder.relevance.weight)
    drawn = np.random.default_rng(0)
    maps = torch.from_numpy(draw_input(MAP, 6, drawn)) * torch.from_numpy(drawn.random((6, 50, 50, 2)) < 0.2)
    chosen = torch.tensor([[0], [1], [2], [3], [4], [1]]) if goals else torch.zeros(6, 1, dtype=torch.int64)
    found = encoder(maps, chosen if goals else None)
    plain = encoder.layers[1:](encoder.convolve_marks(maps, chosen, encoder._weigh()))
    torch.testing.assert_close(found, plain, rtol=1e-9, atol=1e-9)
    weights = torch.randn_like(found)
    for ours, theirs in zip(
        *(torch.autograd.grad((out * weights).sum(), list(encoder.parameters())) for out in (found, plain)),
        strict=True,
    ):
        torch.testing.assert_close(ours, theirs, rtol=1e-9, atol=1e-9)


def test_unknown_categories_and_goals_are_refused():
    encoder = MapEncoder(MAP, SMALL, 5)
    maps = torch.zeros(2, 50, 50, 2, dtype=torch.uint8)
    maps[1, 49, 49, 0] = 3
    with pytest.raises(InputError, match=r"categories of 0 to \[2, 8\] on the channels of a map, got"):
        encoder(maps, torch.tensor([[0], [4]]))
    maps[1, 49, 49, 0] = 2
    with pytest.raises(InputError, match=r"goals of 0 to 4, got \[0, 5\]"):
        encoder(maps, torch.tensor([[0], [5]]))
    with pytest.raises(InputError, match="by which cells of maps are weighed, got none"):
        encoder(maps)


def test_goals_are_noticed_from_the_start():
    """What a goal on an empty map changes is as large as what the previous action says, in small networks."""
    torch.manual_seed(0)
    maps = torch.zeros(32, 50, 50, 1, dtype=torch.uint8)
    for k in range(32):
        maps[k, k : k + 3, 45 - k : 48 - k] = 1 + k % 8
    one = replace(MAP, shape=(50, 50, 1), categories=(9,))
    spread = {
        name: MapEncoder(one, EncoderSettings(maps=name))(maps).detach().std(0).mean().item()
        for name in ("small", "multion")
    }
    assert 0.1 < spread["small"] < 2.0 and spread["multion"] < 0.05


def test_weights_of_cells_are_learned_from_nothing():
    """At first a goal changes nothing of what is read from a map; the gradient is that of its own row."""
    goal = InputSpec("multiobjectgoal", (1,), "int64", 8)
    settings = replace(SMALL, numbers="embedded", weighs_maps=True)
    encoder = EmbeddedEncoder((goal, MAP), 8, 5, settings)
    table = encoder.maps["oracle_map"].relevance.weight
    maps = torch.from_numpy(draw_input(MAP, 1, np.random.default_rng(0))).expand(2, -1, -1, -1)
    seen = {"oracle_map": maps, "multiobjectgoal": torch.tensor([[1], [2]])}
    out = encoder(seen)[:, :8]
    torch.testing.assert_close(out[0], out[1])
    (out[1] * torch.randn(8)).sum().backward()
    assert table.grad.any(1).tolist() == [goal == 2 for goal in range(8)]
    with torch.no_grad():
        table[2, 3 + 4] = 1.0
    out = encoder(seen)[:, :8]
    assert not torch.allclose(out[0], out[1])


def test_weights_of_cells_need_a_goal_of_its_own():
    with pytest.raises(InputError, match="expected numbers=embedded for weighs_maps, got joined"):
        EncoderSettings(weighs_maps=True)


def test_maps_come_first_and_goals_have_spare_rows():
    goal = InputSpec("multiobjectgoal", (1,), "int64", 8)
    settings = replace(SMALL, numbers="embedded", spare_categories=1)
    encoder = EmbeddedEncoder((goal, MAP), 8, 5, settings)
    assert encoder.features == 8 + 5 and encoder.numbers["multiobjectgoal"].num_embeddings == 9
    maps = torch.from_numpy(draw_input(MAP, 2, np.random.default_rng(0)))
    seen = {"oracle_map": maps, "multiobjectgoal": torch.tensor([[1], [1]])}
    out = encoder(seen)
    assert torch.equal(out[0, 8:], out[1, 8:]) and not torch.equal(out[0, :8], out[1, :8])


@pytest.mark.parametrize(
    "name, categories",
    [
        ("oracle_map", (3, 9)),
        ("oracle_map_occupancy", (3,)),
        ("oracle_map_objects", (9,)),
        ("oracle_map_stacked", (3, 9, 3, 9)),
        ("oracle_ego_map", (4, 10)),
        ("oracle_ego_map_code", (10,)),
        ("occupancy_map", (3,)),
    ],
)
def test_sensors_say_their_categories(name, categories):
    spec = GOAL_SENSORS.get(name)().spec()
    (one,) = choose_inputs({name: spec}, (name,), (64, 64))
    assert one.categories == categories and one.is_map and not one.is_image
    assert one.shape == spec.shape and spec.high == max(categories) - 1


def test_acting_and_learning_see_the_same_map():
    recipe = get_recipe("multion-oracle-map-small")
    inputs = (
        replace(MAP, categories=(9,), shape=(50, 50, 1)),
        InputSpec("multiobjectgoal", (1,), "int64", 8),
    )
    policy = make_policy(inputs=inputs, settings=replace(recipe.policy, hidden=16))
    rollout = fill_rollout(policy, 3, 8, inputs=inputs)
    judged = policy.evaluate_sequence(rollout.observations, rollout.actions, rollout.state, rollout.mask)
    torch.testing.assert_close(judged.values, rollout.values, rtol=0, atol=1e-5)


def test_what_fits_no_map_is_refused():
    with pytest.raises(InputError, match="larger map for maps=multion, got oracle_map of"):
        MapEncoder(replace(MAP, shape=(8, 8, 2)), EncoderSettings())
    with pytest.raises(InputError, match="numbers=embedded for maps"):
        ObservationEncoder((MAP,), 8, 8)
    with pytest.raises(InputError, match="positive sizes"):
        EncoderSettings(map_features=0)
