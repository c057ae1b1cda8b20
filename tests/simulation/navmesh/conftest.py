"""The dungeon: navmeshes of the field's standard simulator and what it answered on them."""

from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest

from navarena.simulation.navmesh import NavMesh, load_habitat_navmesh

BODIES = ("r018_h088", "r010_h150")


@dataclass(frozen=True)
class Dungeon:
    """A navmesh file and the recorded answers (float64) of the simulator that wrote it."""

    path: Path
    mesh: NavMesh
    answers: dict[str, np.ndarray]


@pytest.fixture(scope="session", params=BODIES)
def dungeon(request: pytest.FixtureRequest, dungeon_folder: Path) -> Dungeon:
    path = dungeon_folder / f"nav_dungeon_{request.param}.navmesh"
    with np.load(path.with_suffix(".npz")) as file:
        answers = {
            name: file[name].astype(float) if file[name].dtype == np.float32 else file[name] for name in file
        }
    return Dungeon(path, load_habitat_navmesh(path), answers)
