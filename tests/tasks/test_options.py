"""Options that protocols share, and those that the papers and their code disagree about."""

from dataclasses import fields
from pathlib import Path

import numpy as np
import pytest

from navarena.core.errors import InputError, UnknownNameError
from navarena.tasks.batch import NavigationBatch
from navarena.tasks.catalog import TASKS, get_task
from navarena.tasks.options import RunOptions
from tasks.small import AHEAD, as_objects, make_cache

SHARED = [name for name in TASKS.names() if issubclass(get_task(name).options_type or object, RunOptions)]


def test_most_protocols_share_them():
    assert len(SHARED) >= 13


@pytest.mark.parametrize("protocol_id", SHARED)
def test_shared_options(protocol_id):
    task = get_task(f"{protocol_id}+track=rgb+sliding=true+max_steps=7")
    assert "depth" not in task.sensors and "rgb" in task.sensors
    assert task.embodiment.slides and task.max_steps == 7
    assert task.protocol_id == f"{protocol_id}+custom+max_steps=7+sliding=true+track=rgb"
    plain = get_task(protocol_id)
    assert "depth" in plain.sensors and not plain.embodiment.slides
    with pytest.raises(InputError, match="expected max_steps of at least 1, got 0"):
        get_task(f"{protocol_id}+max_steps=0")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("multion-3on-v1+found_distance=0", "expected a positive found_distance, got 0"),
        ("multion-1on-v1+body_height=-1", "expected a positive body_height, got -1"),
        ("pointnav-v1+success_distance=0", "expected a positive success_distance, got 0"),
        ("objectnav-hm3d2022-v1+zone_pixels=0", "expected a positive zone_pixels, got 0"),
        ("objectnav-robothor2021-v1+visible_pixels=0", "expected a positive visible_pixels, got 0"),
    ],
)
def test_bad_values(text, message):
    with pytest.raises(InputError, match=message):
        get_task(text)


def test_the_body_of_multion_without_oracle_maps():
    assert get_task("multion-3on-v1").embodiment.height == 1.5
    assert get_task("multion-3on-v1+body_height=0.88").embodiment.height == 0.88


@pytest.mark.parametrize(("limit", "found"), [("inclusive", 1), ("strict", 0)])
def test_found_at_the_very_distance(limit, found):
    """The goal is exactly 1.5 m ahead."""
    episode = as_objects(AHEAD)
    place = episode.goal.objects[0].position
    start = (place[0], place[1], place[2] + 1.5)
    task = get_task(f"multion-1on-v1+found_limit={limit}")
    batch = NavigationBatch(task, 1, sensors=(), worlds=make_cache())
    batch.start([0], [type(episode)("edge", "hall", start, 0.0, episode.goal, 1.5)])
    assert batch.state.distance[0] == 1.5
    batch.step(np.array([0]))
    assert len(batch.state.found_after[0]) == found


def test_the_page_names_every_option():
    page = (Path(__file__).parents[2] / "docs" / "options.md").read_text()
    for protocol_id in TASKS.names():
        for field in fields(get_task(protocol_id).options_type or RunOptions):
            assert f"`{field.name}`" in page, f"docs/options.md lacks {field.name} of {protocol_id}"


@pytest.mark.parametrize(
    ("option", "error", "message"),
    [
        ("depth=fa", UnknownNameError, "unknown value of depth 'fa'. Did you mean 'far'"),
        ("found_budget=x", InputError, "option found_budget: expected a whole number, got 'x'"),
        ("hidden=ja", InputError, "option hidden: expected true or false, got 'ja'"),
        ("found_distance=inf", InputError, "option found_distance: expected a finite number, got 'inf'"),
    ],
)
def test_values_that_do_not_fit_are_answered_with_what_does(option, error, message):
    with pytest.raises(error, match=message):
        get_task(f"multion-3on-v1+{option}")


def test_cameras_are_higher_above_a_floor_without_a_navmesh_file():
    plain, raised = (
        get_task("objectnav-habitat2020-v1"),
        get_task("objectnav-habitat2020-v1+floor_offset=0.15"),
    )
    assert raised.protocol_id == "objectnav-habitat2020-v1+custom+floor_offset=0.15"
    for before, after in zip(plain.embodiment.cameras, raised.embodiment.cameras, strict=True):
        assert after.mount == pytest.approx((before.mount[0], before.mount[1] + 0.15, before.mount[2]))
        assert (after.hfov, after.pitch, after.channels) == (before.hfov, before.pitch, before.channels)
    assert (raised.embodiment.height, raised.embodiment.radius) == (
        plain.embodiment.height,
        plain.embodiment.radius,
    )
    for wrong in ("-0.1", "15"):
        with pytest.raises(InputError, match=r"expected a floor_offset of 0 to 0\.5 metres"):
            get_task(f"pointnav-v1+floor_offset={wrong}")
