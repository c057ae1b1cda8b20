"""Outlines of floors: area by the shoelace formula, holes, storeys."""

import numpy as np
import pytest

from navarena.reports.plan_view import select_floor, trace_outlines
from reports.corridor_plan import find_neighbors, make_plan


def signed_area(outline):
    x, z = outline[:, 0], outline[:, 1]
    return float((x * np.roll(z, -1) - z * np.roll(x, -1)).sum() / 2)


def test_an_outline_with_a_hole():
    plan = make_plan("any")
    everything = np.ones(len(plan.triangles), bool)
    outlines = trace_outlines(plan.vertices, plan.triangles, plan.neighbors, everything)
    areas = sorted((signed_area(outline) for outline in outlines), key=abs)
    assert len(areas) == 2
    assert abs(areas[0]) == pytest.approx(2.0 * 0.6)
    assert abs(areas[1]) == pytest.approx(21.0 * 4.0)
    assert areas[0] * areas[1] < 0  # a hole runs the other way


def test_a_selected_part_has_a_border_of_its_own():
    plan = make_plan("any")
    left = plan.vertices[plan.triangles, 0].max(1) <= 9.0
    outlines = trace_outlines(plan.vertices, plan.triangles, plan.neighbors, left)
    assert [abs(signed_area(outline)) for outline in outlines] == [pytest.approx(9.5 * 4.0)]


def test_nothing_selected():
    plan = make_plan("any")
    assert trace_outlines(plan.vertices, plan.triangles, plan.neighbors, np.zeros(16, bool)) == []


def test_floors_that_touch_in_one_point():
    vertices = np.array([[0, 0, 0], [0, 0, 1], [1, 0, 0], [-1, 0, 0], [0, 0, -1]], float)
    triangles = np.array([[0, 1, 2], [0, 4, 3]], np.int32)
    outlines = trace_outlines(vertices, triangles, find_neighbors(triangles), np.ones(2, bool))
    assert sum(abs(signed_area(outline)) for outline in outlines) == pytest.approx(1.0)


def test_storeys_are_told_apart():
    vertices = np.array([[0, 0, 0], [0, 0, 1], [1, 0, 0], [0, 3, 0], [0, 3, 1], [1, 3, 0]], float)
    triangles = np.array([[0, 1, 2], [3, 4, 5]], np.int32)
    assert select_floor(vertices, triangles, 0.1, 0.2).tolist() == [True, False]
    assert select_floor(vertices, triangles, 3.0, 3.0).tolist() == [False, True]
    assert select_floor(vertices, triangles, 0.0, 3.0).tolist() == [True, True]
