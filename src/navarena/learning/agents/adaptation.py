"""Adaptation of a policy where it is deployed, without rewards, by what its images teach of themselves.

Policy adaptation during deployment (PAD; Hansen et al. 2021) as RobustNav uses it (Chattopadhyay et al. 2021,
section 3.3, which has no code of it): the loss beside the policy that it was trained with goes on, under the
corruptions of the place, and changes what reads the images. All the rest of the policy stays as it is.
"""

import copy
import hashlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any, Literal

import msgspec
import numpy as np

from navarena.agents.agent import Boundary, EpisodeStarts, Start
from navarena.core.errors import FileError, InputError
from navarena.core.files import read_bytes, write_atomic
from navarena.learning.auxiliaries.heads import AuxiliaryHeads, record_activations
from navarena.learning.auxiliaries.settings import Auxiliary
from navarena.learning.checkpoints.policies import CheckpointInfo, load_heads
from navarena.learning.policy import RecurrentPolicy
from navarena.learning.storage import Fragment
from navarena.learning.tensors import Tensor, Tree, safetensors, torch
from navarena.tasks.calibration_env import CalibrationEnv
from navarena.tasks.options import read_options

KINDS = {"ap": "inverse_dynamics", "rp": "rotation"}
"""Word -> the auxiliary loss: action prediction, rotation prediction."""

Observe = Callable[[Mapping[str, np.ndarray]], Tree]
"""Brings observations to the sizes and dtypes of the policy, as a copy."""

Translate = Callable[[np.ndarray], np.ndarray]
"""(N,) or (N, numbers) actions as the policy numbers them -> as the protocol does."""


CALIBRATED = ("steps", "source_policy", "keep", "seed")
"""Settings that only a calibration has."""


@dataclass(frozen=True)
class AdaptationSettings:
    """Settings of adaptation at test time, given as in `checkpoint:DIR?adapt=ap&rate=0.001`.

    Attributes:
        adapt: the loss: "ap" or "rp". The checkpoint was trained with it.
        rate: of Adam, constant; that of RobustNav's training. PAD has 0.001.
        steps: of all environments between two updates, each of which learns from these steps alone; 16 x 8
            frames. PAD updates after every step.
        bound: greatest change of a weight, as the norm of its change over its own norm; 0 for no bound.
        source_policy: whether the policy as it was trained acts while its copy learns.
        per_episode: whether it adapts in the evaluation itself, after every step, and begins anew from the
            trained weights with each episode (PAD's protocol); no calibration is needed then.
        keep: file into which adapted weights are written; empty for none.
        seed: of the actions and turns.

    Raises InputError for numbers out of range.
    """

    adapt: Literal["ap", "rp"] = "ap"
    rate: float = 3e-4
    steps: int = 8
    bound: float = 0.0
    source_policy: bool = False
    per_episode: bool = False
    keep: str = ""
    seed: int = 0

    def __post_init__(self) -> None:
        if not (0 < self.rate < 1) or self.steps < 1 or self.bound < 0:
            raise InputError(f"expected a rate of 0 to 1, steps from 1 and no negative bound, got {self}")
        only = [one for one in fields(self) if one.name in CALIBRATED]
        idle = [one.name for one in only if getattr(self, one.name) != one.default]
        if self.per_episode and idle:
            raise InputError(
                f"expected no {' or '.join(idle)} with per_episode, which learns after every step and whose "
                "weights end with each episode; leave it out"
            )


OPTIONS = tuple(one.name for one in fields(AdaptationSettings))
"""Words that stand behind a checkpoint."""


def read_settings(options: Mapping[str, str]) -> AdaptationSettings:
    """The settings that `options` (word -> text) name; raises UnknownNameError and InputError."""
    if options.get("adapt") not in KINDS:
        got = "&".join(f"{name}={value}" for name, value in options.items())
        raise InputError(f"expected adapt=ap or adapt=rp behind the checkpoint, got {got!r}")
    return read_options(AdaptationSettings, options, "an adaptation")


class Adapter:
    """A policy that learns where it is.

    Args:
        policy: whose weights change.
        info: of its checkpoint.
        folder: of the checkpoint, which stays as it is.
        settings: how to learn.
        declaration: index of the action by which an episode ends.

    Attributes:
        updates: made so far.

    Raises InputError for a checkpoint that was not trained with the loss.
    """

    def __init__(
        self,
        policy: RecurrentPolicy,
        info: CheckpointInfo,
        folder: Path,
        settings: AdaptationSettings,
        declaration: int,
    ) -> None:
        self.updates = 0
        self._policy, self._settings, self._inputs = policy, settings, info.inputs
        loss = Auxiliary(KINDS[settings.adapt], 1.0, share=1.0)  # type: ignore[arg-type]
        count = len(info.actions)
        self._heads = AuxiliaryHeads(policy, (loss,), info.inputs, (), count, declaration, info.is_continuous)
        load_heads(self._heads, info, folder, loss.kind)
        self._source = {name: value.clone() for name, value in self._parameters().items()}
        self.restore()

    def _parameters(self) -> dict[str, Tensor]:
        named = [*self._policy.encoder.named_parameters("encoder"), *self._heads.named_parameters("heads")]
        return {name: value for name, value in named if value.requires_grad}

    def restore(self) -> None:
        """Reset to the weights of the checkpoint."""
        with torch.no_grad():
            for name, value in self._parameters().items():
                value.copy_(self._source[name])
        # a parameter that the loss does not reach has no gradient, and Adam leaves it as it is
        self._optimiser = torch.optim.Adam(self._parameters().values(), self._settings.rate, eps=1e-8)

    def update(self, frames: Tree, actions: Tensor, mask: Tensor, generator: np.random.Generator) -> float:
        """One step of Adam from T steps of N slots; the loss before it.

        Args:
            frames: name -> (T, N, ...).
            actions: (T, N) int64; those of the last step do not count.
            mask: (T, N) bool, False where the step is the first of an episode.
            generator: draws turns.
        """
        if self._settings.adapt == "ap" and not mask[1:].any():
            return float("nan")
        with torch.enable_grad(), record_activations(self._policy) as activations:
            self._policy.encoder({name: value.flatten(0, 1) for name, value in frames.items()})
            nothing = torch.zeros(mask.shape)
            part = Fragment(frames, {}, mask, actions, nothing, nothing, actions, nothing, mask)
            loss, _ = self._heads.compute(self._policy, part, activations, generator)
            self._optimiser.zero_grad(set_to_none=True)
            loss.backward()
        self._optimiser.step()
        self._keep_bound()
        self.updates += 1
        return float(loss.detach())

    def _keep_bound(self) -> None:
        """Draw weights that have gone too far back to the bound."""
        if not self._settings.bound:
            return
        with torch.no_grad():
            for name, value in self._parameters().items():
                source = self._source[name]
                change, most = value - source, self._settings.bound * source.norm()
                length = change.norm()
                if length > most:
                    value.copy_(source + change * (most / length))

    def run(
        self, env: CalibrationEnv, observe: Observe, translate: Translate, generator: np.random.Generator
    ) -> list[float]:
        """Act and learn in `env` until its steps are used up; the loss of each update.

        Args:
            env: where to learn.
            observe: its observations as the policy's.
            translate: the policy's actions as those of `env`.
            generator: draws actions and turns.
        """
        settings, slots = self._settings, env.slots
        acting = copy.deepcopy(self._policy) if settings.source_policy else self._policy
        state, mask = acting.initial_state(slots), torch.zeros(slots, dtype=torch.bool)
        losses: list[float] = []
        frames: list[Tree] = [observe(env.observations)]
        masks, taken = [mask], []
        while not env.is_over:
            with torch.inference_mode():
                decision = acting.act(frames[-1], state, masks[-1], _drawing(generator))
            state = decision.state
            taken.append(decision.actions.clone())
            begun = env.step(translate(decision.actions.numpy()))
            frames.append(observe(env.observations))
            masks.append(torch.from_numpy(~begun))
            if len(taken) == settings.steps or env.is_over:
                stacked = {name: torch.stack([one[name] for one in frames]) for name in frames[0]}
                actions = torch.stack([*taken, taken[-1]])
                losses.append(self.update(stacked, actions, torch.stack(masks), generator))
                frames, masks, taken = frames[-1:], masks[-1:], []
        if settings.keep:
            self.save(Path(settings.keep))
        return losses

    def save(self, path: Path) -> None:
        """Write the weights that have changed, apart from the checkpoint; raises StorageError."""
        changed = {
            name: value.detach().contiguous()
            for name, value in self._parameters().items()
            if name.startswith("encoder.") and not torch.equal(value, self._source[name])
        }
        about = {"source": _digest(self._source)}
        write_atomic(path, safetensors.save(changed, about))


def load_adapted(policy: RecurrentPolicy, path: Path) -> None:
    """Put the weights that `Adapter.save` wrote into the `policy` of the same checkpoint.

    Raises FileError for a missing or damaged file, InputError for weights that were adapted from others.
    """
    data = read_bytes(path, "adapted weights")
    with torch.no_grad():
        try:
            found: Mapping[str, Tensor] = safetensors.load(data)
            length = int.from_bytes(data[:8], "little")
            about = msgspec.json.decode(data[8 : 8 + length]).get("__metadata__", {})
        except Exception as error:  # safetensors' and msgspec's own kinds
            raise FileError(f"{path} holds no adapted weights ({str(error)[:200]}); adapt again") from error
        own = {f"encoder.{name}": value for name, value in policy.encoder.named_parameters()}
        trained = {name: value for name, value in own.items() if value.requires_grad}
        if about.get("source") != _digest(trained):
            raise InputError(
                f"expected weights in {path} that were adapted from this checkpoint, got those of another "
                "one; adapt this one by ?adapt=ap&keep=FILE"
            )
        for name, value in found.items():
            own[name].copy_(value)


def _digest(weights: Mapping[str, Any]) -> str:
    """64 hexadecimal digits of the encoder's weights."""
    digest = hashlib.sha256()
    for name, value in sorted(weights.items()):
        if name.startswith("encoder."):
            digest.update(name.encode() + b"\0" + value.detach().contiguous().numpy().tobytes())
    return digest.hexdigest()


def _drawing(generator: np.random.Generator) -> Callable[[int, int], Tensor]:
    return lambda rows, columns: torch.from_numpy(generator.random((rows, columns)))


class EpisodeAdapters:
    """One policy per slot, adapted after every step and reset at the start of each episode.

    Args:
        policy: of the checkpoint; it stays as it is.
        make: the adapter of a copy of it.
    """

    def __init__(self, policy: RecurrentPolicy, make: Callable[[RecurrentPolicy], Adapter]) -> None:
        self._policy, self._make = policy, make
        self._starts = EpisodeStarts()
        self._own: dict[int, tuple[RecurrentPolicy, Adapter]] = {}
        self._last: dict[int, tuple[Tree, int, np.random.Generator]] = {}

    def begin(self, start: Start) -> None:
        """Reset the policy of a slot for a new episode; at a sub-task it goes on."""
        if self._starts.mark(start).boundary < Boundary.EPISODE:
            return
        if start.slot in self._own:
            self._own[start.slot][1].restore()
        self._last.pop(start.slot, None)

    def policy(self, slot: int) -> RecurrentPolicy:
        """The policy of `slot`."""
        if slot not in self._own:
            policy = copy.deepcopy(self._policy)
            self._own[slot] = policy, self._make(policy)
        return self._own[slot][0]

    def see(self, slot: int, frame: Tree) -> None:
        """Learn from the last step of `slot`, which led to `frame`, name -> (1, ...)."""
        if slot not in self._last:
            return
        before, action, generator = self._last[slot]
        self.policy(slot)
        frames = {name: torch.stack((before[name], frame[name])) for name in frame}
        mask = torch.tensor([[False], [True]])
        self._own[slot][1].update(frames, torch.tensor([[action], [action]]), mask, generator)

    def note(self, slot: int, frame: Tree, action: int, generator: np.random.Generator) -> None:
        """Record a step: `frame`, name -> (1, ...), and its action."""
        kept = {name: value.clone() for name, value in frame.items()}
        self._last[slot] = kept, action, generator
