"""Makes the episode lists that come with navarena again.

After a change of scenes, navmesh, planner or recipe that moves them (tests/episodes/test_shipped.py says
so). Mini, lite, val and test of every protocol, or of those named: .venv/bin/python scripts/episode_lists.py
[PROTOCOL ...]
"""

import sys

from navarena.episodes.catalog import RECIPES, get_recipe, make_split, shipped_path
from navarena.episodes.compact import write_list

SPLITS = ("mini", "lite", "val", "test")


def main(protocols: list[str]) -> None:
    """Write the lists of `protocols`, or of all, and say what they are."""
    for protocol in protocols or RECIPES.names():
        recipe = get_recipe(protocol)
        if recipe.shares:
            continue
        for split in SPLITS:
            dataset = make_split(recipe, split, recipe.default_dataset)
            path = shipped_path(recipe, split, recipe.default_dataset)
            path.parent.mkdir(parents=True, exist_ok=True)
            write_list(dataset, path, recipe.words)
            print(
                f"{protocol} {split}: {len(dataset)} episodes, {dataset.dropped} dropped, "
                f"{path.stat().st_size} bytes, hash {dataset.hash}",
                flush=True,
            )


if __name__ == "__main__":
    main(sys.argv[1:])
