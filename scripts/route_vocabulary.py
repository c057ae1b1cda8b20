"""Writes the words of the instructions in the train split of r2r-houses-v1, most frequent first.

Run it when houses or grammar have changed: .venv/bin/python scripts/route_vocabulary.py [WORKERS]
"""

import sys
from pathlib import Path

import navarena.episodes.language.vocabulary as module
from navarena.episodes.lazy import SceneEpisodes
from navarena.episodes.recipe import Stream
from navarena.episodes.route_sets import find_route_split
from navarena.episodes.routes import R2R_CE_V1, ROUTE_SET

OUT = Path(module.__file__).parent / "route_vocabulary.txt"


def main() -> None:
    """Make every instruction of the split and count the words."""
    split = find_route_split("train")
    stream = Stream(ROUTE_SET, "train")
    episodes = SceneEpisodes(R2R_CE_V1, split.scenes, split.paths * R2R_CE_V1.wordings, stream)
    episodes.make_all(int(sys.argv[1]) if len(sys.argv) > 1 else 1)
    vocabulary = module.Vocabulary.of(episode.goal.instruction for episode in episodes)
    OUT.write_text("\n".join(vocabulary.words) + "\n", encoding="utf-8")
    print(f"{len(vocabulary.words)} words written to {OUT}")


if __name__ == "__main__":
    main()
