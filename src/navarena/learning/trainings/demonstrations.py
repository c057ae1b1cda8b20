"""Imitation of demonstrations that lie on the disk, as `navarena demos` wrote them."""

import hashlib
import json
import math
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import msgspec
import numpy as np

from navarena.core.errors import CheckFailedError, InputError
from navarena.core.protocol_ids import base_protocol
from navarena.core.seeding import make_generator
from navarena.evaluation.demonstrations.reading import EpisodeArrays, open_demos
from navarena.learning.agents.fit import find_vocabulary
from navarena.learning.checkpoints.files import describe_last_checkpoint, load_resume, require_same_recipe
from navarena.learning.checkpoints.policies import CheckpointInfo, complete_checkpoint, save_checkpoint
from navarena.learning.inputs import describe_unit, resize_input
from navarena.learning.precision import choose_precision
from navarena.learning.recipes.recipe import Recipe
from navarena.learning.settings import AggregationSettings, ImitationSettings
from navarena.learning.storage import NO_LABEL
from navarena.learning.tensors import seeded, torch
from navarena.learning.trainings.aggregation import Aggregator
from navarena.learning.trainings.log import Row, append_row, cut_log
from navarena.learning.trainings.setup import (
    build_policy,
    describe_policy,
    load_first_weights,
    make_training_task,
)
from navarena.learning.trainings.store import Entry, TrajectoryStore
from navarena.learning.trainings.training import STORE
from navarena.learning.trainings.updates import make_optimiser
from navarena.tasks.batch import NavigationBatch
from navarena.tasks.catalog import get_body_task, require_body_task
from navarena.tasks.task import Task


class DemoTraining:
    """A training that imitates demonstrations, begun or gone on with from the checkpoint in its folder.

    The demonstrations are learned from in whole passes until the recipe's frames are reached, by whole
    episodes of like length, or tour by tour where the policy remembers tours; its aggregation says how many
    side by side.

    Args:
        recipe: of imitation; what it says of collection and evaluations does not matter.
        demos: folder of the demonstrations.
        folder: of checkpoint and log.
        threads: of PyTorch.

    Attributes:
        frames: learned from so far.
        updates: passes over the demonstrations.

    Raises InputError for another method, recipe or demonstrations than in `folder`, and for demonstrations of
    another protocol or without an input of the policy in its size and unit; FileError for half-written or
    damaged ones.
    """

    def __init__(self, recipe: Recipe, demos: Path, folder: Path, threads: int = 1) -> None:
        method = _require_plain_imitation(recipe)
        torch.set_num_threads(threads)
        self.recipe, self.folder, self.frames, self.updates = recipe, folder, 0, 0
        self._demos = open_demos(demos)
        manifest = self._demos.manifest
        self._digest = hashlib.sha256(json.dumps(manifest.files, sort_keys=True).encode()).hexdigest()
        self._plain: dict[str, Any] = json.loads(msgspec.json.encode(recipe))
        saved = load_resume(folder)
        if saved is not None:
            require_same_recipe(self._plain, json.loads(saved["recipe"]), folder)
            if saved.get("demonstrations") != self._digest:
                raise InputError(
                    f"expected a training from the demonstrations {demos} in {folder}, got one from others, "
                    "or from none; choose another folder by --out"
                )
        task = require_body_task(make_training_task(recipe))
        batch = NavigationBatch(task, 1, threads, recipe.sensors)
        self._info = replace(
            describe_policy(recipe, task, batch), demonstrations=f"{manifest.agent} on {manifest.identity}"
        )
        self._require_fit(demos)
        self._require_units(task, batch, demos)
        with seeded("learning", recipe.seed, "weights"):
            self._policy, _ = build_policy(replace(recipe, targets=()), self._info, task, batch)
        self._policy.in_bfloat16 = choose_precision(recipe.precision)
        self._optimiser = make_optimiser(self._policy, method.optimiser)
        self._generator = make_generator("learning", recipe.seed, "demonstrations")
        settings = replace(method.aggregation or self._choose_order(), epochs=1)
        store = TrajectoryStore(folder / STORE, is_new=saved is None)
        self._aggregator = Aggregator(
            replace(method, aggregation=settings), recipe.policy.remembers, store, recipe.seed
        )
        self._fill(store)
        self._cpu_before = -time.process_time()
        if saved is not None:
            self._restore(saved)
        else:
            load_first_weights(self._policy, self._info, recipe, folder, task)
            self._aggregator.learn_statistics(self._policy)
        cut_log(folder, self.frames)

    def _choose_order(self) -> AggregationSettings:
        """Episodes of like length side by side, or one after the other in tours that the policy remembers."""
        has_tours = any(one.tour_id for one in self._demos.manifest.episodes)
        carries = has_tours and self.recipe.policy.remembers in ("tour", "scene")
        return AggregationSettings(batch=16, order="tours" if carries else "lengths")

    def _require_fit(self, folder: Path) -> None:
        manifest, info = self._demos.manifest, self._info
        if base_protocol(manifest.protocol) != base_protocol(self.recipe.protocol):
            raise InputError(
                f"expected demonstrations of {base_protocol(self.recipe.protocol)}, got {folder} of "
                f"{manifest.protocol}"
            )
        if manifest.actions != info.actions or manifest.is_continuous:
            raise InputError(
                f"expected demonstrations with the actions {', '.join(info.actions)}, got {folder} with "
                f"{', '.join(manifest.actions)}{' as numbers' if manifest.is_continuous else ''}"
            )
        columns = {one.name: one for one in manifest.columns}
        for one in info.inputs:
            if one.name not in columns:
                raise InputError(
                    f"expected the observation {one.name} in {folder}, got {', '.join(columns)}; write the "
                    f"demonstrations with --sensors {','.join(self.recipe.sensors)}"
                )
            shape = columns[one.name].shape
            is_larger = len(shape) == 3 and shape[0] >= one.shape[0] and shape[1] >= one.shape[1]
            if not (is_larger if one.is_image else shape == one.shape):
                raise InputError(f"expected {one.name} of {one.shape} at least in {folder}, got {shape}")

    def _require_units(self, task: Task, batch: NavigationBatch, folder: Path) -> None:
        """Raise InputError for demonstrations in other units or of other categories than those of `task`."""
        names, protocol = tuple(one.name for one in self._info.inputs), self._demos.manifest.protocol
        theirs = get_body_task(protocol)
        specs = NavigationBatch(theirs, 1, 1, names).specs
        for name in names:
            ours = describe_unit(task, name, batch.specs[name])
            other = describe_unit(theirs, name, specs[name])
            if ours != other:
                raise InputError(
                    f"expected {name} in {ours or 'no unit'} in {folder}, as {self.recipe.protocol} shows "
                    f"it, got {other or 'no unit'} of {protocol}; choose that by --protocol"
                )
        if find_vocabulary(theirs) != self._info.vocabulary:
            raise InputError(
                f"expected the categories of {self.recipe.protocol} in {folder}, got those of {protocol}; "
                "choose that by --protocol"
            )

    def _fill(self, store: TrajectoryStore) -> None:
        """Bring every demonstration into the form that the policy reads, once."""
        known = {one.key for one in store.entries}
        for k, entry in enumerate(self._demos.manifest.episodes):
            if str(k) not in known:
                tour = f"{entry.scene_id}/{entry.tour_id}" if entry.tour_id else ""
                store.add(Entry(str(k), 0, tour, entry.steps), self._make_arrays(self._demos.read(k)))
        store.flush()

    def _make_arrays(self, found: EpisodeArrays) -> dict[str, np.ndarray]:
        """Name -> (T, ...) of an episode, as a store keeps them: inputs in their sizes, actions as labels."""
        info, actions = self._info, found.actions.astype(np.int16)
        seen = {
            one.name: resize_input(one, found.observations[one.name]).astype(one.dtype) for one in info.inputs
        }
        masked = np.isin(actions, [info.actions.index(name) for name in info.masked])
        labels, goes_on = np.where(masked, np.int16(NO_LABEL), actions), np.arange(len(actions)) > 0
        return {**seen, "action": actions, "label": labels, "mask": goes_on}

    def run(self, report: Callable[[Row], None] = lambda row: None) -> CheckpointInfo:
        """Learn until the recipe's frames are reached; returns the last checkpoint's description.

        Args:
            report: called with every line of the log, one for each pass.

        Raises CheckFailedError for losses and gradients that are not finite; the last checkpoint stays.
        Raises StorageError when a file cannot be written.
        """
        once = self._demos.manifest.frames
        passes = math.ceil(self.recipe.frames / once)
        began, first = time.perf_counter(), self.frames
        if self.updates >= passes:
            complete_checkpoint(self.folder, self._describe(), self._policy)
        while self.updates < passes:
            try:
                done = self.updates / passes
                with seeded("learning", self.recipe.seed, "dropout", self.updates):
                    row = self._aggregator.learn(self._policy, self._optimiser, 0, done, self._generator)
            except FloatingPointError as error:
                raise CheckFailedError(
                    f"expected finite numbers in pass {self.updates + 1}, got {error}; "
                    f"{describe_last_checkpoint(self.folder)}, lower the learning rate"
                ) from error
            self.frames, self.updates = self.frames + once, self.updates + 1
            speed = (self.frames - first) / (time.perf_counter() - began)
            line: Row = {"kind": "training", "frames": self.frames, "updates": self.updates}
            line |= {"cpu_seconds": round(self._cpu_seconds, 1), "frames_per_second": round(speed, 1)}
            self._write_log(line | row, report)
            self._save()
        return self._describe()

    @property
    def _cpu_seconds(self) -> float:
        return self._cpu_before + time.process_time()

    def _write_log(self, row: Row, report: Callable[[Row], None]) -> None:
        append_row(self.folder, row)
        report(row)

    def _describe(self) -> CheckpointInfo:
        spent = round(self._cpu_seconds, 1)
        return replace(self._info, frames=self.frames, updates=self.updates, cpu_seconds=spent)

    def _save(self) -> None:
        resume = {
            "recipe": json.dumps(self._plain),
            "demonstrations": self._digest,
            "frames": self.frames,
            "updates": self.updates,
            "generator": json.dumps(self._generator.bit_generator.state),
            "optimiser": self._optimiser.state_dict(),
            "cpu_seconds": self._cpu_seconds,
        }
        save_checkpoint(self.folder, self._describe(), self._policy, resume)

    def _restore(self, saved: dict[str, Any]) -> None:
        self._policy.load_state_dict(saved["weights"])
        self._optimiser.load_state_dict(saved["optimiser"])
        self._generator.bit_generator.state = json.loads(saved["generator"])
        self.frames, self.updates = saved["frames"], saved["updates"]
        self._cpu_before += saved["cpu_seconds"]

    def close(self) -> None:
        """Nothing is held."""


def _require_plain_imitation(recipe: Recipe) -> ImitationSettings:
    """The method of `recipe`; raises InputError for what needs more than demonstrations hold."""
    method = recipe.method
    if not isinstance(method, ImitationSettings):
        raise InputError("expected a recipe of imitation for --demos, got one of reinforcement")
    if method.auxiliaries:
        raise InputError(
            "expected no auxiliary losses with --demos, which hold no targets for them, got "
            f"{', '.join(one.kind for one in method.auxiliaries)}; add --set method.auxiliaries="
        )
    if recipe.policy.remembers == "subtask":
        raise InputError(
            "expected policy.remembers=episode or longer with --demos, which do not say where sub-tasks "
            "begin, got subtask"
        )
    images = {"corruptions": recipe.corruptions, "mixture": recipe.mixture}
    changed = [name for name, given in images.items() if given]
    if changed or recipe.augmentation.is_on:
        raise InputError(
            f"expected no {(changed or ['augmentation'])[0]} with --demos, whose images stay as they "
            "were written; train without --demos"
        )
    return method
