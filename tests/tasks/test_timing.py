"""Late and lost images in batches, and mixtures of corruptions, of which each episode has one."""

import numpy as np
import pytest

from navarena.core.errors import InputError, UnknownNameError
from navarena.core.seeding import make_generator
from navarena.corruptions import find_corruption
from navarena.corruptions.mixture import make_mixture
from navarena.tasks.batch import NavigationBatch
from navarena.tasks.catalog import TASKS, get_task
from navarena.tasks.corruption_checks import require_applicable
from navarena.tasks.task import Task
from tasks.small import EPISODES, SmallPointNav, make_cache

SENSORS = ("rgb", "depth", "gps", "compass", "odometry")
WALK = (1, 2, 1, 1, 3, 1)


def walk(corruptions=(), read=None, mixture=(), slots=4):
    """(episode, step) -> observations, of walks in `slots` slots."""
    seen, cache = {}, make_cache()
    for first in range(0, 4, slots):
        batch = NavigationBatch(SmallPointNav(), slots, None, SENSORS, cache, corruptions, mixture=mixture)
        batch.start(range(slots), EPISODES[first : first + slots])
        for step in range(len(WALK) + 1):
            if step:
                batch.step(np.full(slots, WALK[step - 1]))
            if read is None or step in read:
                observed = batch.observations
                for slot in range(slots):
                    key = EPISODES[first + slot].episode_id, step
                    seen[key] = {name: value[slot].copy() for name, value in observed.items()}
    return seen


def test_late_images_are_those_of_earlier_steps_and_nothing_else_is_late():
    clean, late = walk(), walk(("latency:2",))
    for (episode, step), arrays in late.items():
        for name in ("rgb", "depth"):
            assert np.array_equal(arrays[name], clean[episode, max(step - 2, 0)][name]), (episode, step)
        for name in ("gps", "compass", "odometry"):
            assert np.array_equal(arrays[name], clean[episode, step][name])


def test_a_lost_image_repeats_the_last_one_with_its_noise_whoever_looked():
    texts = ("frame_drop:50", "speckle_noise:3")
    noisy, lossy, seldom = walk(("odometry_noise", texts[1])), walk(texts), walk(texts, read=(6,))
    lost = 0
    for episode in EPISODES[:4]:
        key = (episode.scene_id, episode.episode_id)
        shown = find_corruption(texts[0]).draw(make_generator("corruption", texts[0], 0, "episode", *key), 7)
        for step, earlier in enumerate(shown[:, 0].tolist()):
            expected = noisy[episode.episode_id, earlier]["rgb"]
            assert np.array_equal(lossy[episode.episode_id, step]["rgb"], expected)
            lost += earlier < step
        assert np.array_equal(seldom[episode.episode_id, 6]["rgb"], lossy[episode.episode_id, 6]["rgb"])
    assert 5 < lost < 20


def test_losses_before_a_delay_are_late_themselves():
    both, lossy = walk(("frame_drop:50", "latency:1")), walk(("frame_drop:50",))
    for (episode, step), arrays in both.items():
        assert np.array_equal(arrays["rgb"], lossy[episode, max(step - 1, 0)]["rgb"])


@pytest.mark.parametrize("name", TASKS.names())
def test_every_task_can_be_late_lost_and_wrong_about_its_place(name):
    task = get_task(name)
    if isinstance(task, Task):
        texts = [
            "latency:3",
            "frame_drop:30",
            "localisation_noise:3",
            "localisation_drift:3",
            "odometry_noise",
        ]
        require_applicable(task, texts, ("gps", "compass", "odometry"))
    else:
        with pytest.raises(InputError, match="runs on navigation graphs without cameras"):
            require_applicable(task, ["latency:3"])


def test_what_an_agent_does_not_observe_is_not_corrupted():
    task = get_task("robustnav-objectnav-v1")
    with pytest.raises(InputError, match="expected a sensor of gps or compass for the corruption"):
        require_applicable(task, ["localisation_noise:3"])
    blind = SmallPointNav()
    blind.sensors = ("pointgoal_with_gps_compass",)
    with pytest.raises(InputError, match="expected a sensor of images for the corruption 'latency:2'"):
        require_applicable(blind, ["latency:2"])


MIXTURE = ("clean", "speckle_noise:5", "motion_drift+localisation_noise:5", "latency:1", "spatter:2")


def test_each_episode_has_one_row_of_a_mixture():
    mixed = walk(mixture=MIXTURE)
    clean = walk()
    mixture = make_mixture((), (), MIXTURE)
    chosen = {one.episode_id: mixture.choose((one.scene_id, one.episode_id)) for one in EPISODES[:4]}
    for (episode, step), arrays in mixed.items():
        row, before = chosen[episode], clean[episode, step]
        if "latency:1" in row:
            assert np.array_equal(arrays["rgb"], clean[episode, max(step - 1, 0)]["rgb"])
        elif "motion_drift" not in row:
            is_noisy = bool({"speckle_noise:5", "spatter:2"} & row)
            assert np.array_equal(arrays["rgb"], before["rgb"]) is not is_noisy, (episode, row)
        if step > 1:
            assert np.array_equal(arrays["gps"], before["gps"]) is ("motion_drift" not in row)
    again = walk(mixture=MIXTURE, slots=1)
    for key, arrays in mixed.items():
        for name, value in arrays.items():
            assert np.array_equal(value, again[key][name]), "whatever runs beside it"


def test_rows_are_equally_likely_and_keep_what_the_protocol_has():
    mixture = make_mixture(("native_noise",), (), ("clean", "spatter:5", "motion_bias_stochastic"))
    assert set(mixture.rows) == {
        frozenset({"native_noise"}),
        frozenset({"native_noise", "spatter:5"}),
        frozenset({"motion_bias_stochastic"}),
    }
    drawn = [mixture.choose(("hall", str(k))) for k in range(900)]
    assert all(240 < drawn.count(row) < 360 for row in mixture.rows)


def test_bad_mixtures_are_refused():
    for text in ("lower_fov", "pyrobot:teleport", "goal_image_noise", "instruction_word_drop:5"):
        with pytest.raises(InputError, match=f"in a mixture, got '{text}.*; hold it out"):
            make_mixture((), (), ("clean", text))
    with pytest.raises(UnknownNameError, match="spatterr"):
        make_mixture((), (), ("clean", "spatterr:3"))
