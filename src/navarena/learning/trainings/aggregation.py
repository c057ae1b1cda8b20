"""DAgger with a store: episodes of all iterations on the disk, and epochs over the whole of them."""

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from navarena.core.errors import InputError
from navarena.learning.auxiliaries.heads import judge_fragment
from navarena.learning.graph_policy import GraphPolicy
from navarena.learning.losses import episode_imitation_loss, inflection_weights
from navarena.learning.networks.encoders import name_frozen
from navarena.learning.networks.heads import Categorical
from navarena.learning.networks.normaliser import RunningNormaliser
from navarena.learning.policy import Policy
from navarena.learning.settings import AggregationSettings, ImitationSettings
from navarena.learning.storage import NO_ACTION, NO_LABEL, Fragment, Rollout
from navarena.learning.tensors import Tree, take_rows, torch
from navarena.learning.trainings.store import Entry, TrajectoryStore
from navarena.learning.trainings.updates import Statistics, descend, learn_statistics

AHEAD = 100
"""Batches that are sorted by length at a time, as in VLN-CE (dagger_trainer.py 156-191)."""

LEARNED = ("action", "label", "mask")
"""Arrays of an episode beside its observations: what was done, what the teacher said, and where it is False
that the policy's memory began anew with the step.
"""

Batch = list[tuple[int, Entry, bool]]
"""For each episode of a batch: its lane, what it is, and whether it goes on with the lane's state."""


def order_by_length(entries: Sequence[Entry], batch: int, generator: np.random.Generator) -> Iterator[Batch]:
    """Batches of up to `batch` episodes of like length, each episode once, in random order.

    Args:
        entries: of the episodes.
        batch: episodes in a batch.
        generator: shuffles episodes, ties and batches.
    """
    shuffled = generator.permutation(len(entries))
    for first in range(0, len(entries), AHEAD * batch):
        block = sorted(shuffled[first : first + AHEAD * batch].tolist(), key=lambda k: entries[k].steps)
        parts = [block[k : k + batch] for k in range(0, len(block), batch)]
        for part in generator.permutation(len(parts)).tolist():
            yield [(lane, entries[k], False) for lane, k in enumerate(parts[part])]


def order_by_tours(
    entries: Sequence[Entry], lanes: int, carries: bool, shuffles: bool, generator: np.random.Generator
) -> Iterator[Batch]:
    """Batches of the next episode of each lane: tours one after the other, dealt to the emptiest lane.

    No episode is left out: lanes that have no more are absent from the last batches.

    Args:
        entries: of the episodes; those without a tour stand alone.
        lanes: episodes in a batch, at most.
        carries: whether an episode goes on with the state of the one before it in its tour.
        shuffles: the episodes of each tour.
        generator: shuffles tours.
    """
    tours: dict[str, list[Entry]] = {}
    for one in entries:
        tours.setdefault(f"{one.iteration}/{one.tour}" if one.tour else one.key, []).append(one)
    names = list(tours)
    dealt: list[list[tuple[Entry, bool]]] = [[] for _ in range(lanes)]
    for number in generator.permutation(len(names)).tolist():
        tour = tours[names[number]]
        if shuffles:
            tour = [tour[k] for k in generator.permutation(len(tour)).tolist()]
        lane = min(dealt, key=len)
        lane.extend((one, carries and place > 0) for place, one in enumerate(tour))
    for place in range(max(map(len, dealt))):
        yield [(lane, *dealt[lane][place]) for lane in range(lanes) if place < len(dealt[lane])]


class Aggregator:
    """Cuts rollouts into episodes, stores them, and learns from all of them after each iteration.

    Args:
        method: of imitation; its aggregation says how.
        remembers: as of PolicySettings.
        store: of the episodes.
        seed: of the training, a part of the keys.
    """

    def __init__(self, method: ImitationSettings, remembers: str, store: TrajectoryStore, seed: int) -> None:
        if method.aggregation is None:
            raise InputError("expected a method with an aggregation, got none")
        self._method, self._store, self._seed = method, store, seed
        self._settings: AggregationSettings = method.aggregation
        self._carries = remembers in ("tour", "scene")
        self._begun: list[list[dict[str, np.ndarray]]] = []

    def advance(
        self,
        policy: Policy,
        optimiser: Any,
        rollout: Rollout,
        before: float,
        after: float,
        generator: np.random.Generator,
    ) -> Statistics:
        """Store the finished episodes of `rollout`, and learn when an iteration is complete; returns its log.

        Args:
            policy: whose parameters change.
            optimiser: of them.
            rollout: complete.
            before: share of all frames that was collected before the rollout, 0 to 1.
            after: and with it.
            generator: shuffles.

        Raises FloatingPointError as `descend`, StorageError and FileError as the store.
        """
        iterations = self._settings.iterations
        iteration = min(int(before * iterations + 1e-9), iterations - 1)
        self.cut(rollout, iteration)
        row = {"stored_episodes": float(len(self._store.entries))}
        learn_statistics(policy, rollout)
        if int(after * iterations + 1e-9) > iteration:
            self._store.flush()
            row |= self.learn(policy, optimiser, iteration, before, generator)
        return row

    def cut(self, rollout: Rollout, iteration: int) -> None:
        """Store the episodes that ended in `rollout`, and keep the beginnings of others."""
        if not self._begun:
            self._begun = [[] for _ in range(rollout.slots)]
        labels = torch.where(rollout.weights > 0, rollout.labels, NO_LABEL)
        seen = rollout.observations  # where frozen layers have read an image, what they made of it will do
        whole = {name: value.numpy() for name, value in seen.items() if name_frozen(name) not in seen}
        whole |= {
            "action": rollout.actions.numpy().astype(np.int16),
            "label": labels.numpy().astype(np.int16),
            "mask": rollout.mask.numpy(),
        }
        first = [0] * rollout.slots
        for end in rollout.ends:
            slot, one = end.slot, end.episode
            rows = slice(first[slot], end.step + 1)
            parts = [*self._begun[slot], {name: value[rows, slot] for name, value in whole.items()}]
            arrays = {name: np.concatenate([part[name] for part in parts]) for name in whole}
            tour = f"{one.scene_id}/{one.tour_id}" if one.tour_id else ""
            key = f"{iteration}/{self._seed}/{one.scene_id}/{one.tour_id or ''}/{one.episode_id}"
            self._store.add(Entry(key, iteration, tour, len(arrays["label"])), arrays)
            self._begun[slot], first[slot] = [], end.step + 1
        for slot in range(rollout.slots):
            if first[slot] < rollout.steps:
                rest = {name: value[first[slot] :, slot].copy() for name, value in whole.items()}
                self._begun[slot].append(rest)

    def learn(
        self, policy: Policy, optimiser: Any, iteration: int, done: float, generator: np.random.Generator
    ) -> Statistics:
        """Train for epochs over the store up to `iteration`; returns means of the log (see `advance`)."""
        settings = self._settings
        entries = [one for one in self._store.entries if one.iteration <= iteration]
        if not entries:
            return {}
        for group in optimiser.param_groups:
            group["lr"] = self._method.optimiser.rate.at(done)
        rows: list[Statistics] = []
        for _ in range(settings.epochs):
            if settings.order == "lengths":
                batches = order_by_length(entries, settings.batch, generator)
            else:
                batches = order_by_tours(
                    entries, settings.batch, self._carries, settings.shuffles_tours, generator
                )
            state = policy.initial_state(settings.batch)
            for batch in batches:
                rows.append(self.learn_batch(policy, optimiser, batch, state, generator))
        means = {name: float(np.mean([row[name] for row in rows])) for name in rows[0]}
        return means | {"rate": self._method.optimiser.rate.at(done)}

    def learn_batch(
        self, policy: Policy, optimiser: Any, batch: Batch, state: Tree, generator: np.random.Generator
    ) -> Statistics:
        """One step of the optimiser from one batch; `state` (lanes) becomes that after its episodes.

        Gradients go through a whole episode, not into the one before it. `generator` draws for auxiliary
        losses, which count the steps of episodes alone, not the padding, nor where an oracle leads.
        """
        episodes = [self._store.read(one.key) for _, one, _ in batch]
        lengths = [one.steps for _, one, _ in batch]
        longest = max(lengths)

        def pad(name: str, fill: int = 0) -> Any:
            first = episodes[0][name]
            out = np.full((longest, len(batch), *first.shape[1:]), fill, first.dtype)
            for column, one in enumerate(episodes):
                out[: lengths[column], column] = one[name]
            return torch.from_numpy(out)

        seen = {name: pad(name) for name in episodes[0] if name not in LEARNED}
        actions, labels, mask = pad("action").long(), pad("label", NO_LABEL).long(), pad("mask", True)
        mask[0] = False
        weights = inflection_weights(labels, labels[0], mask, self._method.inflection_weight)
        if isinstance(policy, GraphPolicy):
            weights = weights * policy.weigh_labels(seen, labels, mask)
        mask[0] = torch.tensor([goes_on for _, _, goes_on in batch])
        lanes = torch.tensor([lane for lane, _, _ in batch])
        before = take_rows(state, lanes)
        unknown = torch.zeros(labels.shape)
        inside = (torch.arange(longest)[:, None] < torch.tensor(lengths)) & (actions != NO_ACTION)
        part = Fragment(
            seen, before, mask, actions, unknown, unknown, labels, weights, unknown.bool(), inside
        )
        judged, beside, row = judge_fragment(policy, part, generator)
        if not isinstance(judged.distribution, Categorical):
            raise InputError("expected a policy of discrete actions, which alone have labels")
        log_probs = judged.distribution.log_probs
        loss = episode_imitation_loss(log_probs, labels, weights)
        if self._carries:
            self._carry(policy, seen, actions, before, mask, lengths, lanes, state)
        norm = descend(policy, optimiser, loss + beside, self._method.optimiser.max_gradient)
        counted = labels != NO_LABEL
        right = ((log_probs.argmax(-1) == labels) & counted).sum() / counted.sum().clamp_min(1)
        row |= {"imitation_loss": float(loss.detach()), "agreement": float(right), "gradient_norm": norm}
        return row

    def _carry(
        self,
        policy: Policy,
        seen: Tree,
        actions: Any,
        before: Tree,
        mask: Any,
        lengths: Sequence[int],
        lanes: Any,
        state: Tree,
    ) -> None:
        """Write the states at the true last steps into the `lanes` of `state`: padding advances none."""
        with torch.no_grad():
            for length in sorted(set(lengths)):
                columns = torch.tensor([k for k, own in enumerate(lengths) if own == length])
                after = policy.evaluate_sequence(
                    {name: value[:length, columns] for name, value in seen.items()},
                    actions[:length, columns],
                    take_rows(before, columns),
                    mask[:length, columns],
                ).state
                for name, value in after.items():
                    state[name][lanes[columns]] = value

    def learn_statistics(self, policy: Policy) -> None:
        """Count the observations of all stored episodes in what scales the inputs of `policy`."""
        if not any(isinstance(one, RunningNormaliser) for one in policy.modules()):
            return
        for one in self._store.entries:
            stored = self._store.read(one.key)
            seen = {name: value for name, value in stored.items() if name not in LEARNED}
            policy.learn_statistics({name: torch.tensor(value)[:, None] for name, value in seen.items()})

    def save_state(self) -> list[list[Tree]]:
        """The beginnings of episodes that run, for `restore_state`; what ended is written to the disk."""
        self._store.flush()
        return [
            [{name: torch.from_numpy(value) for name, value in part.items()} for part in parts]
            for parts in self._begun
        ]

    def restore_state(self, saved: list[list[Tree]]) -> None:
        """Restore the state `saved`."""
        self._begun = [
            [{name: value.numpy() for name, value in part.items()} for part in parts] for parts in saved
        ]
