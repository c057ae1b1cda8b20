"""Navigation graphs: places, edges, geodesics, panoramas and their features."""

from navarena.scenes.graphs.atlas import GraphAtlas
from navarena.scenes.graphs.candidates import Candidates, build_candidates, navigable_locations
from navarena.scenes.graphs.features import (
    Hdf5Features,
    StoredFeatures,
    ViewFeatures,
    load_features,
    load_tsv_features,
)
from navarena.scenes.graphs.graph import NavGraph
from navarena.scenes.graphs.matterport import Connectivity, parse_connectivity
from navarena.scenes.graphs.panorama import angle_feature, bearings, panorama_angles, view_index

__all__ = [
    "Candidates",
    "Connectivity",
    "GraphAtlas",
    "Hdf5Features",
    "NavGraph",
    "StoredFeatures",
    "ViewFeatures",
    "angle_feature",
    "bearings",
    "build_candidates",
    "load_features",
    "load_tsv_features",
    "navigable_locations",
    "panorama_angles",
    "parse_connectivity",
    "view_index",
]
