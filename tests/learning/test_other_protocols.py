"""Checkpoints on other protocols than that of their training: labels, masked declarations, other maps."""

from dataclasses import replace

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from navarena.agents.loading import declare_agent, load_agent  # noqa: E402
from navarena.core.errors import InputError  # noqa: E402
from navarena.learning.checkpoints.policies import save_policy  # noqa: E402
from navarena.learning.networks.heads import CategoricalHead  # noqa: E402
from navarena.learning.trainings.setup import describe_policy, make_training_task  # noqa: E402
from navarena.tasks.batch import NavigationBatch  # noqa: E402
from navarena.tasks.catalog import get_body_task  # noqa: E402

from .papers import get_recipe, random_observations  # noqa: E402

pytestmark = pytest.mark.learn


@pytest.fixture(scope="module")
def described():
    recipe = replace(get_recipe("multion-oracle-map-small"), protocol="multion-1on-v1")
    task = make_training_task(recipe)
    return describe_policy(recipe, task, NavigationBatch(task, 1, 1, recipe.sensors))


@pytest.fixture(scope="module")
def trained(described, tmp_path_factory):
    """The folder of a checkpoint that was "trained" on one goal, with a head that likes to declare."""
    folder = tmp_path_factory.mktemp("checkpoint")
    with torch.random.fork_rng():
        torch.manual_seed(0)
        policy = described.build()
    with torch.no_grad():
        policy.head.linear.bias[:] = torch.tensor([3.0, 0.5, 0.0, -0.5])
    save_policy(folder / "best", described, policy)
    return folder / "best"


def test_another_number_of_goals_is_a_label(trained):
    declared = {
        name: declare_agent(f"checkpoint:{trained}", get_body_task(name)).trained_with
        for name in ("multion-1on-v1", "multion-1on-v1+max_steps=500", "multion-3on-v1", "multion-2on-v1")
    }
    assert declared["multion-1on-v1"] == declared["multion-1on-v1+max_steps=500"] == ()
    assert declared["multion-3on-v1"] == declared["multion-2on-v1"] == ("episodes of multion-1on-v1",)
    load_agent(f"checkpoint:{trained}", get_body_task("multion-3on-v1"))


def test_depth_of_another_range_is_refused(trained):
    """1 is 5 m where it was trained, and 10 m with depth=far: images of one shape and type."""
    with pytest.raises(InputError, match="depth in shares of 5 m of .*, got depth in shares of 10 m of"):
        load_agent(f"checkpoint:{trained}", get_body_task("multion-1on-v1+depth=far"))


def test_another_map_is_observed_for_the_one_of_the_training(trained, described):
    task, text = get_body_task("multion-1on-v1"), f"checkpoint:{trained}"
    dynamic = "oracle_map_objects_dynamic"
    declared = declare_agent(f"{text}?map={dynamic}&temperature=1", task)
    assert declared.trained_with == ("oracle_map_objects",)
    assert dynamic in declared.sensors and "oracle_map_objects" not in declared.sensors
    assert declare_agent(f"{text}?map=oracle_map_objects", task).trained_with == ()

    own, other = (load_agent(one, task) for one in (text, f"{text}?map={dynamic}"))
    shape = next(one.shape for one in described.inputs if one.is_map)
    observed = {
        name: np.zeros((1, *spec.shape), spec.dtype)
        for name, spec in NavigationBatch(task, 1, 1, (*declared.sensors, "oracle_map_objects")).specs.items()
    }
    observed[dynamic][:] = np.random.default_rng(0).integers(0, 9, shape)
    for agent in (own, other):
        agent._make_room(1)
    assert load_agent(f"{text}?map={dynamic}&temperature=1", task).temperature == 1
    seen = [agent._observe(observed)["oracle_map_objects"] for agent in (own, other)]
    assert not seen[0].any() and np.array_equal(seen[1][0], observed[dynamic][0])


@pytest.mark.parametrize(
    ("sensor", "words"),
    [
        ("oracle_map", "expected a protocol with oracle_map of"),
        ("semantic_map", "expected a protocol with semantic_map of"),
        ("oracle_mop", "others .*oracle_mop"),
    ],
)
def test_maps_that_a_policy_cannot_read_are_refused(trained, sensor, words):
    with pytest.raises(InputError, match=words):
        load_agent(f"checkpoint:{trained}?map={sensor}", get_body_task("multion-1on-v1"))


def test_a_policy_without_a_map_is_shown_none(tmp_path):
    recipe = replace(get_recipe("multion-nomap-small"), protocol="multion-1on-v1")
    task = make_training_task(recipe)
    described = describe_policy(recipe, task, NavigationBatch(task, 1, 1, recipe.sensors))
    save_policy(tmp_path, described, described.build())
    with pytest.raises(InputError, match="sees one map for map=, or .* named after, got .* with none"):
        load_agent(f"checkpoint:{tmp_path}?map=oracle_map", task)


def test_of_several_maps_the_one_of_the_same_name_is_replaced(tmp_path):
    recipe = get_recipe("objectnav-map-dagger-small")
    task = make_training_task(recipe)
    described = describe_policy(recipe, task, NavigationBatch(task, 1, 1, recipe.sensors))
    save_policy(tmp_path, described, described.build())
    text = f"checkpoint:{tmp_path}?map=occupancy_map_iterative"
    assert declare_agent(text, task).trained_with == ("occupancy_map",)
    assert set(declare_agent(text, task).sensors) == {
        *("occupancy_map_iterative", "goal_map", "frontier_direction", "objectgoal", "gps", "compass")
    }
    with pytest.raises(InputError, match="'semantic_map' is named after, got .* occupancy_map, goal_map"):
        declare_agent(f"checkpoint:{tmp_path}?map=semantic_map", task)


def decide(agent, inputs):
    policy = agent._policy
    with torch.inference_mode():
        seen = random_observations(inputs, 16)
        state, mask = policy.initial_state(16), torch.zeros(16, dtype=torch.bool)
        drawn = np.random.default_rng(0)
        return policy.act(seen, state, mask, lambda n, k: torch.from_numpy(drawn.random((n, k))))


@pytest.mark.parametrize(
    ("prefix", "options"), [("", "+oracle_found=true"), ("oracle-stop:", "")], ids=["option", "agent"]
)
def test_where_an_oracle_declares_movements_share_the_probability(trained, described, prefix, options):
    free = load_agent(f"checkpoint:{trained}", get_body_task("multion-1on-v1"))
    agent = load_agent(f"{prefix}checkpoint:{trained}", get_body_task(f"multion-1on-v1{options}"))
    masked = agent._inner if prefix else agent
    before, after = decide(free, described.inputs), decide(masked, described.inputs)
    assert (before.actions == 0).float().mean() > 0.5 and (after.actions != 0).all()
    features = torch.randn(5, 256)
    plain, moves = (one._policy.head(features).log_probs.exp() for one in (free, masked))
    torch.testing.assert_close(moves[:, 1:], plain[:, 1:] / (1 - plain[:, :1]))
    assert (moves[:, 0] == 0).all()


def test_no_action_left_is_an_error():
    head = CategoricalHead(4, 2, [0])
    with pytest.raises(InputError, match="another action than 1"):
        head.mask(1)


def test_classes_that_the_tables_do_not_know_are_refused(described, tmp_path):
    inputs = tuple(replace(one, categories=(7,)) if one.is_map else one for one in described.inputs)
    other = replace(described, inputs=inputs)
    save_policy(tmp_path, other, other.build())
    words = (
        r"expected a protocol with oracle_map_objects of \(50, 50, 1\), uint8, 7 categories .*9 categories"
    )
    with pytest.raises(InputError, match=words):
        load_agent(f"checkpoint:{tmp_path}", get_body_task("multion-1on-v1"))


def test_training_images_are_rendered_in_the_size_of_the_policy():
    """Of protocols that resize what their cameras take, too: no image is enlarged to be shrunk again."""
    for name, rows, columns in (
        ("robustnav-pointnav-rgbd-small", 60, 80),
        ("multion-oracle-map-small", 64, 64),
    ):
        recipe = get_recipe(name)
        task = make_training_task(recipe)
        batch = NavigationBatch(task, 1, 1, recipe.sensors)
        for kind in ("rgb", "depth"):
            assert batch.observations[kind].shape[1:3] == (rows, columns)
        assert {(one.height_px, one.width_px) for one in task.camera_body.cameras} == {(rows, columns)}
    plain = make_training_task(replace(get_recipe("robustnav-pointnav-rgbd-small"), training_view=False))
    assert NavigationBatch(plain, 1, 1, ("rgb",)).observations["rgb"].shape[1:3] == (224, 224)
