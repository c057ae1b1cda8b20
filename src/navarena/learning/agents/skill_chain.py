"""Chains of skills: `skill-chain:OBJECT,DESCRIPTION,IMAGE` plays one checkpoint for each modality of goals.

Each skill acts while its modality gives the goal, and its declaration ends the sub-task. Its state is dropped
at each goal, as GOAT-Bench's paper says; with ?memory=carried it goes from skill to skill, as in its code.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar, Literal

import numpy as np
from jaxtyping import Bool, Int64

from navarena.agents.agent import Agent, Boundary, Start
from navarena.agents.declaration import join_hashes
from navarena.agents.options import read_agent_options
from navarena.core.errors import InputError
from navarena.learning.agents.fit import require_inputs
from navarena.learning.agents.policy_agent import CheckpointAgent, open_checkpoint
from navarena.learning.storage import NO_ACTION
from navarena.tasks.catalog import get_body_task
from navarena.tasks.protocols.goat import Goat
from navarena.tasks.sensors.lifelong_goal import MODALITY_IDS
from navarena.tasks.task import TaskRules

SUBTASK = "current_subtask"


@dataclass(frozen=True)
class ChainOptions:
    """Options of `skill-chain:...?NAME=VALUE`.

    Attributes:
        memory: whether the state is dropped at each goal, or carried from skill to skill.
    """

    memory: Literal["dropped", "carried"] = "dropped"


def find_chain(text: str) -> type["SkillChainAgent"]:
    """The chain of the checkpoints that `text` names: three folders with commas between, and maybe ?memory=M.

    One folder alone acts for all modalities. Raises InputError for another text, FileError for a folder
    without a checkpoint.
    """
    places, mark, options = text.partition("?")
    folders = tuple(places.split(","))
    if len(folders) not in (1, len(MODALITY_IDS)) or not all(folders):
        raise InputError(
            f"expected skill-chain:OBJECT,DESCRIPTION,IMAGE, a checkpoint's folder each, got {text!r}"
        )
    chosen = read_agent_options(ChainOptions, options, "skill-chain") if mark else ChainOptions()
    skills = tuple(open_checkpoint(Path(folder)) for folder in folders)
    kinds = skills * (len(MODALITY_IDS) // len(skills))
    members = {
        "skills": kinds,
        "carries": chosen.memory == "carried",
        "sensors": tuple(dict.fromkeys([*(name for one in kinds for name in one.sensors), SUBTASK])),
        "trained_with": tuple(dict.fromkeys(name for one in kinds for name in one.trained_with)),
        "resizes": tuple(dict.fromkeys(size for one in kinds for size in one.resizes)),
        "model_sha256": join_hashes(*(one.model_sha256 for one in skills)),
        "__doc__": f"Skills by modality: {', '.join(str(one.folder) for one in kinds)}.",
    }
    return type("SkillChainAgent", (SkillChainAgent,), members)


class SkillChainAgent(Agent):
    """Acts with the skill for the modality of the current goal.

    Args:
        task: goat-v1, or one of its skills.
        seed: of nothing, as of CheckpointAgent.

    Raises InputError for another task, for skills whose actions or observations it does not have, and for a
    memory that is carried between policies of different sizes.
    """

    on_graphs = False
    skills: ClassVar[tuple[type[CheckpointAgent], ...]]
    carries: ClassVar[bool] = False

    def __init__(self, task: TaskRules, seed: int) -> None:
        if not isinstance(task, Goat):
            raise InputError(
                f"expected goat-v1 or one of its skills for a chain of skills, got {task.protocol_id!r}; "
                "play its checkpoint alone"
            )
        self._agents: list[CheckpointAgent] = []
        self._translations: list[np.ndarray] = []
        for skill in self.skills:
            own = get_body_task(skill.trained_on)
            agent = skill(own, seed)
            require_inputs(agent.info, task, skill.folder)
            names = [task.declaration if name == own.declaration else name for name in own.actions]
            unknown = sorted(set(names) - set(task.actions))
            if unknown:
                raise InputError(
                    f"expected the actions {', '.join(task.actions)} of {task.protocol_id} of the skill in "
                    f"{skill.folder}, got {', '.join(unknown)}; train it on a skill of GOAT-Bench"
                )
            self._agents.append(agent)
            self._translations.append(np.array([task.actions.index(name) for name in names], np.int64))
        if self.carries:
            self._require_one_size()
        self._last: dict[int, int] = {}
        self._acting: list[int] = []

    def _require_one_size(self) -> None:
        first, *others = (agent.info for agent in self._agents)
        for info, skill in zip(others, self.skills[1:]):
            if (info.actions, info.policy) != (first.actions, first.policy):
                raise InputError(
                    "expected policies of one size for memory=carried, got others in "
                    f"{self.skills[0].folder} and {skill.folder}; leave ?memory=carried out"
                )

    def reset(self, starts: Sequence[Start]) -> None:
        for agent in self._agents:
            agent.reset(starts)
        for start in starts:
            if start.boundary >= Boundary.EPISODE:
                self._last.pop(start.slot, None)
            elif not self.carries:
                for agent in self._agents:
                    agent.forget(start.slot)

    def act(
        self, observations: Mapping[str, np.ndarray], active: Bool[np.ndarray, "n"]
    ) -> Int64[np.ndarray, "n"]:
        modality = observations[SUBTASK][:, 0]
        self._acting.clear()
        chosen = np.zeros(len(active), np.int64)
        for number, (agent, translation) in enumerate(zip(self._agents, self._translations)):
            turn = active & (modality == number)
            if self.carries:
                for slot in np.flatnonzero(turn).tolist():
                    before = self._last.get(slot, number)
                    if before != number:
                        agent.take_over(self._agents[before], slot)
                    self._last[slot] = number
            if turn.any():
                self._acting.append(number)
                chosen[turn] = translation[np.asarray(agent.act(observations, turn), np.int64)[turn]]
        return chosen

    def forgo_declaration(self) -> None:
        for agent in self._agents:
            agent.forgo_declaration()

    def overrule(self, actions: Int64[np.ndarray, "n"]) -> None:
        for number in self._acting:
            own = actions[:, None] == self._translations[number]
            # what other skills do is dropped, or replaced by their states, before this one acts again
            self._agents[number].overrule(np.where(own.any(1), own.argmax(1), NO_ACTION))
