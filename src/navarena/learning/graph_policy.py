"""The policy of agents on navigation graphs: HAMT, which looks back at all steps of an episode or tour."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import NamedTuple

import numpy as np

from navarena.core.errors import InputError
from navarena.learning.inputs import GRAPH_INPUTS, TOKENS, InputSpec
from navarena.learning.losses import turn_inflection_weights
from navarena.learning.networks.dropout import Dropout
from navarena.learning.networks.hamt import HAMT, ObservedSteps
from navarena.learning.networks.hamt_settings import HAMTSettings
from navarena.learning.networks.heads import FORBIDDEN, Categorical, Uniforms
from navarena.learning.policy import PREVIOUS, Decision, Judgement, Policy
from navarena.learning.storage import NO_LABEL
from navarena.learning.tensors import Tensor, Tree, torch
from navarena.scenes.graphs.panorama import HEADINGS, panorama_angles
from navarena.tasks.task import Phase

_RAW = ("view_features", "view_index", "candidate_views", "candidate_angles", "phase")
"""Inputs of a step that its token is made from when it is known what was done."""

WAITING = "waiting."
"""Prefix, in a state, of the inputs of the last step, whose token is made at the next one."""


class _Past(NamedTuple):
    """Tokens of earlier steps, as each of T x N steps sees them.

    Attributes:
        tokens: (S + T, N, W), those of the state and then one for the step before each step.
        is_there: (S + T, N) bool.
        unit: (S + T, N) int64, which of what the policy remembers they are from.
        episode: (S + T, N) int64, position in the tour of the episode they are from.
    """

    tokens: Tensor
    is_there: Tensor
    unit: Tensor
    episode: Tensor


class GraphPolicy(Policy):
    """HAMT (Chen et al. 2021) as a policy: all steps of a rollout are judged in one batch.

    Its memory are the tokens of the last steps, the oracle's among them; which ones count follows from the
    mask. What an oracle did is read from where the body looks afterwards.

    Args:
        inputs: GRAPH_INPUTS, in any order.
        actions: of the protocol: STOP and the candidates.
        settings: sizes.

    Raises InputError for other inputs, and features of another size than the settings have.
    """

    def __init__(self, inputs: Sequence[InputSpec], actions: int, settings: HAMTSettings) -> None:
        super().__init__()
        shapes = {one.name: one.shape for one in inputs}
        if set(shapes) != set(GRAPH_INPUTS):
            raise InputError(
                f"expected the inputs {', '.join(GRAPH_INPUTS)} for memory=hamt, got {', '.join(shapes)}"
            )
        features = shapes["view_features"][-1]
        if features != settings.features:
            raise InputError(
                f"expected views of policy.hamt.features={settings.features} numbers, got {features}; name "
                "the features that the policy was made for"
            )
        self._inputs, self._settings, self._actions = tuple(inputs), settings, actions
        self._kept = settings.steps - 1 - settings.parts_tour
        self.network = HAMT(settings)
        self.critic = torch.nn.Sequential(
            torch.nn.Linear(settings.width, 512),
            torch.nn.ReLU(),
            Dropout(0.5),
            torch.nn.Linear(512, 1),
        )
        angles = np.stack([panorama_angles(view) for view in range(HEADINGS)])
        self.register_buffer("angles", torch.from_numpy(angles).float(), persistent=False)

    def initial_state(self, slots: int) -> Tree:
        device, integers = self.angles.device, torch.int64
        kept = (slots, self._kept)
        waiting = {
            WAITING + one.name: torch.zeros(
                (slots, *one.shape), dtype=getattr(torch, one.dtype), device=device
            )
            for one in self._inputs
            if one.name in _RAW
        }
        return waiting | {
            "tokens": torch.zeros((*kept, self._settings.width), device=device),
            "is_there": torch.zeros(kept, dtype=torch.bool, device=device),
            "episodes": torch.zeros(kept, dtype=integers, device=device),
            "is_waiting": torch.zeros(slots, dtype=torch.bool, device=device),
            "position": torch.zeros(slots, dtype=integers, device=device),
            "step": torch.zeros(slots, dtype=integers, device=device),
            PREVIOUS: torch.zeros(slots, dtype=integers, device=device),
        }

    def act(
        self,
        observations: Tree,
        state: Tree,
        mask: Tensor,
        generator: Uniforms | None = None,
        temperature: float = 1.0,
    ) -> Decision:
        seen = {name: value[None] for name, value in observations.items()}
        crops = self.training  # rows of a training are always together
        with self._without_dropout():
            distribution, values, after = self._judge(seen, state[PREVIOUS][None], state, mask[None], crops)
        distribution = Categorical(distribution.log_probs[0])
        if generator is None:
            actions = distribution.mode()
        else:
            actions = distribution.sharpen(temperature).sample(generator)
        log_probs = distribution.log_prob(actions)
        return Decision(actions, self.replace_actions(after, actions), values[0], log_probs)

    def follow(self, observations: Tree, state: Tree, mask: Tensor) -> Tree:
        seen = {name: value[None] for name, value in observations.items()}
        unit = (~mask[None]).cumsum(0)
        with self._without_dropout(), self._mixed(mask.device):
            past, step = self._remember(seen, state[PREVIOUS][None], state, mask[None], unit)
        return self._make_state(seen, state, past, unit, step)

    def replace_actions(self, state: Tree, actions: Tensor) -> Tree:
        return state | {PREVIOUS: actions + 1}

    def evaluate_sequence(self, observations: Tree, actions: Tensor, state: Tree, mask: Tensor) -> Judgement:
        previous = torch.cat((state[PREVIOUS][None], actions[:-1] + 1))
        distribution, values, after = self._judge(observations, previous, state, mask, crops=True)
        return Judgement(distribution, values, self.replace_actions(after, actions[-1]))

    def weigh_labels(self, observations: Tree, labels: Tensor, mask: Tensor) -> Tensor:
        """(T, N) float32 weights of `labels` (T, N): steps of large turns count more where the settings say.

        Each episode is weighed as far as it lies in the rollout.

        Args:
            observations: name -> (T, N, ...).
            labels: (T, N) int64, NO_LABEL where there is none.
            mask: (T, N) bool, False where the step is the first of an episode.
        """
        if not self._settings.weighs_turns:
            return torch.ones(labels.shape, device=labels.device)
        column = (labels - 1).clamp_min(0)[..., None, None].expand(*labels.shape, 1, 4)
        angles = observations["candidate_angles"].gather(2, column)[..., 0, :].double()
        turns = (torch.atan2(angles[..., 0], angles[..., 1]) * (labels > 0)).cpu().numpy()
        given = labels.cpu().numpy()
        position = observations["tour_position"]
        begins = ~mask
        weights = np.ones(labels.shape, np.float32)
        begins[1:] |= position[1:] != position[:-1]
        for slot in range(labels.shape[1]):
            counted = np.flatnonzero(given[:, slot] != NO_LABEL)
            episode = begins[:, slot].cumsum(0).cpu().numpy()[counted]
            for one in np.unique(episode):
                rows = counted[episode == one]
                weights[rows, slot] = turn_inflection_weights(turns[rows, slot], given[rows, slot] == 0)
        return torch.from_numpy(weights).to(labels.device)

    @contextmanager
    def _without_dropout(self) -> Iterator[None]:
        was_training = self.training
        self.eval()
        try:
            yield
        finally:
            self.train(was_training)

    def _judge(
        self, seen: Tree, previous: Tensor, state: Tree, mask: Tensor, crops: bool
    ) -> tuple[Categorical, Tensor, Tree]:
        """Distributions (T, N, A) and values (T, N) of T x N steps, and the state after them.

        Args:
            seen: name -> (T, N, ...).
            previous: (T, N) int64, the action before each step plus 1, or 0.
            state: before the first step.
            mask: (T, N) bool, as of `evaluate_sequence`.
            crops: whether to leave out steps of oracles, and words and tokens that no step has: faster, but
                the last bits of a row depend on the others.
        """
        steps, slots = mask.shape
        unit = (~mask).cumsum(0)
        with self._mixed(mask.device):
            past, step = self._remember(seen, previous, state, mask, unit)
        window = torch.arange(steps, device=mask.device)[:, None] + 1
        window = window + torch.arange(self._kept, device=mask.device)
        is_seen = past.is_there[window] & (past.unit[window] == unit[:, None])  # (T, S, N)
        is_seen = is_seen.transpose(1, 2).flatten(0, 1)
        flat = {name: value.flatten(0, 1) for name, value in seen.items()}
        rows = torch.arange(steps * slots, device=mask.device)
        if crops:
            rows = rows[flat["phase"] == Phase.AGENT]
            most = int(is_seen[rows].sum(1).max()) if len(rows) else 0
            window, is_seen = window[:, self._kept - most :], is_seen[:, self._kept - most :]
        log_probs = torch.full((steps * slots, self._actions), -float(np.log(self._actions)))
        log_probs = log_probs.to(mask.device)
        values = torch.zeros(steps * slots, device=mask.device)
        if len(rows):
            at, slot = rows // slots, rows % slots
            own = past.episode[window[at], slot[:, None]] == flat["tour_position"][rows, None]
            history = past.tokens[window[at], slot[:, None]]
            now = {name: one[rows] for name, one in flat.items()}
            with self._mixed(mask.device):
                found, value = self._decide(now, history, is_seen[rows], own, crops)
            log_probs, values = log_probs.index_copy(0, rows, found), values.index_copy(0, rows, value)
        shape, after = (steps, slots), self._make_state(seen, state, past, unit, step)
        return Categorical(log_probs.view(*shape, -1)), values.view(shape), after

    def _make_state(self, seen: Tree, state: Tree, past: _Past, unit: Tensor, step: Tensor) -> Tree:
        """The state after T x N steps, of which `seen` and the rest are as in `_judge` and `_remember`."""
        last = {WAITING + name: seen[name][-1] for name in _RAW}
        steps = len(unit)
        return (
            state
            | last
            | {
                "tokens": past.tokens[steps:].transpose(0, 1).detach(),
                "is_there": (past.is_there & (past.unit == unit[-1]))[steps:].transpose(0, 1),
                "episodes": past.episode[steps:].transpose(0, 1),
                "is_waiting": torch.ones_like(state["is_waiting"]),
                "position": seen["tour_position"][-1],
                "step": step,
            }
        )

    def _remember(
        self, seen: Tree, previous: Tensor, state: Tree, mask: Tensor, unit: Tensor
    ) -> tuple[_Past, Tensor]:
        """The tokens that `_judge` may see, and (N,) the number of the last step in its episode."""
        steps, slots = mask.shape
        raw = {name: torch.cat((state[WAITING + name][None], seen[name][:-1])) for name in _RAW}
        position = torch.cat((state["position"][None], seen["tour_position"]))
        number = [state["step"]]
        goes_on = mask & (position[1:] == position[:-1])
        waited = torch.cat((state["is_waiting"][None], torch.ones_like(mask[1:])))
        for step in range(steps):
            number.append(torch.where(goes_on[step] & waited[step], number[-1] + 1, 0))
        walk = self.make_observed_steps(
            {name: value.flatten(0, 1) for name, value in raw.items()}, previous.flatten() - 1
        )
        led = raw["phase"].flatten() != Phase.AGENT
        looks = seen["view_index"].flatten()[:, None] == walk.candidate_views
        inferred = torch.where(looks.any(1), looks.int().argmax(1) + 1, 0)
        taken = torch.where(led, inferred, walk.actions).clamp_min(0)
        rows = torch.arange(len(taken), device=taken.device)
        angle = walk.candidate_angles[rows, (taken - 1).clamp_min(0)] * (taken > 0)[:, None]
        numbers = torch.stack(number[:-1]).flatten()
        views = self.network.feature_dropout(walk.views)
        made = self.network.history(views[rows, walk.view], angle, numbers, views, walk.view_angles)
        if self._settings.frozen_history:
            made = made.detach()
        before = torch.zeros_like(unit[:1])
        past = _Past(
            torch.cat((state["tokens"].transpose(0, 1), made.view(steps, slots, -1).float())),
            torch.cat((state["is_there"].T, waited)),
            torch.cat((before.expand(self._kept, -1), before, unit[:-1])),
            torch.cat((state["episodes"].T, position[:-1])),
        )
        return past, number[-1]

    def make_observed_steps(self, seen: Tree, actions: Tensor) -> ObservedSteps:
        """B steps, name -> (B, ...), and the `actions` (B,) taken in them, as the network reads them."""
        views, places = seen["view_features"].float(), seen["candidate_views"]
        if "vision" in self._settings.blank:
            views = torch.zeros_like(views)
        index = places.clamp_min(0)[..., None].expand(-1, -1, views.shape[-1])
        return ObservedSteps(
            views,
            self.angles[seen["view_index"] % HEADINGS],
            seen["view_index"],
            views.gather(1, index) * (places >= 0)[..., None],
            seen["candidate_angles"],
            places,
            actions,
        )

    def _decide(
        self, seen: Tree, history: Tensor, is_seen: Tensor, is_own: Tensor, crops: bool
    ) -> tuple[Tensor, Tensor]:
        """(B, A) log-probabilities and (B,) values of B steps.

        Args:
            seen: name -> (B, ...).
            history: (B, K, W), tokens of earlier steps.
            is_seen: (B, K) bool, which of them count.
            is_own: (B, K) bool, which of them are of the same episode.
            crops: as of `_judge`.
        """
        tokens, count = seen[TOKENS].long(), len(history)
        if int(tokens.max()) >= self._settings.words:
            raise InputError(
                f"expected words below {self._settings.words}, got {int(tokens.max())}; the instructions are "
                "of another vocabulary"
            )
        if crops:
            leads = (seen["candidate_views"] >= 0).any(0).nonzero()
            most = int(leads.max()) + 1 if len(leads) else 1
            seen = seen | {name: seen[name][:, :most] for name in ("candidate_views", "candidate_angles")}
        walk = self.make_observed_steps(seen, torch.zeros_like(seen["view_index"]))
        if crops:
            longest = max(int((tokens != 0).sum(1).max()), 1)
            tokens, texts = torch.unique(tokens[:, :longest], dim=0, return_inverse=True)
            words, is_word = (value[texts] for value in self.network.read(tokens))
        else:
            words, is_word = self.network.read(tokens)
        begins = self.network.history.begin()
        marks = torch.ones(count, 1, dtype=torch.bool, device=history.device)
        if len(begins) > 1:
            marks = torch.cat((marks, (is_seen & ~is_own).any(1, keepdim=True)), 1)
        history = torch.cat((begins.expand(count, -1, -1), history), 1)
        is_seen = torch.cat((marks, is_seen), 1)
        logits, word, begin = self.network.judge(words, is_word, history, is_seen, walk)
        values = self.critic(word * begin)[:, 0].float()
        logits = torch.nn.functional.pad(
            logits.clamp_min(FORBIDDEN), (0, self._actions - logits.shape[1]), value=FORBIDDEN
        )
        return torch.log_softmax(logits, -1), values
