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

from navarena.learning.inputs import InputSpec
from navarena.learning.networks.attention import POSE
from navarena.learning.networks.encoders import start_as_multion
from navarena.learning.networks.map_encoder import MapEncoder
from navarena.learning.networks.memories import Memory, RecurrentMemory
from navarena.learning.networks.neural_map_settings import PROJECTED_CHANNELS, PROJECTION, RECOGNISED
from navarena.learning.networks.neural_maps import (
    REACHED,
    Patches,
    find_cells,
    find_oracle_cells,
    read_classes,
    read_windows,
    turn_maps,
)
from navarena.learning.settings import PolicySettings
from navarena.learning.tensors import Tensor, Tree, reset_rows, torch
from navarena.mapping.feature_map import EGO_CELLS, WINDOW
from navarena.mapping.oracle_map import CELLS as ORACLE_CELLS
from navarena.mapping.oracle_map import WINDOW as ORACLE_WINDOW

ROWS = 64
"""Windows that a processor encodes at once: what lies between layers then stays in its cache."""

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
        turned = turn_maps(flat, turns, EGO_CELLS)
        if self._map.reading == "code":
            turned = turn_maps(turned, turns, EGO_CELLS)
        windows, wins, after = self._write_and_read(turned, poses, state[MAP], mask)
        if adds_projection:
            windows = add_projection(windows, turn_maps(flat, -turns, EGO_CELLS))
        elif torch.is_grad_enabled() and turned.requires_grad:
            windows = windows + _widen(turn_maps((turned - turned.detach()) * wins, -turns, REACHED))
        read = self.window_encoder(windows).unflatten(0, mask.shape)
        outputs, own = self.recurrent.unroll(torch.cat((image, read, rest), 2), state, mask)
        if self.query is not None:
            asked = torch.cat((outputs, read), 2).flatten(0, 1)
            outputs = torch.cat((outputs, self.query(asked, windows).unflatten(0, mask.shape)), 2)
        return outputs, own | {MAP: after}

    @torch.no_grad()
    def _write_and_read(
        self, turned: Tensor, poses: Tensor, before: Tensor, mask: Tensor
    ) -> tuple[Tensor, Tensor, Tensor]:
        """Windows (T * N, 51, 51, F), where the projections won (T * N, 13, 13, F) bool, and the last map.

        Args:
            turned: (T * N, 13, 13, F) float32 projections in the frame of the start.
            poses: (T, N, 3).
            before: (N, cells * cells, F) float32 maps before the first step.
            mask: (T, N) bool, as of `step`.
        """
        (steps, slots), cells = mask.shape, self._map.cells
        maps = reset_rows({MAP: before}, mask[0])[MAP]
        values = turned.detach().reshape(steps, slots, EGO_CELLS**2, PROJECTED_CHANNELS)
        windows, wins = [], []
        for step in range(steps):
            if step and not mask[step].all():
                maps[~mask[step]] = 0.0
            own = find_cells(poses[step], cells)
            patches = Patches(own, cells)
            wins.append(patches.keep_inside((values[step] > patches.read(maps)).float()))
            patches.raise_maps(maps, values[step])
            windows.append(read_windows(maps, own, -poses[step, :, 2], cells, WINDOW))
        shape = (-1, EGO_CELLS, EGO_CELLS, PROJECTED_CHANNELS)
        return torch.cat(windows), torch.cat(wins).reshape(shape), maps


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


def add_projection(windows: Tensor, projections: Tensor) -> Tensor:
    """`windows` (B, 51, 51, F) with their middles raised to `projections` (B, 13, 13, F)."""
    return torch.maximum(windows, _widen(projections, -math.inf))


def _widen(values: Tensor, fill: float = 0.0) -> Tensor:
    """(B, 51, 51, F): `values` (B, R, R, F) in the middle, `fill` around them."""
    edge = (WINDOW - values.shape[1]) // 2
    return torch.nn.functional.pad(values, (0, 0, edge, edge, edge, edge), value=fill)


class WindowEncoder(torch.nn.Module):
    """Windows of 51 x 51 x 32 as vectors: three convolutions and a linear layer.

    With multiON's first weights; ReLU after all but the third convolution (rl/models/simple_cnn.py).

    Args:
        features: of the output.
    """

    def __init__(self, features: int) -> None:
        super().__init__()
        self.layers = torch.nn.Sequential(
            torch.nn.Conv2d(PROJECTED_CHANNELS, 32, 6, 3),
            torch.nn.ReLU(inplace=True),
            torch.nn.Conv2d(32, 64, 4, 2),
            torch.nn.ReLU(inplace=True),
            torch.nn.Conv2d(64, 32, 2, 1),
            torch.nn.Flatten(),
            torch.nn.Linear(1152, features),
            torch.nn.ReLU(inplace=True),
        )
        start_as_multion(self.layers)

    def forward(self, windows: Tensor) -> Tensor:
        """(B, features) of `windows` (B, 51, 51, 32) float32."""
        parts = windows.split(ROWS if windows.device.type == "cpu" else len(windows))
        return torch.cat([self.layers(part.permute(0, 3, 1, 2)) for part in parts])


class MapQuery(torch.nn.Module):
    """EgoMap's attention read (Beeching et al. 2020, ego_map.py): cells weighted by similarity to a query.

    Cosine similarities of a query with all cells, sharpened by 1 + log(1 + e^s), become shares by a softmax.
    The outcome is the mean cell and its place, column and row of -1 to 1. s is a number of its own, where
    the published code takes the last one of the query.

    Args:
        inputs: of the linear layer that asks.

    Attributes:
        features: of the outcome.
    """

    def __init__(self, inputs: int) -> None:
        super().__init__()
        self.layer = torch.nn.Linear(inputs, PROJECTED_CHANNELS + 1)
        torch.nn.init.orthogonal_(self.layer.weight)
        torch.nn.init.zeros_(self.layer.bias)
        self.features = PROJECTED_CHANNELS + 2

    def forward(self, asked: Tensor, windows: Tensor) -> Tensor:
        """(B, features) float32: the read from `windows` (B, W, W, 32) for queries (B, inputs)."""
        query, sharp = self.layer(asked).float().split((PROJECTED_CHANNELS, 1), 1)
        cells = windows.flatten(1, 2)
        alike = torch.nn.functional.cosine_similarity(cells, query[:, None], 2)
        shares = torch.softmax(alike * (1.0 + torch.nn.functional.softplus(sharp)), 1)
        side = torch.linspace(-1.0, 1.0, windows.shape[1], device=windows.device)
        rows, columns = torch.meshgrid(side, side, indexing="ij")
        places = torch.stack((columns.flatten(), rows.flatten()), 1)
        context = torch.einsum("bk,bkf->bf", shares, cells)
        return torch.cat((context, shares @ places), 1)
