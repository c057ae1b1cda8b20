"""The splits of GOAT-Bench in `houses-v1` (spec ivln_goat 4.1).

| split             | names asked for            | houses             | episodes        |
|-------------------|----------------------------|--------------------|-----------------|
| train             | of training                | the first 145 of train | 5,000 in each |
| val_seen          | some of training           | the first 36 of val    | 10 in each    |
| val_seen_synonyms | other names of seen objects | the same               | 10 in each    |
| val_unseen        | of objects no train house has | the same             | 10 in each    |

`<split>_lite` are the first two episodes of each of the 36 houses, `<split>_mini` those of the first four.
`val`, `lite` and `mini` are those of val_seen.
"""

from collections.abc import Mapping

from navarena.episodes.recipe import SplitSize

TRAIN_HOUSES = 145
VAL_HOUSES = 36
MINI_HOUSES = 4
TRAIN_EPISODES = 5_000
VAL_EPISODES = 10
LITE_EPISODES = 2
BLOCK = 50

VAL_SPLITS = ("val_seen", "val_seen_synonyms", "val_unseen")


def _parts_of(split: str, prefix: str) -> dict[str, SplitSize]:
    """The lite and mini lists of a split."""
    return {
        f"{prefix}lite": SplitSize(LITE_EPISODES, split, VAL_HOUSES, scenes_of="val"),
        f"{prefix}mini": SplitSize(LITE_EPISODES, split, MINI_HOUSES, scenes_of="val"),
    }


def _make_splits() -> dict[str, SplitSize]:
    splits = {
        "train": SplitSize(TRAIN_EPISODES, scenes=TRAIN_HOUSES, block=BLOCK, scenes_of="train"),
        "val": SplitSize(VAL_EPISODES, "val_seen", VAL_HOUSES, scenes_of="val"),
        **_parts_of("val_seen", ""),
    }
    for split in VAL_SPLITS:
        splits[split] = SplitSize(VAL_EPISODES, scenes=VAL_HOUSES, scenes_of="val")
        splits |= _parts_of(split, f"{split}_")
    return splits


GOAT_EPISODE_SPLITS: Mapping[str, SplitSize] = _make_splits()
