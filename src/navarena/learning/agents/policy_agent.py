"""Agent of a checkpoint: `checkpoint:DIR` acts as its recipe says, with ?temperature=1 it samples.

With ?adapt=ap or ?adapt=rp it adapts before an evaluation, with ?weights=FILE it acts by what it adapted to
before, with ?map=SENSOR it sees this map in the place of its own. Options are joined by "&".
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, replace
from pathlib import Path
from types import MappingProxyType
from typing import Any, ClassVar

import numpy as np
from jaxtyping import Bool

from navarena.agents.agent import Agent, Boundary, Start
from navarena.agents.declaration import join_hashes
from navarena.agents.options import split_options
from navarena.core.errors import CheckFailedError, InputError, require_name
from navarena.core.files import hash_file
from navarena.core.protocol_ids import base_protocol
from navarena.core.seeding import make_generator
from navarena.learning.agents.adaptation import (
    OPTIONS,
    AdaptationSettings,
    Adapter,
    EpisodeAdapters,
    load_adapted,
    read_settings,
)
from navarena.learning.agents.fit import require_fitting
from navarena.learning.checkpoints.policies import CheckpointInfo, load_policy, read_info
from navarena.learning.inputs import choose_inputs, resize_input
from navarena.learning.policy import PREVIOUS, Policy, RecurrentPolicy
from navarena.learning.storage import NO_ACTION
from navarena.learning.tensors import Tensor, Tree, torch
from navarena.tasks.calibration_env import CalibrationEnv
from navarena.tasks.graphs.batch import GraphBatch
from navarena.tasks.options import read_options
from navarena.tasks.task import Actions, Phase, Task, TaskRules

PHASE = "phase"
"""The sensor of who acts in a tour: where an oracle leads, no choice of the policy is made."""

CALIBRATED_EARLIER = "calibration under unknown corruptions"
"""What an agent with weights that it kept was trained with, too."""


def find_checkpoint(text: str) -> type["CheckpointAgent"]:
    """The agent of a checkpoint given as DIR or DIR?NAME=VALUE&... (CheckpointOptions, AdaptationSettings).

    Raises UnknownNameError for another option, InputError for a value that does not fit, and FileError for a
    folder without a checkpoint.
    """
    folder, mark, options = text.partition("?")
    found = open_checkpoint(Path(folder))
    return found.with_options(options) if mark else found


def open_checkpoint(folder: Path) -> type["CheckpointAgent"]:
    """The agent of the checkpoint in `folder`; raises FileError without one."""
    info = read_info(folder)
    doing = info.recipe.get("description") or info.protocol
    members = {
        "folder": folder,
        "temperature": info.policy.temperature,
        "trained_on": info.protocol,
        "sensors": tuple(one.name for one in info.inputs),
        "resizes": info.resizes,
        "trained_with": info.trained_with,
        "model_sha256": info.model_sha256,
        "on_graphs": info.policy.memory == "hamt",
        "in_scenes": info.policy.memory != "hamt",
        "__doc__": f"Trained policy: {doing}; {info.frames:,} frames.",
    }
    return type("CheckpointAgent", (CheckpointAgent,), members)


@dataclass(frozen=True)
class CheckpointOptions:
    """Options behind the folder of a checkpoint, each in force where it is named.

    Those of AdaptationSettings stand beside them.

    Attributes:
        temperature: at which actions are sampled; 0 takes the likeliest.
        sample: short for a temperature of 1 or 0.
        map: sensor of the map that the policy sees in the place of its own.
        weights: file of adapted weights.

    Raises InputError for a negative temperature.
    """

    temperature: float = 0.0
    sample: bool = False
    map: str = ""
    weights: str = ""

    def __post_init__(self) -> None:
        if self.temperature < 0:
            raise InputError(f"expected a temperature of at least 0, got {self.temperature:g}")


OWN_OPTIONS = tuple(one.name for one in fields(CheckpointOptions))


class CheckpointAgent(Agent):
    """Plays the policy of a checkpoint.

    Every call of the network has the checkpoint's `act_rows` rows, and sampled actions draw from the
    episode's own generator: what an episode sees decides what is done, whatever runs beside it. PyTorch
    computes with one thread.

    Args:
        task: to act in; with the checkpoint's actions, in any order, and maybe others that it never takes.
        seed: of nothing: sampled actions follow the run's seed through the starts.

    Raises InputError for a task of other actions, observations or categories, FileError for a damaged
    checkpoint.
    """

    folder: ClassVar[Path]
    temperature: ClassVar[float]
    trained_on: ClassVar[str]
    adaptation: ClassVar[AdaptationSettings | None] = None
    adapted: ClassVar[str] = ""
    shown: ClassVar[Mapping[str, str]] = MappingProxyType({})
    """Input of the policy -> the sensor that it observes instead."""

    @classmethod
    def with_options(cls, text: str) -> type["CheckpointAgent"]:
        members: dict[str, Any] = {"__doc__": cls.__doc__}
        given = split_options(text, "a checkpoint")
        for name in given:
            require_name("option of a checkpoint", name, (*OWN_OPTIONS, *OPTIONS))
        own = {name: value for name, value in given.items() if name in OWN_OPTIONS}
        learning = {name: value for name, value in given.items() if name not in own}
        options = read_options(CheckpointOptions, own, "a checkpoint")
        if "sample" in own and "temperature" in own:
            raise InputError(f"expected sample= or temperature=, got both in {text!r}; leave one out")
        if "temperature" in own or "sample" in own:
            members["temperature"] = float(options.sample) if "sample" in own else options.temperature
        if options.weights:
            members["adapted"] = options.weights
            adapted = hash_file(Path(options.weights), "adapted weights")
            members["model_sha256"] = join_hashes(cls.model_sha256, adapted)
            members["trained_with"] = (*cls.trained_with, CALIBRATED_EARLIER)
        if options.map:
            seen = _find_map(cls.folder, options.map)
            members["shown"] = MappingProxyType({seen: options.map})
            members["sensors"] = tuple(options.map if one == seen else one for one in cls.sensors)
        if learning:
            members["adaptation"] = read_settings(learning)
        return type("CheckpointAgent", (cls,), members)

    @classmethod
    def trained_beside(cls, task: Task) -> tuple[str, ...]:
        """Protocol and map of the training where the evaluation has others, such as one of more goals."""
        is_same = base_protocol(cls.trained_on) == base_protocol(task.protocol_id)
        maps = tuple(own for own, shown in cls.shown.items() if shown != own)
        return (() if is_same else (f"episodes of {cls.trained_on}",)) + maps

    def __init__(self, task: TaskRules, seed: int) -> None:
        self._info, self._policy = load_policy(self.folder)
        observed = tuple(replace(one, name=self.shown.get(one.name, one.name)) for one in self._info.inputs)
        require_fitting(replace(self._info, inputs=observed), task, self.folder)
        is_body = isinstance(self._policy, RecurrentPolicy)
        if not is_body and (self.adapted or self.adaptation is not None):
            raise InputError(f"expected a checkpoint of bodies in scenes to adapt, got {self.folder}")
        if self.adapted:
            load_adapted(self._policy, Path(self.adapted))
        self._declaration = self._info.actions.index(task.declaration)
        if PHASE in task.sensors:
            self.sensors = tuple(dict.fromkeys((*self.sensors, PHASE)))
        if isinstance(task, Task) and task.declares_itself:
            self.forgo_declaration()
        self._has_adapted = False
        self._episodes: EpisodeAdapters | None = None
        if self.adaptation is not None and self.adaptation.per_episode:
            self._episodes = EpisodeAdapters(self._policy, self._make_adapter)
        torch.set_num_threads(1)
        self._rows = self._info.act_rows
        self._numbers = np.array([task.actions.index(name) for name in self._info.actions])
        self._own_numbers = np.full(len(task.actions), NO_ACTION)  # of actions that it does not have, too
        self._own_numbers[self._numbers] = np.arange(len(self._numbers))
        self._state: Tree = {}
        self._begun = np.zeros(0, bool)
        self._led = np.zeros(0, bool)
        self._generators: list[np.random.Generator | None] = []
        self._seen = {one.name: np.zeros((self._rows, *one.shape), one.dtype) for one in self._info.inputs}

    def forgo_declaration(self) -> None:
        """Mask the declaration: its probability goes to the other actions, as in MultiON's oracle FOUND."""
        if isinstance(self._policy, RecurrentPolicy) and not self._info.is_continuous:
            self._policy.mask_action(self._declaration)

    def _make_adapter(self, policy: RecurrentPolicy) -> Adapter:
        assert self.adaptation is not None
        return Adapter(policy, self._info, self.folder, self.adaptation, self._declaration)

    @property
    def adapts(self) -> bool:
        return self.adaptation is not None and self._episodes is None

    def adapt(self, env: CalibrationEnv) -> None:
        """Learn from `env` by the loss of `adaptation`; the checkpoint's files stay as they are.

        Raises InputError without one, for one that adapts within episodes, and for a checkpoint that was not
        trained with its loss.
        """
        if self._episodes is not None:
            raise InputError(
                f"expected no calibration for {self.folder}, which adapts from its trained weights in each "
                "episode; leave --calibration-steps or &per_episode=true out"
            )
        if self.adaptation is None:
            raise InputError(
                f"expected {self.folder} with a loss to adapt by, got none; write ?adapt=ap or ?adapt=rp "
                "behind it, or evaluate it without calibration"
            )
        generator = make_generator("learning", self.adaptation.seed, "adaptation")
        self._make_adapter(self._policy).run(env, self._observe, self._translate, generator)
        self._has_adapted = True

    def attach(self, batch: Any) -> None:
        """Raises InputError for an agent that should have adapted, in a run without calibration.

        On graphs also for features of views that it was not trained with.
        """
        if isinstance(batch, GraphBatch):
            self._require_features(batch)
        if self.adapts and not self._has_adapted:
            raise InputError(
                f"expected a calibration in which {self.folder} adapts, got none; give --calibration-steps "
                "166000, leave ?adapt= out, or adapt within episodes by &per_episode=true"
            )

    def _require_features(self, batch: GraphBatch) -> None:
        names = [one.name for one in self._info.inputs]
        now = choose_inputs(batch.specs, names, (1, 1))
        if batch.features != self._info.features or now != self._info.inputs:
            sizes = [one.shape[-1] for inputs in (self._info.inputs, now) for one in inputs
                     if one.name == "view_features"]  # fmt: skip
            ours, theirs = self._info.features or "a file", batch.features or "a file"
            raise InputError(
                f"expected views by {ours}, {sizes[0]} numbers each, for {self.folder}, got {theirs}, "
                f"{sizes[1]} numbers; choose them by --features"
            )

    def _observe(self, observations: Mapping[str, np.ndarray]) -> Tree:
        """The inputs among `observations`, as the policy takes them: copies."""
        types = {one.name: one.dtype for one in self._info.inputs}
        return {
            name: torch.from_numpy(np.array(seen, types[name]))
            for name, seen in self._resize(observations).items()
        }

    def _resize(self, observations: Mapping[str, np.ndarray]) -> dict[str, np.ndarray]:
        """Input -> (N, *shape) of the `observations` of the sensor that it observes."""
        return {
            one.name: resize_input(one, observations[self.shown.get(one.name, one.name)])
            for one in self._info.inputs
        }

    def _translate(self, actions: np.ndarray) -> np.ndarray:
        """`actions` as the checkpoint numbers them, as the protocol does."""
        return actions if self._info.is_continuous else self._numbers[actions]

    def reset(self, starts: Sequence[Start]) -> None:
        self._make_room(1 + max((start.slot for start in starts), default=-1))
        for start in starts:
            if start.boundary >= Boundary[self._info.policy.remembers.upper()]:
                self.forget(start.slot)
            if start.boundary >= Boundary.EPISODE:
                self._generators[start.slot] = start.generator("checkpoint")
            if self._episodes is not None:
                self._episodes.begin(start)

    def forget(self, slot: int) -> None:
        """Reset the recurrent state of `slot`, but not its random stream."""
        self._make_room(slot + 1)
        self._begun[slot] = False

    def take_over(self, other: "CheckpointAgent", slot: int) -> None:
        """Copy the recurrent state of `other` in `slot`; its policy has the same sizes."""
        self._make_room(slot + 1)
        self._begun[slot] = other._begun[slot]
        for name, value in self._state.items():
            value[slot] = other._state[name][slot]

    @property
    def info(self) -> CheckpointInfo:
        """Description of the checkpoint."""
        return self._info

    def act(self, observations: Mapping[str, np.ndarray], active: Bool[np.ndarray, "n"]) -> Actions:
        slots = np.flatnonzero(active)
        self._make_room(len(active))
        columns = len(self._info.actions)
        shape = (len(active), columns) if self._info.is_continuous else (len(active),)
        chosen = np.zeros(shape, np.float64 if self._info.is_continuous else np.int64)
        small = self._resize(observations)
        together = self._rows if self._episodes is None else 1
        for first in range(0, len(slots), together):
            part = slots[first : first + together]
            for name, seen in self._seen.items():
                seen[: len(part)] = small[name][part]
            own = self._act_part(part) if self._episodes is None else self._act_adapting(part)
            chosen[part] = self._translate(own)
        if PHASE in self.sensors:
            self._led = np.asarray(observations[PHASE]) != Phase.AGENT
            self._state[PREVIOUS][slots[self._led[slots]]] = NO_ACTION + 1
        return chosen

    def overrule(self, actions: Actions) -> None:
        if not self._info.is_continuous:
            is_none = (actions == NO_ACTION) | (self._led if PHASE in self.sensors else False)
            actions = np.where(is_none, NO_ACTION, self._own_numbers[actions])
        given = torch.from_numpy(actions).to(self._state[PREVIOUS].dtype)
        self._state = self._policy.replace_actions(self._state, given)

    def _act_adapting(self, slots: np.ndarray) -> np.ndarray:
        """(1,) the action of one slot, whose policy first learns from the last step."""
        assert self._episodes is not None
        slot, frame = int(slots[0]), {k: torch.from_numpy(seen[:1]) for k, seen in self._seen.items()}
        self._episodes.see(slot, frame)
        actions = self._act_part(slots, self._episodes.policy(slot))
        generator = self._generators[slot]
        assert generator is not None, "reset comes before act"
        self._episodes.note(slot, frame, int(actions[0]), generator)
        return actions

    def _act_part(self, slots: np.ndarray, policy: Policy | None = None) -> np.ndarray:
        """(K,) or (K, numbers) actions of at most act_rows `slots` (K,), whose observations are in place.

        They are numbered as in the checkpoint.
        """
        count, rows = len(slots), torch.from_numpy(slots)
        state = self._policy.initial_state(self._rows)
        mask = torch.zeros(self._rows, dtype=torch.bool)
        mask[:count] = torch.from_numpy(self._begun[slots])
        for name, value in state.items():
            value[:count] = self._state[name][rows]

        def draw(height: int, width: int) -> Tensor:
            drawn = torch.full((height, width), 0.5, dtype=torch.float64)
            for row, slot in enumerate(slots.tolist()):
                generator = self._generators[slot]
                assert generator is not None, "reset comes before act"
                drawn[row] = torch.from_numpy(generator.random(width))
            return drawn

        with torch.inference_mode():
            seen = {name: torch.from_numpy(value) for name, value in self._seen.items()}
            drawing = draw if self.temperature > 0 else None
            decision = (policy or self._policy).act(seen, state, mask, drawing, self.temperature)
            for name, value in decision.state.items():
                self._state[name][rows] = value[:count]
        if not torch.isfinite(decision.log_probs[:count]).all():
            broken = [
                one.name for one in self._info.inputs if not np.isfinite(self._seen[one.name][:count]).all()
            ]
            raise CheckFailedError(
                f"expected finite probabilities of {self.folder}, got others; not finite among what "
                f"it observed: {', '.join(broken) or 'nothing'}"
            )
        self._begun[slots] = True
        actions: np.ndarray = decision.actions[:count].numpy()
        return actions

    def _make_room(self, slots: int) -> None:
        """Let there be a state for each of `slots`."""
        more = slots - len(self._begun)
        if more <= 0:
            return
        fresh = self._policy.initial_state(more)
        self._state = {name: torch.cat((self._state[name], new)) if self._state else new
                       for name, new in fresh.items()}  # fmt: skip
        self._begun = np.concatenate((self._begun, np.zeros(more, bool)))
        self._generators += [None] * more


def _find_map(folder: Path, shown: str) -> str:
    """The map of the checkpoint in `folder` in whose place `shown` is: its only one, or that of its name.

    Raises InputError for checkpoints without.
    """
    maps = [one.name for one in read_info(folder).inputs if one.is_map or one.is_semantic_map]
    named = [one for one in maps if shown.startswith(one)] if len(maps) > 1 else maps
    if len(named) != 1:
        got = ", ".join(maps) or "none"
        raise InputError(
            f"expected a checkpoint that sees one map for map=, or one that {shown!r} is named after, "
            f"got {folder} with {got}"
        )
    return named[0]
