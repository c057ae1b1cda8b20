"""The mesh that nobody here made, where its file is at hand."""

import os
from pathlib import Path

TEST_DATA_VARIABLE = "NAVARENA_TEST_DATA"


def find_dungeon_mesh() -> Path | None:
    """dungeon.obj in the folder of test data or in the tests of a source checkout, if it is there."""
    checkout = Path(__file__).parents[4] / "tests" / "data" / "dungeon" / "dungeon.obj"
    data = os.environ.get(TEST_DATA_VARIABLE)
    candidates = [Path(data) / "meshes" / "dungeon.obj", checkout] if data else [checkout]
    return next((path for path in candidates if path.is_file()), None)
