"""Networks of instruction followers: images and maps as places to attend to, and cross-modal attention."""

from collections.abc import Sequence
from typing import NamedTuple

from navarena.core.errors import InputError
from navarena.learning.inputs import TOKENS, InputSpec
from navarena.learning.networks.encoders import Encoder, name_frozen
from navarena.learning.networks.follower_settings import FollowerSettings
from navarena.learning.networks.instructions import (
    NO_WORDS,
    InstructionEncoder,
    attend_words,
    code_instructions,
)
from navarena.learning.networks.memories import Memory, RecurrentMemory
from navarena.learning.networks.resnet import ResNet
from navarena.learning.tensors import Tensor, Tree, reset_rows, torch

SIDE = 4
"""Places on a side of an image or map to which queries attend."""


class View(NamedTuple):
    """Attended features of one image or map.

    Attributes:
        name: of the input.
        channels: of each place.
        is_mean: whether the places' mean makes its vector; else all of them do.
        features: of its vector.
        values: of what attention finds.
    """

    name: str
    channels: int
    is_mean: bool
    features: int
    values: int


class FollowerEncoder(Encoder):
    """The tokens of the instruction, and 16 places of every image and map, in one vector for FollowerMemory.

    Args:
        inputs: the tokens, and any of "rgb", "depth" and one semantic map.
        settings: sizes.

    Attributes:
        features: length of the vectors.
        views: what the vectors hold behind the tokens, in order.
        length: T, of the tokens.

    Raises InputError for other inputs.
    """

    def __init__(self, inputs: Sequence[InputSpec], settings: FollowerSettings) -> None:
        super().__init__()
        tokens = [one for one in inputs if one.name == TOKENS]
        others = [one for one in inputs if one.name != TOKENS]
        if len(tokens) != 1 or not others or not all(one.is_semantic_map or one.is_image for one in others):
            raise InputError(
                f"expected {TOKENS} and images or maps for memory=cma, got {[one.name for one in inputs]}"
            )
        self._settings, self.length = settings, tokens[0].shape[0]
        self.networks, self.positions, views = torch.nn.ModuleDict(), torch.nn.ParameterDict(), []
        for one in others:
            network = (
                _MapNetwork(one, settings) if one.is_semantic_map else _make_image_network(one, settings)
            )
            self.networks[one.name] = network
            channels = network.features
            if not one.is_semantic_map:
                self.positions[one.name] = torch.nn.Parameter(torch.randn(settings.positions, SIDE * SIDE))
                channels += settings.positions
            is_depth = one.is_image and one.shape[2] == 1
            views.append(
                View(
                    one.name,
                    channels,
                    one.is_image and not is_depth,
                    settings.depth_features if is_depth else settings.view_features,
                    settings.depth_values if is_depth else settings.keys,
                )
            )
        self.views = tuple(views)
        self.frozen = tuple(
            InputSpec(name_frozen(name), (network.features, SIDE, SIDE), "float32")
            for name, network in self.networks.items()
            if isinstance(network, _FrozenImageNetwork)
        )
        self.features = self.length + sum(one.channels * SIDE * SIDE for one in views)

    def forward(self, observations: Tree) -> Tensor:
        """(B, features) float32 of name -> (B, ...): tokens, then channels x places of each view."""
        tokens = observations[TOKENS].float()
        parts = [torch.zeros_like(tokens) if "instruction" in self._settings.blank else tokens]
        for one in self.views:
            places = self._see(one.name, observations).float().flatten(2)
            if "vision" in self._settings.blank:
                places = torch.zeros_like(places)
            if one.name in self.positions:
                where = self.positions[one.name].expand(len(places), -1, -1)
                places = torch.cat((places, where), 1)
            parts.append(places.flatten(1))
        return torch.cat(parts, 1)

    def see_frozen(self, observations: Tree) -> Tree:
        names = [name for name in self.networks if name_frozen(name) in [one.name for one in self.frozen]]
        return {name_frozen(name): self.networks[name](observations[name]).float() for name in names}

    def _see(self, name: str, observations: Tree) -> Tensor:
        """(B, features, SIDE, SIDE) of the image or map `name`."""
        kept = observations.get(name_frozen(name))
        return self.networks[name](observations[name]) if kept is None else kept


def _make_image_network(one: InputSpec, settings: FollowerSettings) -> torch.nn.Module:
    if settings.images == "small":
        return _SmallImageNetwork(one)
    return _FrozenImageNetwork(one)


class _SmallImageNetwork(torch.nn.Module):
    """Kernels 8, 4, 3 with strides 4, 2, 1: 64 x 64 pixels become 64 x 4 x 4; other sizes are averaged."""

    features = 64

    def __init__(self, one: InputSpec) -> None:
        super().__init__()
        if min(one.shape[:2]) < 36:
            raise InputError(f"expected {one.name} of at least 36 x 36 pixels, got {one.shape}")
        self.layers = torch.nn.Sequential(
            torch.nn.Conv2d(one.shape[2], 32, 8, 4),
            torch.nn.ReLU(inplace=True),
            torch.nn.Conv2d(32, 64, 4, 2),
            torch.nn.ReLU(inplace=True),
            torch.nn.Conv2d(64, self.features, 3),
            torch.nn.ReLU(inplace=True),
        )

    def forward(self, images: Tensor) -> Tensor:
        values = images.float() / 255 if images.dtype == torch.uint8 else images.float()
        found = self.layers(values.permute(0, 3, 1, 2))
        is_right = found.shape[2:] == (SIDE, SIDE)
        return found if is_right else torch.nn.functional.adaptive_avg_pool2d(found, SIDE)


class _FrozenImageNetwork(torch.nn.Module):
    """VLN-CE's networks, which do not learn: ImageNet's ResNet-50 of colours, DD-PPO's of depth."""

    def __init__(self, one: InputSpec) -> None:
        super().__init__()
        self._is_depth = one.shape[2] == 1
        self.features = 128 if self._is_depth else 2048
        self.trunk = ResNet(1, 32, 50, "group") if self._is_depth else ResNet(3, 64, 50, "batch")
        self.compression: torch.nn.Module = torch.nn.Identity()
        if self._is_depth:
            self.compression = torch.nn.Sequential(
                torch.nn.Conv2d(self.trunk.features, self.features, 3, padding=1, bias=False),
                torch.nn.GroupNorm(1, self.features),
                torch.nn.ReLU(inplace=True),
            )
        self.requires_grad_(False)
        self.train()

    def train(self, mode: bool = True) -> "_FrozenImageNetwork":
        """Set the training mode, but keep frozen parts in evaluation mode."""
        return super().train(False)

    def forward(self, images: Tensor) -> Tensor:
        with torch.no_grad():
            values = images.float() / 255 if images.dtype == torch.uint8 else images.float()
            values = values.permute(0, 3, 1, 2)
            if self._is_depth:
                values = torch.nn.functional.avg_pool2d(values, 2)
            found = self.compression(self.trunk(values))
            return torch.nn.functional.adaptive_avg_pool2d(found, SIDE)


class _MapNetwork(torch.nn.Module):
    """Convolutions over the planes of a semantic map, each with group normalisation, ReLU and a halving.

    The reference normalises over batches, whose statistics padded steps enter (map_cma_policy.py).
    """

    def __init__(self, one: InputSpec, settings: FollowerSettings) -> None:
        super().__init__()
        times = one.shape[1] // settings.map_side
        self._blank, self._halvings = settings.blank, max(0, times.bit_length() - 1)
        if one.shape[1:] != (settings.map_side << self._halvings,) * 2:
            raise InputError(
                f"expected a square map of {settings.map_side} cells, or of 2, 4, 8, ... times as many on a "
                f"side, got {one.shape[1:]}"
            )
        layers: list[torch.nn.Module] = []
        channels, side = one.shape[0], settings.map_side
        for width in settings.map_channels:
            layers += [
                torch.nn.Conv2d(channels, width, settings.map_kernel, padding=settings.map_kernel // 2),
                torch.nn.GroupNorm(min(16, width), width),
                torch.nn.ReLU(inplace=True),
                _Halve(side),
            ]
            channels, side = width, side // 2
        if side != SIDE:
            raise InputError(f"expected as many map_channels as leave {SIDE} x {SIDE} places, got {side}")
        self.layers, self.features = torch.nn.Sequential(*layers), channels

    def forward(self, maps: Tensor) -> Tensor:
        for _ in range(self._halvings):
            # of whole numbers, before they become floats: PyTorch's max_pool2d takes ten times as long
            maps = torch.maximum(maps[..., ::2, :], maps[..., 1::2, :])
            maps = torch.maximum(maps[..., ::2], maps[..., 1::2])
        values = maps.float()
        if "occupancy" in self._blank:
            values = torch.cat((torch.zeros_like(values[:, :1]), values[:, 1:]), 1)
        if "semantics" in self._blank:
            values = torch.cat((values[:, :1], torch.zeros_like(values[:, 1:])), 1)
        return self.layers(values)


class _Halve(torch.nn.Module):
    """Means of 2 x 2 cells of (B, C, side, side), as one product of matrices: faster than avg_pool2d."""

    def __init__(self, side: int) -> None:
        super().__init__()
        half = torch.eye(side // 2).repeat_interleave(2, 0) / 4
        self.register_buffer("means", torch.cat((half, half)), persistent=False)

    def forward(self, values: Tensor) -> Tensor:
        batch, channels, rows, columns = values.shape
        pairs = values.reshape(-1, 2 * columns) @ self.means.to(values.dtype)
        return pairs.view(batch, channels, rows // 2, columns // 2)


class FollowerMemory(Memory):
    """Cross-modal attention: a GRU over observations attends to the words, which attend to image places.

    A second GRU over everything found makes the output (VLN-CE, models/cma_policy.py; IVLN-CE,
    latent_cma_policy.py and map_cma_policy.py). The states are "vision" and "hidden" (N, 1, H),
    "instruction" (N,) int64 and, where it is pooled, "pool" (N, H). Where the instruction changes, also when
    an oracle leads and hides it, states begin anew that last for an episode; those that are pooled over the
    tour, and so read in later episodes, begin anew at each step of an oracle (IVLN-CE, latent_cma_policy.py).

    Args:
        encoder: whose vectors begin the features; what is behind belongs to the previous action.
        inputs: F, length of the features.
        hidden: H.
        settings: sizes.
    """

    def __init__(
        self, encoder: FollowerEncoder, inputs: int, hidden: int, settings: FollowerSettings
    ) -> None:
        super().__init__()
        self._views, self._length, self._tour = encoder.views, encoder.length, settings.tour
        self._action, self._hidden, self.features = inputs - encoder.features, hidden, hidden
        self._keys = settings.keys
        self.text = InstructionEncoder(settings)
        words = self.text.features
        self.vectors, self.places = torch.nn.ModuleDict(), torch.nn.ModuleDict()
        for one in self._views:
            size = one.channels if one.is_mean else one.channels * SIDE * SIDE
            self.vectors[one.name] = torch.nn.Sequential(torch.nn.Linear(size, one.features), torch.nn.ReLU())
            self.places[one.name] = torch.nn.Linear(one.channels, settings.keys + one.values)
        seen = sum(one.features for one in self._views) + self._action
        self._pools = settings.tour in ("pool", "pool_end")
        self._is_told = "instruction" not in settings.blank
        self.vision = RecurrentMemory(seen + self._pools * hidden, hidden, 1, "gru")
        self.word_keys = torch.nn.Linear(words, settings.keys)
        self.state_queries = torch.nn.Linear(hidden, settings.keys)
        self.word_queries = torch.nn.Linear(words, settings.keys)
        found = hidden + words + sum(one.values for one in self._views) + self._action
        self.join = torch.nn.Sequential(torch.nn.Linear(found, hidden), torch.nn.ReLU())
        self.memory = RecurrentMemory(hidden, hidden, 1, "gru")
        self.end = None
        if settings.tour == "pool_end":
            self.end = torch.nn.Sequential(torch.nn.Linear(2 * hidden, hidden), torch.nn.ReLU())

    def initial_state(self, slots: int) -> Tree:
        device = self.word_keys.weight.device
        zeros = torch.zeros(slots, 1, self._hidden, device=device)
        state = {"vision": zeros, "hidden": zeros.clone()}
        if self._tour != "both":
            state["instruction"] = torch.zeros(slots, dtype=torch.int64, device=device)
        if self._pools:
            state["pool"] = torch.zeros(slots, self._hidden, device=device)
        return state

    def step(self, features: Tensor, state: Tree, mask: Tensor) -> tuple[Tensor, Tree]:
        outputs, after = self.unroll(features[None], state, mask[None])
        return outputs[0], after

    def unroll(self, features: Tensor, state: Tree, mask: Tensor) -> tuple[Tensor, Tree]:
        steps, slots = mask.shape
        flat = features.flatten(0, 1)
        tokens, rest = flat[:, : self._length].long(), flat[:, self._length :]
        codes = code_instructions(tokens)
        texts = self.text(tokens, codes)
        vectors, places = [], {}
        for one in self._views:
            size = one.channels * SIDE * SIDE
            seen, rest = rest[:, :size].reshape(-1, one.channels, SIDE * SIDE), rest[:, size:]
            vectors.append(self.vectors[one.name](seen.mean(2) if one.is_mean else seen.flatten(1)))
            places[one.name] = self.places[one.name](seen.transpose(1, 2))
        seen = torch.cat((*vectors, rest), 1).reshape(steps, slots, -1)
        same, after = self._find_kept(codes.reshape(steps, slots), state, mask)
        vision, pools, changed = self._see(seen, state, mask, same)
        heard = attend_words(self.state_queries(vision.flatten(0, 1)), self.word_keys(texts.words), texts)
        query = self.word_queries(heard)
        found = [vision.flatten(0, 1), heard]
        found += [_attend_places(query, places[one.name], self._keys) for one in self._views]
        joined = self.join(torch.cat((*found, rest), 1)).reshape(steps, slots, -1)
        outputs, last = self.memory.unroll(joined, {"hidden": state["hidden"]}, same)
        if self.end is not None:
            outputs = self.end(torch.cat((outputs, pools), -1))
        return outputs, after | changed | {"hidden": last["hidden"]}

    def _find_kept(self, codes: Tensor, state: Tree, mask: Tensor) -> tuple[Tensor, Tree]:
        """(T, N) bool: steps that continue the states of the step before; and the flag for the next step."""
        if "instruction" not in state:
            return mask, {}
        before = torch.cat((state["instruction"][None], codes[:-1]))
        same = mask & (codes == before)
        if self._pools and self._is_told:
            same = same & (codes != NO_WORDS)
        return same, {"instruction": codes[-1]}

    def _see(self, seen: Tensor, state: Tree, mask: Tensor, same: Tensor) -> tuple[Tensor, Tensor, Tree]:
        """Outputs (T, N, H) of the first GRU, the pools (T, N, H) before each step, and the state after."""
        own = {"hidden": state["vision"]}
        if not self._pools:
            lasts = mask if self._tour == "vision" else same
            outputs, last = self.vision.unroll(seen, own, lasts)
            return outputs, outputs, {"vision": last["hidden"]}
        pool, outputs, pools = state["pool"], [], []
        for given, keep, goes_on in zip(seen, mask, same):
            pool = reset_rows({"pool": pool}, keep)["pool"]
            output, own = self.vision.step(torch.cat((given, pool), 1), own, goes_on)
            outputs.append(output)
            pools.append(pool)
            pool = torch.maximum(pool, output.detach())
        return torch.stack(outputs), torch.stack(pools), {"vision": own["hidden"], "pool": pool}


def _attend_places(query: Tensor, places: Tensor, keys: int) -> Tensor:
    """(B, V): values of `places` (B, P, keys + V), keys first, weighted by how they fit `query` (B, keys)."""
    weights = (places[..., :keys] @ query[:, :, None])[..., 0] / keys**0.5
    return (weights.softmax(-1)[:, None] @ places[..., keys:])[:, 0]
