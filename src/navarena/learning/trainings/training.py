"""Training: rollouts and updates by a recipe, with a log, and checkpoints that resume it."""

import io
import json
import logging
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import chain
from pathlib import Path
from typing import Any

import msgspec
import numpy as np

from navarena.core.errors import CheckFailedError, InputError
from navarena.core.seeding import make_generator
from navarena.corruptions.catalog import write_corruption
from navarena.episodes.episode import Episode
from navarena.episodes.stream import find_blocks
from navarena.learning.checkpoints.files import describe_last_checkpoint, load_resume, require_same_recipe
from navarena.learning.checkpoints.policies import CheckpointInfo, complete_checkpoint, save_checkpoint
from navarena.learning.checkpoints.selection import CurvePoint
from navarena.learning.distributed import ALONE, ONE_THREAD, Machine, drop_parts, load_part, save_part
from navarena.learning.inputs import InputSpec
from navarena.learning.precision import choose_precision
from navarena.learning.recipes.recipe import Recipe
from navarena.learning.rollouts.augmentation import Augmenter
from navarena.learning.rollouts.collection import Collector
from navarena.learning.rollouts.memory_needs import telling_memory_needs
from navarena.learning.rollouts.variable_collection import VariableCollector
from navarena.learning.settings import ImitationSettings, PPOSettings
from navarena.learning.storage import Rollout
from navarena.learning.tensors import require_device, seeded, torch
from navarena.learning.trainings.aggregation import Aggregator
from navarena.learning.trainings.evaluation import TrainingEvaluation, evaluate_and_keep, split_houses
from navarena.learning.trainings.log import Row, append_row, cut_log
from navarena.learning.trainings.setup import (
    Slots,
    build_policy,
    describe_policy,
    load_first_weights,
    make_samplers,
    make_slots,
    make_training_task,
    make_worlds,
    require_small_state,
)
from navarena.learning.trainings.store import TrajectoryStore
from navarena.learning.trainings.updates import (
    Statistics,
    find_not_finite,
    make_optimiser,
    update_imitation,
    update_ppo,
)
from navarena.simulation.world import WorldCache
from navarena.tasks.catalog import get_body_task
from navarena.tasks.sources import load_blocks

STORE = "episodes"
"""Folder of the episodes that a training collects, where it keeps them."""

STREAMS = ("episodes", "actions", "minibatches", "teacher", "augmentation")
"""Names of the generators of each group of slots; minibatches are dealt by the first group's."""

_log = logging.getLogger(__name__)


class Training:
    """A training, new or resumed from the checkpoint in its folder.

    Args:
        recipe: what is trained.
        folder: of checkpoint and log.
        machine: on which it computes.
        episodes: to learn from; None for the recipe's split.
        worlds: where scenes come from; None for a store of its own.

    Attributes:
        frames: collected so far, by all processes.
        updates: made so far.

    Raises InputError for a recipe that differs from the one in `folder` or does not fit its protocol, and
    FileError for a damaged checkpoint.
    """

    def __init__(
        self,
        recipe: Recipe,
        folder: Path,
        machine: Machine = ONE_THREAD,
        episodes: Sequence[Episode] | None = None,
        worlds: WorldCache | None = None,
    ) -> None:
        threads, device, processes = machine.threads, machine.device, machine.processes
        require_device(device)
        torch.set_num_threads(threads)
        self.recipe, self.folder, self.frames, self.updates = recipe, folder, 0, 0
        self._processes, rank = processes, processes.rank
        require_small_state(recipe, processes)
        self._plain: dict[str, Any] = json.loads(msgspec.json.encode(recipe))
        saved = load_resume(folder)
        if saved is not None:
            require_same_recipe(self._plain, json.loads(saved["recipe"]), folder)
            if "demonstrations" in saved:
                raise InputError(
                    f"expected a training without --demos in {folder}, got one with; choose another folder "
                    "by --out"
                )
        task = make_training_task(recipe)
        watch = recipe.evaluation
        blocks = load_blocks(task, recipe.split) if episodes is None else find_blocks(episodes)
        is_watched = watch.updates > 0 and watch.selection == "train"
        houses, held_out = split_houses(blocks.houses, watch.houses if is_watched else 0)
        self._samplers = make_samplers(recipe, blocks, houses, processes, int(episodes is None))
        worlds = make_worlds(task) if worlds is None else worlds
        slot_groups = make_slots(recipe, task, self._samplers, worlds, threads)
        self._batches = [one.batch for one in slot_groups]
        self._batch = self._batches[0]
        self._info = describe_policy(recipe, task, self._batch)
        self._is_watched = bool(held_out) or (watch.updates > 0 and watch.selection == "paper")
        if watch.updates and not self._is_watched:
            _log.warning("nothing is evaluated: %d houses are too few to hold one out", len(houses))
        self._evaluation: TrainingEvaluation | None = None
        if self._is_watched and not rank:
            own_task = get_body_task(recipe.protocol)  # graphs are evaluated by `navarena evaluate` alone
            corruptions = tuple(write_corruption(text) for text in recipe.corruptions)
            self._evaluation = TrainingEvaluation(own_task, watch, blocks, held_out, worlds, corruptions)
        self._curve: list[CurvePoint] = []
        self._threads, self._cpu_before = threads, -time.process_time()
        self._cpu_of_all = 0.0
        with seeded("learning", recipe.seed, "weights"):
            self._policy, targets = build_policy(recipe, self._info, task, self._batch)
        if saved is None:
            load_first_weights(self._policy, self._info, recipe, folder, task)
        self._policy.to(device)
        self._policy.in_bfloat16 = choose_precision(recipe.precision, device)
        has_ramp = isinstance(recipe.method, PPOSettings) and recipe.method.actor_ramp > 0
        self._optimiser = make_optimiser(self._policy, recipe.method.optimiser, has_ramp)
        places = [rank * len(slot_groups) + group for group in range(len(slot_groups))]  # among all groups
        self._generators = {
            f"{name}{group or ''}": make_generator("learning", recipe.seed, name, *([place] if place else []))
            for group, place in enumerate(places)
            for name in STREAMS
        }
        if isinstance(recipe.method, ImitationSettings) and task.is_continuous:
            raise InputError(f"expected discrete actions for imitation, got {task.protocol_id!r}")
        if recipe.augmentation.is_on and device != "cpu":
            raise InputError(f"expected no augmentation on {device}, got {recipe.augmentation}")
        self._collector = self._make_collector(slot_groups, targets)
        numbers = len(task.actions) if task.is_continuous else 0
        with telling_memory_needs(recipe, (*self._info.inputs, *self._policy.frozen), checks=True):
            stored, frozen = (*self._info.inputs, *targets), self._policy.frozen
            self._rollout = Rollout(stored, recipe.stored_steps, recipe.slots, numbers, device, frozen)
        self._aggregator = self._make_aggregator(device, is_new=saved is None)
        self._rows: list[Statistics] = []
        if saved is not None:
            self._restore(saved)
        if not rank:
            cut_log(folder, self.frames)

    def _make_aggregator(self, device: str, is_new: bool) -> Aggregator | None:
        """DAgger's store of episodes; None for other methods."""
        recipe, method = self.recipe, self.recipe.method
        if not isinstance(method, ImitationSettings) or method.aggregation is None:
            return None
        if device != "cpu" or self._processes.count > 1:
            raise InputError("expected one process on the processor for a store of episodes")
        store = TrajectoryStore(self.folder / STORE, is_new)
        return Aggregator(method, recipe.policy.remembers, store, recipe.seed)

    def _make_collector(
        self, slot_groups: Sequence[Slots], targets: Sequence[InputSpec]
    ) -> Collector | VariableCollector:
        recipe, info, processes = self.recipe, self._info, self._processes
        is_variable = recipe.collection == "variable"
        collectors = []
        for group, one in enumerate(slot_groups):
            own = {name: self._generators[f"{name}{group or ''}"] for name in STREAMS}
            augmenter = None
            if recipe.augmentation.is_on:
                moves = () if info.is_continuous else info.actions
                drawn = own["augmentation"]
                augmenter = Augmenter(
                    recipe.augmentation, info.inputs, one.batch.slots, drawn, moves, targets
                )
            others = ALONE if is_variable else processes  # groups end their rollouts together
            collectors.append(
                Collector(recipe, one.batch, one.episodes, self._policy, own, augmenter, others)
            )
        if not is_variable:
            return collectors[0]
        return VariableCollector(collectors, recipe.slots * recipe.steps, processes, recipe.preemption)

    def run(self, report: Callable[[Row], None] = lambda row: None) -> CheckpointInfo:
        """Train until the recipe's frames are collected; returns the last checkpoint's description.

        Args:
            report: called with every line of the log.

        Raises CheckFailedError for rewards, losses and gradients that are not finite; the last checkpoint
        stays. Raises StorageError when a file cannot be written.
        """
        recipe = self.recipe
        began, first = time.perf_counter(), self.frames
        self._sum_cpu()
        if self.frames >= recipe.frames and not self._processes.rank:
            complete_checkpoint(self.folder, self._describe(), self._policy)
        while self.frames < recipe.frames:
            self._rows.append(self.advance())
            is_over = self.frames >= recipe.frames
            is_due = is_over or (self._is_watched and self.updates % recipe.evaluation.updates == 0)
            if is_over or self.updates % recipe.log_updates == 0:
                self._write_log(
                    self._summarise((self.frames - first) / (time.perf_counter() - began)), report
                )
            is_saved = is_due or self.updates % recipe.save_updates == 0
            if is_saved:
                self._sum_cpu()
            if is_due and self._evaluation is not None:
                self._write_log(self._evaluate(self._evaluation).row(), report)
            if is_saved:
                self._save()
        return self._describe()

    def _sum_cpu(self) -> None:
        """Ask all processes for the time that the next checkpoint states."""
        self._cpu_of_all = sum(self._processes.gather(self.cpu_seconds))

    def _write_log(self, row: Row, report: Callable[[Row], None]) -> None:
        """Append a line to the log, which the first process writes, and report it; raises StorageError."""
        if not self._processes.rank:
            append_row(self.folder, row)
        report(row)

    def _evaluate(self, evaluation: TrainingEvaluation) -> CurvePoint:
        """Evaluate the policy as it is."""
        settings = self.recipe.evaluation
        with self._collector.clock.measure("evaluation"):
            point = evaluate_and_keep(
                evaluation, settings, self.folder, self._policy, self._describe, self._curve
            )
            torch.set_num_threads(self._threads)  # the agent computes with one
        return point

    @property
    def cpu_seconds(self) -> float:
        """Processor seconds of this process and the resumed ones, all threads together."""
        return self._cpu_before + time.process_time()

    def _describe(self) -> CheckpointInfo:
        """Description of a checkpoint of the current state."""
        return replace(
            self._info,
            frames=self.frames,
            updates=self.updates,
            curve=tuple(self._curve),
            cpu_seconds=round(self._cpu_of_all, 1),
        )

    def close(self) -> None:
        """End the processes that prepare houses."""
        for sampler in self._samplers:
            sampler.close()

    def advance(self) -> Statistics:
        """Collect one rollout and update; returns its log.

        Raises CheckFailedError as `run`.
        """
        recipe, rollout, collector = self.recipe, self._rollout, self._collector
        done = self.frames / recipe.frames
        method, generator = recipe.method, self._generators["minibatches"]
        rollout = collector.collect(rollout, done)
        clock, needs = collector.clock.measure("learning"), telling_memory_needs(recipe, self._info.inputs)
        try:
            with clock, needs, seeded("learning", recipe.seed, "dropout", self.updates):
                if self._aggregator is not None:
                    after = (self.frames + recipe.slots * recipe.steps) / recipe.frames
                    row = self._aggregator.advance(
                        self._policy, self._optimiser, rollout, done, after, generator
                    )
                elif isinstance(method, ImitationSettings):
                    row = update_imitation(
                        self._policy, self._optimiser, rollout, method, done, generator, self._processes
                    )
                else:
                    row = update_ppo(
                        self._policy, self._optimiser, rollout, method, done, generator, self._processes
                    )
        except FloatingPointError as error:
            raise CheckFailedError(
                f"expected finite numbers in update {self.updates + 1}, got {error}; {self._find_culprit()}; "
                f"{describe_last_checkpoint(self.folder)}, lower the learning rate"
            ) from error
        self.frames += int(self._processes.add_up(torch.tensor(rollout.frames)))
        self.updates += 1
        fresh = slice(None) if rollout.fresh is None else rollout.fresh
        row["reward"] = float(rollout.rewards[fresh].mean())
        if rollout.lengths is not None:
            row["stale_share"] = 1.0 - rollout.frames / int(rollout.lengths.sum())
        return row

    def _find_culprit(self) -> str:
        """Slot, scene and episode of the first number that is not finite."""
        found = find_not_finite(self._policy, self._rollout)
        if found is None:
            return "the rollout is finite, and what the policy makes of it"
        group, own = divmod(found.slot, self._batch.slots)
        one = self._batches[group].episode(own)
        return f"first in {found.name} of slot {found.slot}, which runs {one.episode_id} in {one.scene_id}"

    def _summarise(self, speed: float) -> Row:
        """A line of the log: means over the updates since the last one, and of the episodes that ended."""
        collector = self._collector
        own_part = (self._rows, collector.ended, collector.dropped, collector.clock.seconds, self.cpu_seconds)
        of_rows, of_ended, of_dropped, of_seconds, of_cpu = zip(*self._processes.gather(own_part))
        rows, ended = list(chain(*of_rows)), list(chain(*of_ended))
        row: Row = {"kind": "training", "frames": self.frames, "updates": self.updates}
        row |= {"cpu_seconds": round(sum(of_cpu), 1), "frames_per_second": round(speed, 1)}
        row["eta_seconds"] = round(max(self.recipe.frames - self.frames, 0) / speed, 1)
        names = dict.fromkeys(name for one in rows for name in one)
        row |= {name: float(np.mean([one[name] for one in rows if name in one])) for name in names}
        if "ratio_error" in row:
            row["ratio_error"] = max(one["ratio_error"] for one in rows if "ratio_error" in one)
        seen = {name: value[0] for name, value in self._rollout.observations.items()}
        effect = self._policy.measure_image_effect(seen)
        row |= {} if effect is None else {"image_effect": effect}
        own = [one for one in ended if not one["led"]]
        row |= {"episodes": len(ended), "own_episodes": len(own), "dropped": sum(of_dropped)}
        for name in ("success", "spl", "steps"):
            if own and name in own[0]:
                row[name] = float(np.mean([one[name] for one in own]))
        seconds = {phase: sum(one[phase] for one in of_seconds) for phase in collector.clock.seconds}
        total = max(sum(seconds.values()), 1e-9)
        row |= {f"share_{phase}": round(spent / total, 4) for phase, spent in seconds.items()}
        self._rows, collector.ended = [], []
        return row

    def _save(self) -> None:
        """Write the checkpoint: the first process replaces it when all others have written their parts.

        The parts of the one before are removed after that.
        """
        processes, folder = self._processes, self.folder
        resume = self._make_resume()
        if processes.rank:
            buffer = io.BytesIO()
            torch.save(resume, buffer)
            save_part(folder, self.updates, processes.rank, buffer.getvalue())
        processes.wait()
        if not processes.rank:
            resume |= {"optimiser": self._optimiser.state_dict(), "processes": processes.count}
            save_checkpoint(folder, self._describe(), self._policy, resume)
        processes.wait()
        if processes.rank:
            drop_parts(folder, self.updates, processes.rank)

    def _make_resume(self) -> dict[str, Any]:
        """State that resumes this process, besides weights and optimiser."""
        plain, state = self._collector.save_state()
        states = {name: one.bit_generator.state for name, one in self._generators.items()}
        return {
            "recipe": json.dumps(self._plain),
            "frames": self.frames,
            "updates": self.updates,
            "generators": json.dumps(states),
            "collector": plain,
            "state": state,
            "rows": self._rows,
            "curve": msgspec.json.encode(self._curve).decode(),
            "cpu_seconds": self.cpu_seconds,
            "aggregator": None if self._aggregator is None else self._aggregator.save_state(),
        }

    def _restore(self, saved: dict[str, Any]) -> None:
        """Restore what `_make_resume` made, and weights and optimiser."""
        processes, before = self._processes, saved.get("processes", 1)
        if before != processes.count:
            raise InputError(
                f"expected {before} processes of the training in {self.folder}, got {processes.count}; start "
                f"it by torchrun --nproc-per-node={before}, or choose another folder by --out"
            )
        self._curve = msgspec.json.decode(saved["curve"], type=list[CurvePoint])
        self._policy.load_state_dict(saved["weights"])
        self._optimiser.load_state_dict(saved["optimiser"])
        if processes.rank:
            saved = load_part(self.folder, saved["updates"], processes.rank)
        self.frames, self.updates, self._rows = saved["frames"], saved["updates"], saved["rows"]
        self._cpu_before += saved["cpu_seconds"]
        for name, state in json.loads(saved["generators"]).items():
            self._generators[name].bit_generator.state = state
        self._collector.restore_state(saved["collector"], saved["state"])
        if self._aggregator is not None:
            self._aggregator.restore_state(saved["aggregator"])
