"""Encoder of colours and the goal's image by the binocular network, beside the small encoder."""

from collections.abc import Sequence

from navarena.core.errors import InputError
from navarena.learning.inputs import GOAL_IMAGE, InputSpec
from navarena.learning.networks.binocular import BinocularNetwork, count_patches
from navarena.learning.networks.encoders import Encoder, ObservationEncoder, name_frozen
from navarena.learning.settings import PolicySettings
from navarena.learning.tensors import Tensor, Tree, torch, working_dtype

SIGHT = "rgb"
"""The sensor whose image attends to the goal's."""

TOKEN_FEATURES = 16
"""Numbers to which a token is compressed before all tokens are joined."""

ROWS = 64
"""Images that a processor encodes at once: what lies between layers then stays in its cache."""

MAX_KEPT = 1024
"""Images of goals whose tokens are kept while acting."""


class BinocularEncoder(Encoder):
    """Colours that attend to the goal's image, beside all inputs but this one through an ObservationEncoder.

    A layer compresses each token of the observation, and another one all of them together, so that it is not
    lost where in the image the goal is. Equal images of goals are encoded once. While acting their tokens are
    kept until the weights change: once for each sub-task.

    Args:
        inputs: "rgb", "image_goal" and others.
        settings: sizes; with encoder.frozen_binocular the binocular network does not learn.

    Raises InputError without either image, for images that do not have the network's size, and as
    ObservationEncoder.
    """

    def __init__(self, inputs: Sequence[InputSpec], settings: PolicySettings) -> None:
        super().__init__()
        sizes, shapes = settings.encoder.binocular_network, {one.name: one.shape for one in inputs}
        if not {SIGHT, GOAL_IMAGE} <= set(shapes):
            raise InputError(
                f"expected {SIGHT} and {GOAL_IMAGE} among the sensors of a binocular encoder, got "
                f"{', '.join(shapes)}; name them by --set sensors= on a protocol of goal images, such as "
                "instance-imagenav-v1, or leave it out (policy.encoder.binocular=)"
            )
        if shapes[GOAL_IMAGE][:2] != (sizes.side,) * 2:
            height, width = shapes[SIGHT][:2]
            raise InputError(
                f"expected images whose longer side has the {sizes.side} pixels of the binocular network, "
                f"got {width} x {height}; set image_size, or train one of that size (navarena train "
                f"cross-view-small --set network.side={max(height, width)})"
            )
        self._freezes = settings.encoder.frozen_binocular
        unit_goals = settings.encoder.goals == "unit"
        others = [one for one in inputs if one.name != GOAL_IMAGE]
        self.others = ObservationEncoder(
            others, settings.image_features, settings.number_features, unit_goals
        )
        self.binocular = BinocularNetwork(sizes).requires_grad_(not self._freezes)
        rows, columns = (count_patches(side, sizes) for side in shapes[SIGHT][:2])
        self.compression = torch.nn.Sequential(
            torch.nn.Linear(sizes.width, TOKEN_FEATURES),
            torch.nn.ReLU(),
            torch.nn.Flatten(),
            torch.nn.Linear(TOKEN_FEATURES * rows * columns, settings.image_features),
            torch.nn.ReLU(),
        )
        self.features = self.others.features + settings.image_features
        if self._freezes:
            self.frozen = (InputSpec(name_frozen(SIGHT), (rows * columns, sizes.width), "float32"),)
        self._kept: tuple[tuple[object, ...], dict[bytes, Tensor]] = ((), {})

    def forward(self, observations: Tree) -> Tensor:
        tokens = observations.get(name_frozen(SIGHT))
        if tokens is None:
            tokens = self._see(observations)
        return torch.cat((self.compression(tokens), self.others(observations)), 1)

    def see_frozen(self, observations: Tree) -> Tree:
        if not self._freezes:
            return {}
        with torch.no_grad():
            return {name_frozen(SIGHT): self._see(observations).float()}

    def _see(self, observations: Tree) -> Tensor:
        """(B, K, W) tokens of what is seen, which have attended to the goal's."""
        images, goals = observations[SIGHT], self._encode_goals(observations[GOAL_IMAGE])
        rows = ROWS if images.device.type == "cpu" else max(len(images), 1)
        parts = zip(images.split(rows), goals.split(rows))
        return torch.cat([self.binocular.cross(self.binocular.encode(one), goal) for one, goal in parts])

    def _encode_goals(self, goals: Tensor) -> Tensor:
        """(B, L, W) tokens of `goals` (B, S, S, 3) uint8: equal ones are encoded once."""
        keys = [one.tobytes() for one in goals.cpu().numpy()]
        rows = {key: row for row, key in reversed(list(enumerate(keys)))}
        if torch.is_grad_enabled():
            places = {key: place for place, key in enumerate(rows)}
            tokens = self._encode(goals, list(rows.values()))
            return tokens[torch.tensor([places[key] for key in keys], device=goals.device)]
        kept = self._find_kept(goals)
        known = {key: kept[key] for key in rows if key in kept}
        fresh = {key: row for key, row in rows.items() if key not in known}
        if fresh:
            made = dict(zip(fresh, self._encode(goals, list(fresh.values())).unbind()))
            known |= made
            kept |= made
        return torch.stack([known[key] for key in keys])

    def _encode(self, goals: Tensor, rows: list[int]) -> Tensor:
        """(K, L, W) tokens of K rows of `goals` (B, S, S, 3)."""
        wanted = goals[torch.tensor(rows, device=goals.device)]
        size = ROWS if goals.device.type == "cpu" else len(wanted)
        return torch.cat([self.binocular.encode(part) for part in wanted.split(size)])

    def _find_kept(self, goals: Tensor) -> dict[bytes, Tensor]:
        """Image of a goal -> its tokens by the present weights; emptied when it is full."""
        versions = sum(one._version for one in self.binocular.parameters())
        now = (versions, str(goals.device), working_dtype(goals.device))
        of, kept = self._kept
        if of != now or len(kept) > MAX_KEPT:
            kept = {}
            self._kept = now, kept
        return kept
