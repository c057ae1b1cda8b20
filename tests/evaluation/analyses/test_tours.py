"""IVLN's tables from results files that are written by hand."""

import json

import numpy as np
import pytest

from navarena.core.errors import FileError, InputError
from navarena.evaluation.analyses import run_tour_analysis, tabulate_coverage
from navarena.evaluation.tour_coverage import Coverage


def write(path, hits, ndtw):
    """Two tours, of 3 and 1 episodes; an episode's SPL is half its success."""
    tours = {"t0": hits[:3], "t1": hits[3:]}
    episodes = {
        f"{tour}_{k}": {"tour": tour, "actions": [], "metrics": {"success": hit, "spl": hit / 2, "ndtw": 0.5}}
        for tour, own in tours.items()
        for k, hit in enumerate(own)
    }
    scores = [
        {
            "tour_id": tour,
            "scan": f"scan-{tour}",
            "episodes": len(own),
            "ndtw": value,
            "success": sum(own) / len(own),
            "spl": sum(own) / len(own) / 2,
        }
        for (tour, own), value in zip(tours.items(), ndtw)
    ]
    document = {"identity": "ir2r-ce-v1@h/val#0", "agent": "cma", "episodes": episodes, "tours": scores}
    path.write_text(json.dumps(document))
    return path


def test_means_and_standard_errors(tmp_path):
    """Three seeds whose t-nDTW is that of the tour of three, as one episode changes nothing."""
    files = [
        write(tmp_path / f"{k}.json", hits, (0.2 + 0.1 * k, 1.0))
        for k, hits in enumerate(([1, 0, 0, 1], [1, 1, 0, 1], [1, 1, 1, 1]))
    ]
    table = run_tour_analysis("tours", [f"mine={','.join(map(str, files))}", str(files[0])])
    rows = {(row[0], row[1]): row[2:] for row in table.rows}
    seeds, tours, episodes, mean, error = rows["mine", "t-nDTW"]
    assert (seeds, tours, episodes) == (3, 2, 4) and mean == pytest.approx(0.3)
    assert error == pytest.approx(0.1 / np.sqrt(3))
    # t-SR weighs tours by their episodes: (3 s + 1) / 4
    assert rows["mine", "t-SR"][3] == pytest.approx(0.75)
    assert rows["mine", "t-SR"][4] == pytest.approx(0.25 / np.sqrt(3))
    assert rows["mine", "success"][3] == pytest.approx(0.75) and rows["mine", "ndtw"][4] == 0
    assert rows["cma", "t-nDTW"] == (1, 2, 4, pytest.approx(0.2), None)


def test_positions(tmp_path):
    file = write(tmp_path / "a.json", [1, 0, 1, 0], (0.5, 0.5))
    table = run_tour_analysis("tour-positions", [str(file)])
    assert [row[1:3] for row in table.rows] == [("1", 2), ("2", 1), ("3", 1)]
    assert [row[3].mean for row in table.rows] == [0.5, 0.0, 1.0]
    assert [row[4].mean for row in table.rows] == [0.25, 0.0, 0.5]
    assert table.curves[0].label == "cma: success" and table.curves[0].x == (1, 2, 3)


def test_files_that_do_not_fit(tmp_path):
    first = write(tmp_path / "a.json", [1, 0, 1, 0], (0.5, 0.5))
    other = write(tmp_path / "b.json", [1, 0, 1, 0, 1], (0.5, 0.5))
    with pytest.raises(InputError, match=r"expected the episodes of .*a\.json in .*b\.json, got others"):
        run_tour_analysis("tours", [f"{first},{other}"])
    (tmp_path / "c.json").write_text("[]")
    with pytest.raises(FileError, match="holds no results of `navarena tours evaluate`"):
        run_tour_analysis("tours", [str(tmp_path / "c.json")])
    with pytest.raises(InputError, match="at least one results file"):
        run_tour_analysis("tours", [])


def test_coverage():
    coverage = Coverage(np.array([0.0, 0.5]), np.array([0.0, 0.25]), np.array([3, 2]))
    table = tabulate_coverage(coverage, "val")
    assert table.rows == ((0, 3, 0.0, 0.0), (1, 2, 0.5, 0.25))
    assert [(curve.label, curve.y[1].mean, curve.y[1].n) for curve in table.curves] == [
        ("the next path", 0.5, 2),
        ("the whole tour", 0.25, 2),
    ]
