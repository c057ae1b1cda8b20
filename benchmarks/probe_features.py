"""Linear probes on houses: which classes are in an image, read from frozen features and from histograms.

    python benchmarks/probe_features.py [HOUSES IMAGES]

Fits on three quarters of HOUSES train houses (40 by default) with IMAGES of each (20), scores on the others.
Needs the extras `learn` and `trunk`.
"""

import sys

import numpy as np
from navarena.learning.perception.vocabularies import class_names

from navarena.learning.perception.choosing import count_classes
from navarena.learning.perception.images import load_images
from navarena.learning.perception.lite0 import find_trunk
from navarena.learning.perception.probing import (
    average_precision,
    describe_by_histograms,
    fit_probe,
    score_probe,
)
from navarena.learning.perception.settings import ImageSettings

MIN_SHARE = 0.01
"""Of the pixels, from which on a class counts as present."""


def main(houses: int = 40, images: int = 20) -> None:
    settings = ImageSettings()
    names = class_names(settings.vocabulary)
    drawn = [load_images(settings, "train", number) for number in range(houses)]
    picked = np.linspace(0, settings.images - 1, images).astype(int)
    shares = [count_classes(one.classes[picked], len(names)) / one.classes[0].size for one in drawn]
    present = np.concatenate(shares)[:, 1:] >= MIN_SHARE
    trunk = find_trunk()
    found = {"Lite0": [], "histograms": []}
    for one in drawn:
        rgb = np.ascontiguousarray(one.rgb[picked])
        found["Lite0"].append(trunk.load_or_encode(rgb).astype(np.float32))
        found["histograms"].append(describe_by_histograms(rgb))
    split = houses * 3 // 4 * images
    table = {}
    for kind, parts in found.items():
        features = np.concatenate(parts)
        best = np.zeros(0)
        for penalty in (0.1, 1.0, 10.0):  # the best of each kind, so that neither is favoured
            scores = score_probe(fit_probe(features[:split], present[:split], penalty), features[split:])
            found_now = [average_precision(scores[:, k], present[split:, k]) for k in range(len(names) - 1)]
            if not len(best) or np.nanmean(found_now) > np.nanmean(best):
                best = np.array(found_now)
        table[kind] = best
    table["chance"] = present[split:].mean(0)
    print(f"{'class':18}" + "".join(f"{kind:>12}" for kind in table))
    for k, name in enumerate(names[1:]):
        print(f"{name:18}" + "".join(f"{100 * row[k]:12.1f}" for row in table.values()))
    print(f"{'mean':18}" + "".join(f"{100 * np.nanmean(row):12.1f}" for row in table.values()))


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
