"""Collection: a policy acts in N slots whose episodes follow each other in the same step, into a rollout."""

import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import numpy as np

from navarena.core.errors import CheckFailedError
from navarena.episodes.episode import Episode
from navarena.learning.distributed import ALONE, Processes
from navarena.learning.graph_policy import GraphPolicy
from navarena.learning.losses import inflection_weights
from navarena.learning.policy import Policy
from navarena.learning.recipes.recipe import Recipe
from navarena.learning.rollouts.augmentation import Augmenter
from navarena.learning.rollouts.teaching import AgentTeacher, TeacherMix, make_named_teacher
from navarena.learning.settings import ImitationSettings, PPOSettings
from navarena.learning.storage import NO_ACTION, NO_LABEL, EpisodeEnd, Rollout
from navarena.learning.tensors import Tensor, Tree, torch
from navarena.tasks.graphs.batch import GraphBatch
from navarena.tasks.graphs.fidelity import FidelityReward
from navarena.tasks.slot_episodes import SlotEpisodes
from navarena.tasks.sources import Batch
from navarena.tasks.task import StepResult
from navarena.tasks.teacher import Teacher

MAX_DRAWS = 100
"""Episodes with an unreachable goal in a row, in one slot, after which the collection gives up."""

METRICS = ("success", "spl")
"""What is measured of episodes that end."""

PHASES = ("simulation", "labels", "acting", "reset", "learning", "evaluation")
"""What the time of training goes into."""


class Clock:
    """Seconds spent in each of PHASES, of all threads that measure."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self.seconds = dict.fromkeys(PHASES, 0.0)

    @contextmanager
    def measure(self, phase: str) -> Iterator[None]:
        """Count the time of the block as `phase`."""
        began = time.perf_counter()
        yield
        with self._lock:
            self.seconds[phase] += time.perf_counter() - began


class Collector:
    """Runs a policy in a batch. The observation after an end is the first one of the next episode.

    Args:
        recipe: whose slots, method and schedules are followed; imitation needs discrete actions.
        batch: of the bodies.
        episodes: that run in them; those whose goal cannot be reached are dropped and counted.
        policy: that acts, sampling its actions.
        generators: "episodes" draws these, "actions" the actions, "teacher" who decides.
        augmenter: changes the images that the policy sees; None leaves them.
        processes: that collect for the same policy.

    Attributes:
        ended: metrics of the episodes that ended since it was emptied last, with "led" (whether the teacher
            led it) and "steps".
        dropped: episodes that were drawn and left out, since their goal cannot be reached.
        clock: where the time went.
    """

    def __init__(
        self,
        recipe: Recipe,
        batch: Batch,
        episodes: SlotEpisodes,
        policy: Policy,
        generators: dict[str, np.random.Generator],
        augmenter: Augmenter | None = None,
        processes: Processes = ALONE,
    ) -> None:
        self._recipe, self._batch, self._episodes, self._policy = recipe, batch, episodes, policy
        self._generators, self._augmenter, self._processes = generators, augmenter, processes
        self._teacher: Teacher | None = None
        self._mix: TeacherMix | None = None
        if isinstance(recipe.method, ImitationSettings):
            task = batch.task
            self._teacher = make_named_teacher(recipe.method.teacher, batch)
            declaration = task.actions.index(task.declaration)
            self._mix = TeacherMix(recipe.method, declaration, batch.slots, generators["teacher"])
            self._learns = np.array([name not in recipe.masked for name in task.actions])
        self._state = policy.initial_state(batch.slots)
        self._device = next(policy.parameters()).device
        self._mask = torch.zeros(batch.slots, dtype=torch.bool, device=self._device)
        self._labels = torch.full((batch.slots,), NO_LABEL, dtype=torch.int64, device=self._device)
        self._reward: FidelityReward | None = None
        self._bootstraps = isinstance(recipe.method, PPOSettings) and recipe.method.bootstrap_truncated
        if isinstance(recipe.method, ImitationSettings) and recipe.method.actor_critic is not None:
            self._bootstraps = True
            self._reward = FidelityReward(batch) if isinstance(batch, GraphBatch) else None
        self._is_begun = False
        self.ended: list[dict[str, float]] = []
        self.dropped = 0
        self.clock = Clock()

    def collect(self, rollout: Rollout, done: float, claim: Callable[[int], bool] | None = None) -> Rollout:
        """Fill `rollout`; `done` is the share of all frames that was collected before.

        Returns it, or its first steps where other processes, or `claim`, have ended it.

        Args:
            rollout: of as many slots.
            done: 0 to 1, for the schedules.
            claim: asked before each step, of its number; False ends the rollout. None takes all steps, unless
                other processes have theirs.

        Raises CheckFailedError for a reward that is not finite, and where no episode with a reachable goal is
        found.
        """
        if not self._is_begun:
            self._episodes.restart(self._generators["episodes"], True)
            self._begin(np.ones(self._batch.slots, bool), done)
            self._is_begun = True
        rollout.state = {name: value.clone() for name, value in self._state.items()}
        rollout.ends = []
        before, stuck = self._labels, torch.zeros_like(rollout.mask)
        with torch.inference_mode():
            self._processes.begin_rollout()
            step = 0
            while claim(step) if claim is not None else self._may_go_on(step, rollout.steps):
                self._step(rollout, step, done)
                if self._teacher is not None:
                    stuck[step] = self._send(self._teacher.stuck)
                step += 1
            self._processes.end_rollout()
            next_values = self._evaluate(rollout, self._mask)  # beside all steps, which may stay
            rollout = rollout.first(step)
            rollout.next_values = next_values
        method = self._recipe.method
        if isinstance(method, ImitationSettings):
            rollout.weights[:] = inflection_weights(
                rollout.labels, before, rollout.mask, method.inflection_weight
            )
            if isinstance(self._policy, GraphPolicy):
                seen, labels, mask = rollout.observations, rollout.labels, rollout.mask
                rollout.weights *= self._policy.weigh_labels(seen, labels, mask)
            if method.skips_stuck:
                rollout.weights[stuck[: rollout.steps]] = 0.0
        return rollout

    @property
    def state(self) -> Tree:
        """Of the policy before the next step."""
        return self._state

    def _may_go_on(self, done: int, steps: int) -> bool:
        """Whether there is another step after `done` of a rollout's `steps`."""
        return done < steps and not self._processes.must_end(done, steps, self._recipe.preemption)

    def _step(self, rollout: Rollout, step: int, done: float) -> None:
        batch = self._batch
        with self.clock.measure("simulation"):
            seen = rollout.observe(step, self._observe(rollout, step))
            if self._augmenter is not None:
                self._augmenter.augment({k: v.numpy() for k, v in seen.items()}, self._mask.numpy())
        with self.clock.measure("acting"):
            self._see_frozen(seen)
            rollout.mask[step] = self._mask
            taken, state = self._decide(rollout, step, seen, done)
        if self._teacher is not None and self._mix is not None:
            with self.clock.measure("labels"):
                # while an oracle leads there is nothing to learn
                labels = np.where(batch.led, NO_LABEL, self._exchange(self._teacher.label()))
            self._labels = rollout.labels[step] = self._send(np.where(self._learns[labels], labels, NO_LABEL))
            taken = self._send(self._mix.choose(taken.cpu().numpy(), labels, done))
            rollout.led[step] = self._send(self._mix.led)
        if batch.led.any():  # whose choices nobody makes
            led = self._send(batch.led)
            taken[led], rollout.log_probs[step, led] = NO_ACTION, 0.0
        rollout.actions[step] = taken
        moves = self._exchange(taken.cpu().numpy())
        if isinstance(self._teacher, AgentTeacher):
            self._teacher.note(moves)
        self._state = self._policy.replace_actions(state, taken)
        with self.clock.measure("simulation"):
            if self._reward is not None:
                self._reward.begin()
            result = batch.step(moves)
        rewards = result.reward if self._reward is None else self._reward.compute(result)
        self._require_finite(rewards)
        rollout.rewards[step] = self._send(rewards)
        with self.clock.measure("reset"):
            self._follow(rollout, step, result, done)

    def _follow(self, rollout: Rollout, step: int, result: StepResult, done: float) -> None:
        """Write into `rollout` which episodes ended with the `result` of a step, and begin the next ones."""
        batch = self._batch
        steps = batch.state.steps.copy()
        over = np.flatnonzero(result.terminated | result.truncated).tolist()
        episodes = {slot: batch.episode(slot) for slot in over}
        rollout.cut_values[step] = 0.0
        if self._bootstraps and result.truncated.any():
            going_on = torch.ones_like(self._mask)  # the last observation still belongs to its episode
            last = self._evaluate(rollout, going_on)
            rollout.cut_values[step] = torch.where(self._send(result.truncated), last, 0.0)
        ends, terminated, truncated = self._episodes.follow(result)
        for slot, end in ends.items():
            rollout.ends.append(EpisodeEnd(step, slot, episodes[slot]))
            led = self._mix is not None and bool(self._mix.led[slot])
            self.ended.append({**end["metrics"], "steps": float(steps[slot]), "led": float(led)})
        ended = terminated | truncated
        self._draw_leaders(over, ended, done)
        if ended.any():
            self._begin(ended, done)
        self._mask = self._send(self._find_kept(result, episodes, ended))
        # of every episode of a tour, even where the policy's state continues: no return crosses them
        rollout.terminated[step] = self._send(result.terminated)
        rollout.truncated[step] = self._send(result.truncated)

    def _observe(self, rollout: Rollout, step: int) -> Mapping[str, np.ndarray]:
        """What the bodies see, drawn into its place in `rollout` unless it is changed there."""
        # a teacher, and the next rollout, see the batch's own arrays
        changes = self._augmenter is not None
        return self._batch.observe_into({} if changes else rollout.rows(step, self._batch.specs))

    def _decide(self, rollout: Rollout, step: int, seen: Tree, done: float) -> tuple[Tensor, Tree]:
        """The policy's actions, which the rollout gets with their values, and the state after the step.

        Where a teacher decides everywhere, the policy only follows: actions are 0, and there are no values.
        """
        method = self._recipe.method
        if self._mix is not None and isinstance(method, ImitationSettings) and method.actor_critic is None:
            if self._mix.leads_all(done):
                return torch.zeros_like(rollout.actions[step]), self._policy.follow(
                    seen, self._state, self._mask
                )
        decision = self._policy.act(seen, self._state, self._mask, self._draw)
        rollout.log_probs[step], rollout.values[step] = decision.log_probs, decision.values
        return decision.actions, decision.state

    def _draw_leaders(self, over: list[int], ended: np.ndarray, done: float) -> None:
        """Draw teacher or learner for the next episode of tours that go on in the slots `over`.

        Args:
            over: slots whose episode ended.
            ended: (N,) bool, slots whose tour ended, for which `_begin` draws.
            done: as of `collect`.
        """
        going_on = np.zeros_like(ended)
        going_on[over] = ~ended[over]
        if self._mix is not None and going_on.any():
            self._mix.begin(going_on, done)

    def _find_kept(self, result: StepResult, over: Mapping[int, Episode], ended: np.ndarray) -> np.ndarray:
        """(N,) bool: slots whose policy state continues after a step, given the episodes that began.

        Args:
            result: of the step.
            over: slot -> the episode that ended in it.
            ended: (N,) bool, slots whose tour or single episode ended.
        """
        kept: np.ndarray = ~ended
        remembers = self._recipe.policy.remembers
        if remembers in ("subtask", "episode"):
            kept[list(over)] = False
            if result.arrived is not None:  # what an oracle showed belongs to no episode, as in evaluations
                kept &= ~result.arrived
        if remembers == "subtask" and result.began is not None:
            kept &= ~result.began
        if remembers == "scene":
            for slot, one in over.items():
                kept[slot] = self._batch.episode(slot).scene_id == one.scene_id
        return kept

    def _evaluate(self, rollout: Rollout, mask: Tensor) -> Tensor:
        """(N,) float32 values of the current observations, which are not in the rollout."""
        seen = rollout.look(self._observe(rollout, rollout.steps))
        if self._augmenter is not None:
            self._augmenter.mirror({name: value.numpy() for name, value in seen.items()})
        self._see_frozen(seen)
        return self._policy.act(seen, self._state, mask).values

    def _see_frozen(self, seen: Tree) -> None:
        """Compute into `seen` what layers that do not learn make of its images, once for all updates."""
        for name, value in self._policy.see_frozen(seen).items():
            seen[name].copy_(value)

    def _exchange(self, actions: np.ndarray) -> np.ndarray:
        """(N,) `actions` of the policy as the bodies make them, or the other way round: turns in a mirror."""
        return actions if self._augmenter is None else self._augmenter.exchange(actions)

    def _begin(self, chosen: np.ndarray, done: float) -> None:
        """Draw and start episodes in the `chosen` (N,) bool slots until all of their goals can be reached."""
        left, generator = chosen, self._generators["episodes"]
        for _ in range(MAX_DRAWS):
            slots = np.flatnonzero(left).tolist()
            self._episodes.start(slots, [self._episodes.draw(generator) for _ in slots])
            left = chosen & ~np.isfinite(self._batch.state.distance)
            if not left.any():
                break
            self.dropped += int(left.sum())
        else:
            one = self._batch.episode(int(np.flatnonzero(left)[0]))
            raise CheckFailedError(
                f"expected episodes with reachable goals, got {MAX_DRAWS} others in a row, the last "
                f"{one.episode_id} in {one.scene_id}; `navarena episodes audit` lists them"
            )
        if self._mix is not None:
            self._mix.begin(chosen, done)

    def _send(self, values: np.ndarray) -> Tensor:
        """`values` where the policy is."""
        return torch.from_numpy(values).to(self._device)

    def _draw(self, rows: int, columns: int) -> Tensor:
        return torch.from_numpy(self._generators["actions"].random((rows, columns)))

    def _require_finite(self, rewards: np.ndarray) -> None:
        wrong = np.flatnonzero(~np.isfinite(rewards))
        if len(wrong):
            slot = int(wrong[0])
            one = self._batch.episode(slot)
            raise CheckFailedError(
                f"expected finite rewards, got {rewards[slot]} in slot {slot}, episode {one.episode_id} of "
                f"{one.scene_id}; checkpoints before this are good"
            )

    def save_state(self) -> tuple[dict[str, Any], Tree]:
        """Plain values (the batch as a tensor of bytes) and the policy's state, for `restore_state`."""
        mix = None if self._mix is None else self._mix.save_state()
        memory = self._teacher.save_state() if isinstance(self._teacher, AgentTeacher) else b""
        environments = self._episodes.save_state(memory)
        plain = {
            "environments": torch.frombuffer(bytearray(environments), dtype=torch.uint8),
            "mask": self._mask.cpu(),
            "labels": self._labels.cpu().clone(),
            "mix": mix,
            "augmenter": None if self._augmenter is None else self._augmenter.save_state(),
            "dropped": self.dropped,
            "ended": self.ended,
        }
        return plain, {name: value.cpu() for name, value in self._state.items()}

    def restore_state(self, plain: dict[str, Any], state: Tree) -> None:
        """Restore the state of a collector of equal arguments, with environments from that run's pickle."""
        memory = self._episodes.restore_state(plain["environments"].numpy().tobytes())
        if isinstance(self._teacher, AgentTeacher):
            self._teacher.restore_state(memory)
        self._mask, self._labels = plain["mask"].to(self._device), plain["labels"].to(self._device)
        if self._mix is not None:
            self._mix.restore_state(plain["mix"])
        if self._augmenter is not None:
            self._augmenter.restore_state(plain["augmenter"])
        self.dropped, self.ended = plain["dropped"], list(plain["ended"])
        self._state = {name: value.to(self._device) for name, value in state.items()}
        self._is_begun = True
