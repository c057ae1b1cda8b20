"""Runs over tours that were cut off: they go on tour by tour, and nothing shows."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from navarena.episodes.route_tours import EpisodeTour
from navarena.tasks.vln_ce_tours import IR2RCE

from flat import draw_flat
from graph_world import write_files
from navarena.agents.simple import RandomAgent
from navarena.cli.main import main
from navarena.core.errors import FileError, InputError
from navarena.episodes.episode import Episode, InstructionGoal
from navarena.evaluation import HouseTours, TourRun, open_tour_journal, run_tours, score_records
from navarena.reports import draw_tour, drawing_in_house
from navarena.simulation.body_catalog import VLN_CE
from navarena.simulation.world import WorldCache

RUN = TourRun(identity="ir2r-ce-v1@flat/test#0", settings={"agent": "random", "seed": 0})
PATHS = (
    ((1.0, 0.0, 2.0), (4.1, 0.0, 2.0), (6.5, 0.0, 3.0)),
    ((8.0, 0.0, 6.8), (6.5, 0.0, 4.2), (8.0, 0.0, 1.0)),
)


def tour(number):
    ways = [
        Episode(f"{number}{k}_0", "flat", path[0], 0.0, InstructionGoal("Go.", path, f"{number}{k}"), 5.0)
        for k, path in enumerate(PATHS)
    ]
    return EpisodeTour(str(number), tuple(ways))


TOURS = [tour(k) for k in range(3)]


class Interrupted(RandomAgent):
    """A random agent that is cut off in the middle of the tour "1"."""

    def reset(self, starts):
        super().reset(starts)
        if any(start.episode_id == "11_0" for start in starts):
            raise KeyboardInterrupt


@pytest.fixture(scope="module")
def source():
    worlds = WorldCache(VLN_CE)
    worlds.add(draw_flat())
    return HouseTours(IR2RCE(), TOURS, worlds)


@pytest.fixture(scope="module")
def whole(source):
    return run_tours(RandomAgent(source.task), source, slots=1)


def cut_off(source, results):
    with pytest.raises(KeyboardInterrupt), open_tour_journal(results, RUN) as journal:
        run_tours(Interrupted(source.task), source, slots=1, journal=journal)
    return results.with_name("r.json.journal")


def test_a_run_that_was_cut_off_goes_on_to_the_same_numbers(source, whole, tmp_path):
    file = cut_off(source, tmp_path / "r.json")
    with file.open("ab") as torn:
        torn.write(b'{"tour_id": "1", "rec')
    counted = []
    with open_tour_journal(tmp_path / "r.json", RUN) as journal:
        assert journal.tours == 1
        resumed = run_tours(RandomAgent(source.task), source, 1, journal=journal, advance=counted.append)
        assert journal.tours == 3 and sum(counted) == 6 and counted[0] == 2
        journal.discard()
    assert not file.exists() and list(resumed) == list(whole)
    for name, record in whole.items():
        for field, value in vars(record.trajectory).items():
            assert np.array_equal(getattr(resumed[name].trajectory, field), value), (name, field)
    both = [score_records(source.task, TOURS, records, "paper") for records in (whole, resumed)]
    assert both[0] == both[1]


def test_a_finished_journal_runs_nothing(source, whole, tmp_path):
    with open_tour_journal(tmp_path / "r.json", RUN) as journal:
        run_tours(RandomAgent(source.task), source, 2, journal=journal)
    with open_tour_journal(tmp_path / "r.json", RUN) as journal:
        again = run_tours(Interrupted(source.task), source, 2, journal=journal)
    assert list(again) == list(whole)


def test_other_runs_and_damage_are_refused(source, tmp_path):
    results = tmp_path / "r.json"
    file = cut_off(source, results)
    other = TourRun(identity=RUN.identity, settings={"agent": "random", "seed": 1})
    with pytest.raises(InputError, match=r"seed is 0, not 1.*--fresh"), open_tour_journal(results, other):
        pass
    lines = file.read_bytes().splitlines(keepends=True)
    file.write_bytes(lines[0] + lines[1].replace(b'"0"', b'"7"', 1))
    with (
        open_tour_journal(results, RUN) as journal,
        pytest.raises(FileError, match="tour 7 is none of this run"),
    ):
        run_tours(RandomAgent(source.task), source, journal=journal)
    file.write_bytes(lines[0] + lines[1].replace(b'"yaws"', b'"paws"', 1))
    with open_tour_journal(results, RUN) as journal, pytest.raises(FileError, match="tour 0 is damaged"):
        run_tours(RandomAgent(source.task), source, journal=journal)
    file.write_bytes(b"{]\n" + lines[1])
    with pytest.raises(FileError, match="line 1, is damaged"), open_tour_journal(results, RUN):
        pass
    with open_tour_journal(results, other, fresh=True) as journal:
        assert journal.tours == 0
    assert not file.exists(), "a journal without tours leaves nothing behind"


def test_a_tour_in_a_house_is_drawn(source, whole):
    drawing = drawing_in_house(TOURS[0], whole, source.worlds.get("flat").navmesh)
    assert [panel.episode_id for panel in drawing.episodes] == ["00_0", "01_0"]
    assert list(drawing.floors) == ["floor0"], "both episodes are on one storey"
    svg = draw_tour(drawing, "paper")
    assert svg.count('href="#floor0"') == 2 and "tour nDTW" in svg


@pytest.mark.slow
def test_kill_9_then_the_same_table(tmp_path, capsys):
    """The command on graphs, killed in its second tour by its own agent; then run by an agent that lives."""
    write_files(tmp_path)
    named = ["--r2r", "R2R_val_seen.json.gz", "--connectivity", "connectivity"]
    named = [str(tmp_path / word) if not word.startswith("-") else word for word in named]
    tours = str(tmp_path / "tours.json")
    assert main(["tours", "make", *named, "--out", tours, "--json"]) == 0
    (tmp_path / "mortal.py").write_text(
        "import os, signal, pathlib\n"
        "from navarena.agents.graph_simple import GraphRandomAgent\n"
        "class Mortal(GraphRandomAgent):\n"
        "    def reset(self, starts):\n"
        "        super().reset(starts)\n"
        "        self.count = getattr(self, 'count', 0) + 1\n"
        "        if self.count == 6 and not pathlib.Path('died').exists():\n"
        "            pathlib.Path('died').touch()\n"
        "            os.kill(os.getpid(), signal.SIGKILL)\n"
    )
    command = [
        sys.executable, "-m", "navarena", "tours", "evaluate", "ir2r-v1", "--agent", "mortal:Mortal", *named,
        "--tours", tours, "--slots", "1", "--out", "r.json", "--json",
    ]  # fmt: skip
    environment = {**os.environ, "PYTHONPATH": str(tmp_path)}
    first = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, check=False)
    assert first.returncode == -signal.SIGKILL and not (tmp_path / "r.json").exists()
    again = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, check=True, text=True)
    assert "1 of 3 tours were finished before" in again.stderr
    results = Path(tmp_path / "r.json").read_bytes()
    whole = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, check=True, text=True)
    assert whole.stdout == again.stdout and Path(tmp_path / "r.json").read_bytes() == results
    assert "finished before" not in whole.stderr
