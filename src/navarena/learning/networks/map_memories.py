"""Map memories: features are written at the body's place, and a window around it is read.

The map of each slot is a part of the state. It is not stored for each step of a rollout: learning takes the
map before the rollout and writes it anew, with the present weights, as it does with other recurrent states.
So memory does not grow with the steps: a map of features of 275 cells takes 9.7 MB a slot, one of 61 cells
0.48 MB, a map of recognised classes 0.09 MB. Windows of 51 cells, stored as float16, would take 0.17 MB for
each step.

What was written in earlier steps is constant; gradients reach the features of the step itself, where they
win.
"""

import math
from dataclasses import replace

from navarena.learning.inputs import InputSpec
from navarena.learning.networks.attention import POSE
from navarena.learning.networks.map_encoder import MapEncoder
from navarena.learning.networks.map_windows import (
    BLOCK,
    INNER_SIDE,
    Windows,
    read_own,
    split_blocks,
    write_and_read,
)
from navarena.learning.networks.memories import Memory, RecurrentMemory
from navarena.learning.networks.neural_map_settings import PROJECTED_CHANNELS, PROJECTION, RECOGNISED
from navarena.learning.networks.neural_maps import find_oracle_cells, read_classes, turn_maps
from navarena.learning.networks.window_encoder import MapQuery, WindowEncoder
from navarena.learning.settings import PolicySettings
from navarena.learning.tensors import Tensor, Tree, reset_rows, torch
from navarena.mapping.feature_map import EGO_CELLS
from navarena.mapping.oracle_map import CELLS as ORACLE_CELLS
from navarena.mapping.oracle_map import WINDOW as ORACLE_WINDOW

MAP = "map"
"""Name in a state: (N, cells * cells, 32) float32 features, or (N, 300 * 300) uint8 classes + 1, 0 for
none."""


class ProjectedMapMemory(Memory):
    """The memory of MultiON's ProjNeuralMap: a GRU that reads a window of a map of features.

    Inputs of a step: the pose, the projection, the image's features, everything else. The GRU takes the
    image's features, those of the window, everything else.

    Args:
        inputs: features per step.
        settings: sizes; of kind "queried" the output has what was asked for besides (EgoMap).
    """

    def __init__(self, inputs: int, settings: PolicySettings) -> None:
        super().__init__()
        self._map, self._image = settings.neural_map, settings.image_features
        self._written = POSE + PROJECTION
        self.window_encoder = WindowEncoder(settings.encoder.map_features)
        size = inputs - self._written + settings.encoder.map_features
        self.recurrent = RecurrentMemory(size, settings.hidden, settings.layers, "gru")
        self.query: MapQuery | None = None
        self.features = settings.hidden
        if self._map.kind == "queried":
            self.query = MapQuery(settings.hidden + settings.encoder.map_features)
            self.features += self.query.features

    def initial_state(self, slots: int) -> Tree:
        device = self.window_encoder.layers[0].weight.device
        empty = torch.zeros(slots, self._map.cells**2, PROJECTED_CHANNELS, device=device)
        return self.recurrent.initial_state(slots) | {MAP: empty}

    def step(self, features: Tensor, state: Tree, mask: Tensor) -> tuple[Tensor, Tree]:
        outputs, after = self._unroll(features[None], state, mask[None], adds_projection=False)
        return outputs[0], after

    def unroll(self, features: Tensor, state: Tree, mask: Tensor) -> tuple[Tensor, Tree]:
        """Equal to repeated `step` up to rounding; with reading "code" it reads other windows than acting."""
        return self._unroll(features, state, mask, adds_projection=self._map.reading == "code")

    def _unroll(
        self, features: Tensor, state: Tree, mask: Tensor, adds_projection: bool
    ) -> tuple[Tensor, Tree]:
        poses, projections, image, rest = features.split(
            (POSE, PROJECTION, self._image, features.shape[2] - self._written - self._image), 2
        )
        poses = poses.detach()  # measured, not learned
        flat = projections.float().reshape(-1, EGO_CELLS, EGO_CELLS, PROJECTED_CHANNELS)
        turns = poses[..., 2].flatten()
        with torch.no_grad():
            turned = turn_maps(flat, turns, EGO_CELLS)
            if self._map.reading == "code":
                turned = turn_maps(turned, turns, EGO_CELLS)
            maps = _copy_maps(state[MAP], mask[0])
            windows, wins = write_and_read(
                maps.flatten(0, 1), turned.flatten(1, 2), poses, mask, self._map.cells, adds_projection
            )
        if adds_projection:
            windows = add_projection(windows, turn_maps(flat, -turns, EGO_CELLS))
        elif torch.is_grad_enabled() and flat.requires_grad:
            windows = replace(windows, own=read_own(flat.flatten(1, 2), windows, wins, turns))
        read = self.window_encoder(windows).unflatten(0, mask.shape)
        outputs, own = self.recurrent.unroll(torch.cat((image, read, rest), 2), state, mask)
        if self.query is not None:
            asked = torch.cat((outputs, read), 2).flatten(0, 1)
            outputs = torch.cat((outputs, self.query(asked, windows).unflatten(0, mask.shape)), 2)
        return outputs, own | {MAP: maps}


class RecognisedMapMemory(Memory):
    """The memory of MultiON's ObjRecogMap: a GRU that reads a map of the classes that were recognised.

    Inputs of a step: the pose, the recognised class, the current goal's class, everything else. The GRU takes
    features of the window, then everything else. The table of classes learns, since it is read, not written.

    Args:
        inputs: features per step.
        settings: sizes.
    """

    def __init__(self, inputs: int, settings: PolicySettings) -> None:
        super().__init__()
        self._map = settings.neural_map
        categories = (self._map.classes + 1,)
        window = InputSpec(MAP, (ORACLE_WINDOW, ORACLE_WINDOW, 1), "uint8", categories=categories)
        self.window_encoder = MapEncoder(window, settings.encoder)
        size = inputs - POSE - RECOGNISED + settings.encoder.map_features
        self.recurrent = RecurrentMemory(size, settings.hidden, settings.layers, "gru")
        self.features = settings.hidden

    def initial_state(self, slots: int) -> Tree:
        device = self.recurrent.cells.weight_ih_l0.device
        empty = torch.zeros(slots, ORACLE_CELLS**2, dtype=torch.uint8, device=device)
        return self.recurrent.initial_state(slots) | {MAP: empty}

    def step(self, features: Tensor, state: Tree, mask: Tensor) -> tuple[Tensor, Tree]:
        outputs, after = self.unroll(features[None], state, mask[None])
        return outputs[0], after

    def unroll(self, features: Tensor, state: Tree, mask: Tensor) -> tuple[Tensor, Tree]:
        """Equal to repeated `step` up to rounding."""
        known, rest = features[..., : POSE + RECOGNISED].detach(), features[..., POSE + RECOGNISED :]
        maps = reset_rows({MAP: state[MAP]}, mask[0])[MAP]
        windows = []
        for step, (keep, now) in enumerate(zip(mask, known)):
            if step and not keep.all():
                maps[~keep] = 0
            own, recognised = find_oracle_cells(now), now[:, POSE].long()
            inside = ((own >= 0) & (own < ORACLE_CELLS)).all(1)
            rows = torch.nonzero(inside & (recognised < self._map.classes))[:, 0]
            places = own[rows, 0] * ORACLE_CELLS + own[rows, 1]
            maps[rows, places] = (recognised[rows] + 1).to(maps.dtype)
            windows.append(read_classes(maps, own, now[:, 2], ORACLE_WINDOW))
        window = torch.cat(windows)
        if self._map.current_only:
            window = window * (window == known[..., POSE + 1].flatten()[:, None, None, None] + 1)
        read = self.window_encoder(window).unflatten(0, mask.shape)
        outputs, own_state = self.recurrent.unroll(torch.cat((read, rest), 2), state, mask)
        return outputs, own_state | {MAP: maps}


def add_projection(windows: Windows, projections: Tensor) -> Windows:
    """`windows` with all inner blocks, whose middles are raised to `projections` (B, 13, 13, F)."""
    edge = (INNER_SIDE * BLOCK - EGO_CELLS) // 2
    wide = torch.nn.functional.pad(projections, (0, 0, edge, edge, edge, edge), value=-math.inf)
    inner = torch.maximum(windows.values[windows.inner], split_blocks(wide).flatten(0, 1))
    values = windows.values.index_copy(0, windows.inner, inner.detach())
    return replace(windows, values=values, own=inner)


def _copy_maps(maps: Tensor, mask: Tensor) -> Tensor:
    """A copy of `maps` (N, cells * cells, F), 0 where `mask` (N,) is False."""
    copied = maps.clone()
    if not mask.all():
        copied[~mask] = 0.0
    return copied
