"""Auxiliaries: heads that predict something beside the actions, and their losses over a rollout fragment."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from navarena.core.errors import InputError, require_name
from navarena.learning.auxiliaries.losses import (
    contrast_loss,
    count_horizons,
    count_pairs,
    find_categories,
    goal_distance_loss,
    goal_mask_loss,
    inverse_dynamics_loss,
    last_steps,
    progress_loss,
    recognition_loss,
    rotation_loss,
    seen_class_loss,
    segmentation_loss,
    temporal_distance_loss,
    turn_images,
)
from navarena.learning.auxiliaries.settings import Auxiliary
from navarena.learning.inputs import InputSpec
from navarena.learning.networks.grounding import PLACE_FEATURES, GroundingNetwork
from navarena.learning.policy import Judgement, Policy, RecurrentPolicy
from navarena.learning.storage import Fragment
from navarena.learning.tensors import Tensor, torch

ACTION_FEATURES = 16
"""Of an action in CPC|A (AllenAct)."""

DISTANCE_FEATURES = 64
"""Of the layer that tells the distance to the goal."""

CONTRAST_FEATURES = 64
"""Of the layer that tells frames apart in CPC|A."""

_GROUNDING = "policy.encoder.images=grounding"

_NETWORKS = {"seen_class": "neural_map.kind=recognised", "goal_mask": _GROUNDING, "segmentation": _GROUNDING}
"""Kind -> the setting of the network that it teaches, where that is a special one."""


@dataclass
class Activations:
    """Activations of a policy that auxiliary losses read.

    Attributes:
        seen: (B, F) float32, features of the images before goals come in; of all observations where the
            encoder has no part for images alone.
        encoded: (B, E) float32, of all observations, goals included.
        beliefs: (..., H) float32, outputs of the memory.
        logits: (B, K) float32, of the classifier of the encoder where there is one.
        compared: what a GroundingNetwork compares, where there is one: (B, F, h, w) and (B, F).
    """

    seen: Tensor = None
    encoded: Tensor = None
    beliefs: Tensor = None
    logits: Tensor = None
    compared: tuple[Tensor, Tensor] | None = None


@contextmanager
def record_activations(policy: RecurrentPolicy) -> Iterator[Activations]:
    """Record the activations of `policy` within the block."""
    activations = Activations()

    def keep(name: str, as_float: bool = False) -> Callable[[object, object, Any], None]:
        def hook(module: object, given: object, output: Any) -> None:
            setattr(activations, name, output.float() if as_float else output)

        return hook

    def keep_beliefs(module: object, given: tuple[Tensor, ...]) -> None:
        activations.beliefs = given[0]

    handles = [  # products of encoders may be of bfloat16
        find_visual(policy).register_forward_hook(keep("seen", as_float=True)),
        policy.encoder.register_forward_hook(keep("encoded", as_float=True)),
        policy.critic.register_forward_pre_hook(keep_beliefs),
    ]
    classifier = dict(policy.encoder.named_children()).get("classifier")
    if classifier is not None:
        handles.append(classifier.register_forward_hook(keep("logits")))
    network = find_grounding(policy)
    if network is not None:
        handles.append(network.compared.register_forward_hook(keep("compared")))
    try:
        yield activations
    finally:
        for handle in handles:
            handle.remove()


def find_visual(policy: RecurrentPolicy) -> torch.nn.Module:
    """The encoder's image network; the whole encoder if there is none.

    What else is observed stays apart: by two poses anybody tells which action lay between two frames.
    """
    parts = dict(policy.encoder.named_children())
    return parts.get("image_encoder", parts.get("images", policy.encoder))


def find_grounding(policy: RecurrentPolicy) -> GroundingNetwork | None:
    """The encoder's network that compares images with the goal; None if there is none."""
    images = dict(policy.encoder.named_children()).get("images")
    return images if isinstance(images, GroundingNetwork) else None


class AuxiliaryHeads(torch.nn.Module):
    """The heads of the auxiliary losses of a policy, which they are attached to as `policy.auxiliaries`.

    Args:
        policy: of discrete actions where an action is predicted or predicts.
        chosen: which losses.
        inputs: what the policy sees.
        targets: what stands in the rollout beside it.
        actions: A.
        declaration: index of the action by which an episode ends.

    Raises UnknownNameError for a target that is not in the rollout, InputError for continuous actions.
    """

    def __init__(
        self,
        policy: RecurrentPolicy,
        chosen: Sequence[Auxiliary],
        inputs: Sequence[InputSpec],
        targets: Sequence[InputSpec],
        actions: int,
        declaration: int,
        is_continuous: bool = False,
    ) -> None:
        super().__init__()
        self._chosen, self._declaration = tuple(chosen), declaration
        self._images = [one.name for one in inputs if one.is_image]
        known = {one.name: one for one in (*inputs, *targets)}
        blank = {one.name: torch.zeros((1, *one.shape), dtype=getattr(torch, one.dtype)) for one in inputs}
        with torch.no_grad(), record_activations(policy) as activations:
            policy.act(blank, policy.initial_state(1), torch.zeros(1, dtype=torch.bool))
        seen, belief, encoded = (
            one.shape[-1] for one in (activations.seen, activations.beliefs, activations.encoded)
        )
        self.heads = torch.nn.ModuleDict()
        for one in chosen:
            if one.kind in ("inverse_dynamics", "cpc_action") and is_continuous:
                raise InputError(f"expected discrete actions for the auxiliary loss {one.kind}")
            if one.target:
                require_name(f"target of the auxiliary loss {one.kind}", one.target, known)
                if one.kind in ("recognition", "segmentation") and not known[one.target].classes:
                    raise InputError(
                        f"expected classes of every scene alike for {one.kind}, got {one.target}; "
                        "name semantic_classes among the targets"
                    )
            taught = activations.logits if one.kind == "seen_class" else activations.compared
            if one.kind in _NETWORKS and taught is None:
                raise InputError(f"expected {_NETWORKS[one.kind]} for {one.kind}, got another network")
            if one.kind == "segmentation":
                self.heads[one.kind] = torch.nn.Conv2d(PLACE_FEATURES, known[one.target].classes, 1)
            elif one.kind == "recognition":
                self.heads[one.kind] = torch.nn.Linear(seen, known[one.target].classes)
            elif one.kind not in _NETWORKS:
                self.heads[one.kind] = _make_head(one, seen, belief, actions, encoded)

    def compute(
        self,
        policy: RecurrentPolicy,
        part: Fragment,
        activations: Activations,
        generator: np.random.Generator,
    ) -> tuple[Tensor, dict[str, float]]:
        """The weighted sum () float32 of all losses over a fragment, and each by its name.

        Args:
            policy: which judged the fragment.
            part: the fragment.
            activations: what it computed; without beliefs where its encoder alone did.
            generator: draws frames and turns.
        """
        steps, slots = part.mask.shape
        if part.counted is not None:  # no pair of steps reaches beyond those that count
            part = replace(part, mask=part.mask & part.counted)
        seen = activations.seen.reshape(steps, slots, -1)
        total, row = seen.new_zeros(()), dict[str, float]()
        if part.counted is not None and not part.counted.any():
            return total, row
        for one in self._chosen:
            if one.kind == "seen_class":
                logits = _counted(activations.logits.float().reshape(steps, slots, -1), part).flatten(0, 1)
                loss = seen_class_loss(logits, _counted(part.observations[one.target], part).flatten())
            elif one.kind in ("goal_mask", "segmentation"):
                loss = self._compute_grounding(one, policy, part, activations, generator)
            elif one.kind == "goal_distance":
                predicted = self.heads[one.kind](activations.encoded).reshape(steps, slots)
                target = part.observations[one.target].reshape(steps, slots)
                loss = goal_distance_loss(_counted(predicted, part), _counted(target, part))
            else:
                loss = self._compute_other(one, policy, part, seen, activations.beliefs, generator)
            total = total + one.weight * loss
            row[f"{one.kind}_loss"] = float(loss.detach())
        return total, row

    def _compute_grounding(
        self,
        one: Auxiliary,
        policy: RecurrentPolicy,
        part: Fragment,
        activations: Activations,
        generator: np.random.Generator,
    ) -> Tensor:
        """The loss of "goal_mask" or of "segmentation"."""
        network = find_grounding(policy)
        if network is None or activations.compared is None:
            raise InputError(f"expected {_NETWORKS[one.kind]} for {one.kind}, got another network")
        target = _counted(part.observations[one.target], part).flatten(0, 1)
        compared = (values.unflatten(0, part.mask.shape) for values in activations.compared)
        places, wanted = (_counted(values, part).flatten(0, 1) for values in compared)
        if one.kind == "segmentation":
            count = max(1, round(one.share * len(places)))
            rows = torch.from_numpy(generator.permutation(len(places))[:count]).to(places.device)
            return segmentation_loss(self.heads[one.kind](torch.relu(places[rows].float())), target[rows])
        return goal_mask_loss(network.locate(places, wanted), target)

    def _compute_other(
        self,
        one: Auxiliary,
        policy: RecurrentPolicy,
        part: Fragment,
        seen: Tensor,
        beliefs: Tensor | None,
        generator: np.random.Generator,
    ) -> Tensor:
        head = self.heads[one.kind]
        if one.kind == "progress":
            target = part.observations[one.target].flatten(2)[..., 0]
            return progress_loss(_counted(head(beliefs)[..., 0], part), _counted(target, part))
        if one.kind == "recognition":
            labels = _counted(part.observations[one.target], part)
            return recognition_loss(_counted(head(seen), part), find_categories(labels, head.out_features))
        if one.kind == "inverse_dynamics":
            following = torch.cat((seen[1:], seen[-1:]))
            is_move = part.actions != self._declaration
            if part.counted is not None:
                is_move = is_move & part.counted
            counted = is_move if one.pairs == "code" else count_pairs(part.mask) & is_move
            moves = (part.actions - (part.actions > self._declaration).long()).clamp(0, head.out_features - 1)
            return inverse_dynamics_loss(head(torch.cat((seen, following), -1)), moves, counted)
        places = _find_places(part)
        count = max(1, round(one.share * len(places)))
        chosen = places[torch.from_numpy(generator.permutation(len(places))[:count]).to(seen.device)]
        if one.kind == "rotation":
            return self._compute_rotation(policy, part, generator, chosen)
        start, slot = chosen // part.mask.shape[1], chosen % part.mask.shape[1]
        if one.kind == "temporal_distance":
            room = last_steps(part.mask)[start, slot] - start + 1
            ahead = torch.from_numpy(generator.random(count)).to(seen.device)
            second = start + (ahead * room).long()
            predicted = head(torch.cat((seen[start, slot], seen[second, slot]), -1))[:, 0]
            return temporal_distance_loss(predicted, start, second, len(part.mask))
        drawn = torch.from_numpy(generator.integers(len(places), size=(count, len(one.horizons))))
        others = places[drawn.to(seen.device)]
        positive, negative = head(part.actions, seen, beliefs, start, slot, one.horizons, others)
        return contrast_loss(positive, negative, count_horizons(part.mask, start, slot, one.horizons))

    def _compute_rotation(
        self, policy: RecurrentPolicy, part: Fragment, generator: np.random.Generator, chosen: Tensor
    ) -> Tensor:
        """RP on separately turned copies of the frames at the places `chosen` (S,) int64."""
        turns = torch.from_numpy(generator.integers(4, size=len(chosen))).to(part.mask.device)
        kept = {one.name for one in policy.frozen}  # of frames that are not turned
        seen = {name: value for name, value in part.observations.items() if name not in kept}
        frames = {name: value.flatten(0, 1)[chosen] for name, value in seen.items()}
        for name in self._images:
            frames[name] = turn_images(frames[name], turns)
        with record_activations(policy) as activations:
            policy.encoder(frames)
        return rotation_loss(self.heads["rotation"](activations.seen), turns)


def _find_places(part: Fragment) -> Tensor:
    """(B,) int64: where the steps of `part` are that count, as t * N + n."""
    if part.counted is None:
        return torch.arange(part.mask.numel(), device=part.mask.device)
    return torch.nonzero(part.counted.flatten())[:, 0]


def _counted(values: Tensor, part: Fragment) -> Tensor:
    """The `values` (T, N, ...) of the steps of `part` that count: these, or (1, B, ...) of them."""
    return values if part.counted is None else values[part.counted][None]


def _make_head(one: Auxiliary, seen: int, belief: int, actions: int, encoded: int) -> torch.nn.Module:
    if one.kind == "goal_distance":
        layer = torch.nn.Linear(encoded, DISTANCE_FEATURES)
        return torch.nn.Sequential(layer, torch.nn.ReLU(), torch.nn.Linear(DISTANCE_FEATURES, 1))
    if one.kind == "progress":
        linear = torch.nn.Linear(belief, 1)
        torch.nn.init.kaiming_normal_(linear.weight, nonlinearity="tanh")
        torch.nn.init.zeros_(linear.bias)
        return torch.nn.Sequential(linear, torch.nn.Tanh())
    if one.kind == "cpc_action":
        return ContrastHead(seen, belief, actions)
    sizes = {
        "inverse_dynamics": (2 * seen, actions - 1),
        "rotation": (seen, 4),
        "temporal_distance": (2 * seen, 1),
    }
    return torch.nn.Linear(*sizes[one.kind])


class ContrastHead(torch.nn.Module):
    """CPC|A: from a belief and the actions that follow, which frame comes then.

    Args:
        seen: F, features of a frame.
        belief: H.
        actions: A.
    """

    def __init__(self, seen: int, belief: int, actions: int) -> None:
        super().__init__()
        self.embedding = torch.nn.Embedding(actions, ACTION_FEATURES)
        self.cell = torch.nn.GRUCell(ACTION_FEATURES, belief)
        self.judge = torch.nn.Sequential(
            torch.nn.Linear(belief + seen, CONTRAST_FEATURES),
            torch.nn.ReLU(),
            torch.nn.Linear(CONTRAST_FEATURES, 1),
        )

    def forward(
        self,
        actions: Tensor,
        seen: Tensor,
        beliefs: Tensor,
        start: Tensor,
        slot: Tensor,
        horizons: tuple[int, ...],
        others: Tensor,
    ) -> tuple[Tensor, Tensor]:
        """Logits (S, K) float32 of the frames K `horizons` after each start, and of `others`.

        Args:
            actions: (T, N) int64.
            seen: (T, N, F) float32.
            beliefs: (T, N, H) float32.
            start: (S,) int64, steps; from there the actions are known.
            slot: (S,) int64.
            horizons: K numbers of steps; where a step is beyond the fragment the logit means nothing.
            others: (S, K) int64, frames as t * N + n.
        """
        last, state, frames = len(actions) - 1, beliefs[start, slot], seen.flatten(0, 1)
        positive, negative = [start.float()] * len(horizons), [start.float()] * len(horizons)
        for ahead in range(max(horizons)):
            taken = actions[(start + ahead).clamp_max(last), slot].clamp_min(0)
            state = self.cell(self.embedding(taken), state)
            for place, horizon in enumerate(horizons):
                if horizon == ahead + 1:
                    then = seen[(start + horizon).clamp_max(last), slot]
                    positive[place] = self.judge(torch.cat((state, then), -1))[:, 0]
                    negative[place] = self.judge(torch.cat((state, frames[others[:, place]]), -1))[:, 0]
        return torch.stack(positive, 1), torch.stack(negative, 1)


def judge_fragment(
    policy: Policy, part: Fragment, generator: np.random.Generator
) -> tuple[Judgement, Tensor, dict[str, float]]:
    """The judgement of `policy` on a fragment, the sum () of auxiliary losses, and their log.

    The sum is 0 for a policy without auxiliaries. `generator` draws for them.
    """
    heads = dict(policy.named_children()).get("auxiliaries")
    if heads is None or not isinstance(policy, RecurrentPolicy):
        judged = policy.evaluate_sequence(part.observations, part.actions, part.state, part.mask)
        return judged, judged.values.new_zeros(()), {}
    with record_activations(policy) as activations:
        judged = policy.evaluate_sequence(part.observations, part.actions, part.state, part.mask)
    return judged, *heads.compute(policy, part, activations, generator)
