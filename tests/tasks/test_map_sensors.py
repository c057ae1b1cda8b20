"""Maps as observations: what they show of drawn worlds, how long they last, and what they refuse."""

import numpy as np
import pytest

from navarena.core.errors import InputError, UnknownNameError
from navarena.episodes.episode import Episode, InstructionGoal
from navarena.mapping.occupancy import FREE, OCCUPIED, OccupancyMaps
from navarena.simulation.world import WorldCache
from navarena.tasks.batch import NavigationBatch
from navarena.tasks.catalog import get_task
from navarena.tasks.sensors.oracle_maps import OracleEgoMap, OracleMap
from navarena.tasks.sensors.seen_maps import OccupancyMapSensor, SemanticMapSensor
from tasks.small import episodes_for
from worlds import HALL, ROOMS, draw_world

WORLDS = [draw_world(HALL, scene_id="hall"), draw_world(ROOMS, scene_id="rooms")]
MAPS = ("oracle_map", "oracle_ego_map", "oracle_ego_map_code", "occupancy_map", "semantic_map")


def make_batch(slots, sensors=MAPS, own=None):
    task = get_task("multion-2on-v1")
    if own is not None:
        task.make_sensor = lambda name: own if name == own.name else None
    worlds = WorldCache(task.embodiment)
    for world in WORLDS:
        worlds.add(world)
    return NavigationBatch(task, slots, 1, sensors, worlds), episodes_for(task)


def test_every_map_is_an_observation_of_its_kind():
    batch, episodes = make_batch(2)
    batch.start([0, 1], episodes[:2])
    for action in (1, 2, 1, 3):
        seen = batch.observations
        for name in MAPS:
            spec = batch.specs[name]
            assert seen[name].shape == (2, *spec.shape) and seen[name].dtype == spec.dtype
            assert seen[name].min() >= spec.low and seen[name].max() <= spec.high
            assert seen[name].any(), name
        batch.step(np.full(2, action))
    assert set(batch.observations) == set(MAPS), "the images behind them are not observed"


def test_the_oracle_map_shows_goals_and_floor():
    batch, episodes = make_batch(1, ("oracle_map",))
    batch.start([0], episodes[:1])
    shown = batch.observations["oracle_map"][0]
    classes = batch.state.classes[0]
    assert set(np.unique(shown[..., 1])) >= {int(classes[-1]) + 1}
    assert set(np.unique(shown[..., 1])) <= {0, *(classes + 1).tolist()}
    assert set(np.unique(shown[..., 0])) == {0, 1, 2}
    assert shown[25, 25, 0] == 2


def test_only_the_current_goal_is_shown_by_a_dynamic_map():
    batch, episodes = make_batch(1, ("oracle_map",), OracleMap(dynamic=True, block=1))
    batch.start([0], episodes[:1])
    classes = batch.state.classes[0]
    for found in range(2):
        shown = batch.observations["oracle_map"][0, ..., 1]
        assert set(np.unique(shown)) == {0, int(classes[found]) + 1}
        batch.state.found_after[0].append(1)
        batch.step(np.array([2]))


def test_variants_of_the_oracle_map_have_names():
    """Each shows what its channels, resolution and goals say of the same place."""
    names = ("oracle_map_occupancy", "oracle_map_objects", "oracle_map_dynamic", "oracle_map_objects_dynamic")
    scales = ("oracle_map_150", "oracle_map_600", "oracle_map_stacked", "oracle_map_paper")
    batch, episodes = make_batch(1, ("oracle_map", *names, *scales))
    batch.start([0], episodes[:1])
    seen = {name: value[0] for name, value in batch.observations.items()}
    assert all(seen[name].shape == batch.specs[name].shape for name in seen)
    occupancy, goals = np.moveaxis(seen["oracle_map"], 2, 0)
    current = int(batch.state.classes[0][0]) + 1
    assert np.array_equal(seen["oracle_map_occupancy"][..., 0], occupancy)
    assert np.array_equal(seen["oracle_map_objects"][..., 0], goals)
    assert np.array_equal(seen["oracle_map_dynamic"][..., 0], occupancy)
    for name in ("oracle_map_dynamic", "oracle_map_objects_dynamic"):
        assert set(np.unique(seen[name][..., -1])) == {0, current}
    assert np.array_equal(seen["oracle_map_stacked"][..., :2], seen["oracle_map"])
    assert np.array_equal(seen["oracle_map_stacked"][..., 2:], seen["oracle_map_600"])
    floors = {name: np.count_nonzero(seen[name][..., 0] == 2) for name in ("oracle_map", *scales)}
    assert floors["oracle_map_150"] < floors["oracle_map"] < floors["oracle_map_600"]
    assert np.count_nonzero(seen["oracle_map_paper"][..., 1]) == len(batch.state.goals[0])


def test_what_an_oracle_map_cannot_hold_is_refused():
    batch, episodes = make_batch(1, ("oracle_map",))
    batch.start([0], episodes[:1])
    sensor, state, simulator = OracleMap(), batch.state, batch.simulator
    state.goals[0] = state.goals[0] + np.array([130.0, 0.0, 0.0])
    with pytest.raises(
        InputError, match="goals within the oracle map, x and z of -120.3 to 120.0 m, got one"
    ):
        sensor.begin(simulator, state, np.array([0]))
    state.goals[0] = state.goals[0] - np.array([130.0, 0.0, 0.0])
    state.classes[0] = state.classes[0] + 8
    with pytest.raises(InputError, match="classes 0 to 7 of goals"):
        sensor.begin(simulator, state, np.array([0]))
    state.classes[0] = state.classes[0] - 8
    vertices = simulator.navmesh(0).vertices
    kept = vertices.copy()
    try:
        vertices.flags.writeable = True
        vertices += np.array([0.0, 0.0, 119.0], vertices.dtype)
        with pytest.raises(InputError, match="house within the oracle map.* move its origin"):
            sensor.begin(simulator, state, np.array([0]))
    finally:
        vertices[:] = kept


def test_resolutions_follow_one_another():
    batch, episodes = make_batch(1, ("oracle_map",), OracleMap(cells=(300, 75), channels_shown="occupancy"))
    batch.start([0], episodes[:1])
    fine, coarse = np.moveaxis(batch.observations["oracle_map"][0], 2, 0)
    assert (fine == 2).sum() > 4 * (coarse == 2).sum() > 0


def test_an_ego_map_grows_and_is_covered_again_at_the_next_episode():
    batch, episodes = make_batch(1, ("oracle_ego_map", "oracle_ego_map_code"))
    batch.start([0], episodes[:1])
    first = {name: value[0].copy() for name, value in batch.observations.items()}
    for _ in range(6):
        batch.step(np.array([2]))
        grown = {name: value[0].copy() for name, value in batch.observations.items()}
    for name in first:
        assert (grown[name] > 0).sum() > (first[name] > 0).sum() > 0
    batch.start([0], episodes[:1])
    assert all(np.array_equal(batch.observations[name][0], first[name]) for name in first)
    hidden = (first["oracle_ego_map"] == 0).all(-1)
    assert hidden.sum() > 1000


def test_what_the_ego_map_shows_is_the_oracle_s():
    batch, episodes = make_batch(1, ("oracle_map", "oracle_ego_map"), OracleEgoMap())
    batch.start([0], episodes[:1])
    oracle, ego = (batch.observations[name][0].astype(int) for name in ("oracle_map", "oracle_ego_map"))
    seen = ego[..., 0] > 0
    assert np.array_equal(ego[seen], oracle[seen] + 1)


def test_occupancy_is_drawn_ahead():
    """In the middle of the hall all that is seen is free; the body looks up in the image."""
    batch, episodes = make_batch(1, ("occupancy_map",))
    batch.start([0], episodes[:1])
    shown = batch.observations["occupancy_map"][0, ..., 0]
    assert (shown[:30] == FREE).sum() > 100 and not (shown[34:] > 0).any()
    assert set(np.unique(shown)) <= {0, FREE, OCCUPIED}


def make_tour(names, own=None):
    """A batch for tours, and one of two episodes in "rooms": facing a wall, then the one behind it."""
    task = get_task("ir2r-ce-v1")
    task.make_sensor = lambda name: own if own is not None and name == own.name else None
    worlds = WorldCache(task.embodiment)
    worlds.add(WORLDS[1])
    paths = ((2.0, 0.0, 5.5), (2.5, 0.0, 5.5)), ((3.0, 0.0, 5.5), (3.5, 0.0, 5.5))
    tour = [
        Episode(str(k), "rooms", path[0], yaw, InstructionGoal("Go on.", path, str(k)), 0.5, tour_id="0")
        for k, (path, yaw) in enumerate(zip(paths, (0.0, np.pi), strict=True))
    ]
    return NavigationBatch(task, 1, 1, names, worlds), tour


def count_known(batch, tour, names):
    """Cells of each map that are known at both starts of a tour, and at the first of the next one."""
    batch.start([0], tour[:1])
    known = [[np.count_nonzero(batch.observations[name][0]) for name in names]]
    batch.step(np.array([0]))
    begun = batch.follow([0], tour[1:])[0]
    while not begun:
        begun = batch.step(np.array([0])).arrived[0]
    for again in (False, True):
        if again:
            batch.start([0], tour[:1])
        known.append([np.count_nonzero(batch.observations[name][0]) for name in names])
    return np.array(known)


@pytest.mark.parametrize("make", [OccupancyMapSensor, SemanticMapSensor])
def test_lifetimes(make):
    """An iterative map is the union of the episodes of a tour; the next tour begins anew."""
    counts = {}
    for lifetime in ("episodic", "iterative"):
        sensor = make(lifetime=lifetime)
        counts[lifetime] = count_known(*make_tour((sensor.name,), sensor), (sensor.name,))[:, 0].tolist()
    episodic, iterative = counts["episodic"], counts["iterative"]
    assert episodic[0] == iterative[0] == episodic[2] == iterative[2]
    assert iterative[1] > episodic[1] > 0


def look_around(batch, place, yaws, name):
    """What is observed a turn to the left of each of `yaws`, from `place`, within one episode."""
    world, seen = batch.simulator.slot_worlds.world(0), []
    for yaw in yaws:
        batch.simulator.place([0], [world], np.array([place]), np.array([yaw]))
        batch.step(np.array([2]))
        seen.append(batch.observations[name][0].copy())
    return seen


@pytest.mark.parametrize("make", [OccupancyMapSensor, SemanticMapSensor])
def test_known_maps_are_what_walking_everywhere_makes(make, tmp_path, monkeypatch):
    """Where a map made by looking around in both rooms knows a cell, the known map says the same of it."""
    monkeypatch.setenv("NAVARENA_CACHE", str(tmp_path))
    sensors = {lifetime: make(lifetime=lifetime) for lifetime in ("episodic", "known")}
    shown = {}
    for lifetime, sensor in sensors.items():
        batch, episodes = make_batch(1, (sensor.name,), sensor)
        one = next(episode for episode in episodes if episode.scene_id == "rooms")
        batch.start([0], [one])
        cells = [(x, z) for z in range(7) for x in range(z % 2, 10, 2) if ROOMS[z][x] == "."]
        for x, z in cells if lifetime == "episodic" else []:
            look_around(batch, (x + 0.5, 0.0, z + 0.5), np.arange(0, 2 * np.pi, 1.3), sensor.name)
        views = look_around(batch, one.start_position, (0.0, 1.0, 2.0), sensor.name)
        shown[lifetime] = np.stack(views).astype(int)
    walked, known = shown["episodic"], shown["known"]
    seen = walked > 0
    assert seen.sum() > 3000
    assert (known[seen] == walked[seen]).mean() > 0.98
    assert len(list(tmp_path.rglob("*-map/*.pack"))) == 1, "it is kept"


@pytest.mark.parametrize("name", ["occupancy_map", "semantic_map"])
def test_lifetimes_have_names(name):
    """Asked for by name, an iterative map grows over two episodes, and a known one is whole."""
    names = (name, f"{name}_iterative", f"{name}_known")
    first, second, _ = count_known(*make_tour(names), names)
    assert first[0] == first[1] and second[0] < second[1]
    assert first[2] > 2 * first[0] and second[2] > 2 * second[0]


def test_an_image_is_drawn_into_a_map_once(monkeypatch):
    """A slot that rests while another begins anew has no new image."""
    drawn = []
    monkeypatch.setattr(OccupancyMaps, "update", lambda self, *given: drawn.append(given[-1].tolist()))
    batch, episodes = make_batch(2, ("occupancy_map",))
    batch.start([0, 1], episodes[:2])
    for begin_anew in (False, True):
        batch.observations  # noqa: B018
        batch.step(np.array([2, 2]), np.array([True, not begin_anew]))
        if begin_anew:
            batch.observations  # noqa: B018
            batch.start([1], episodes[:1])
    batch.observations  # noqa: B018
    assert drawn == [[True, True], [True, True], [True, False], [False, True]]


def test_batches_equal_single_slots():
    batch, episodes = make_batch(3)
    batch.start([0, 1, 2], episodes[:3])
    singles = []
    for episode in episodes[:3]:
        single, _ = make_batch(1)
        single.start([0], [episode])
        singles.append(single)
    for action in (1, 2, 3, 1):
        together = batch.observations
        for slot, single in enumerate(singles):
            for name in MAPS:
                assert np.array_equal(together[name][slot], single.observations[name][0]), name
            single.step(np.array([action]))
        batch.step(np.full(3, action))


def test_other_lifetimes_are_refused():
    with pytest.raises(UnknownNameError, match="lifetime of a map"):
        SemanticMapSensor(lifetime="forever")


@pytest.mark.parametrize(
    ("name", "least"),
    [
        # shares of the cells of 128 x 128 pixels that 64 x 64 show, and of 256 that 128 do: every cell is
        # sampled in the first two, and hit by a pixel in the others, which fewer pixels do more seldom
        ("occupancy_map", (0.99, 0.99)),
        ("oracle_ego_map_code", (0.99, 0.99)),
        ("semantic_map", (0.8, 0.95)),
        ("oracle_ego_map", (0.65, 0.9)),
    ],
)
def test_maps_drawn_at_three_sizes_show_the_same_places(name, least):
    """Of the cells that a smaller image says something about, none says otherwise in a larger one."""
    shown = []
    for side in (64, 128, 256):
        task = get_task(f"multion-2on-v1+depth={side}x{side}")
        worlds = WorldCache(task.embodiment)
        for world in WORLDS:
            worlds.add(world)
        batch = NavigationBatch(task, 1, 1, (name,), worlds)
        batch.start([0], episodes_for(task)[:1])
        for action in (2,) * 12:
            batch.observations  # noqa: B018
            batch.step(np.array([action]))
        found = batch.observations[name][0]
        shown.append(np.moveaxis(found, 0, -1) if name == "semantic_map" else found.copy())
    for small, large, share in zip(shown[:-1], shown[1:], least, strict=True):
        is_large = (large != 0).any(-1)
        both = (small != 0).any(-1) & is_large
        assert both.sum() > share * is_large.sum() > 0
        assert (small[both] == large[both]).all(-1).mean() > 0.99
