"""Corruptions of goals and instructions: other words and images for the agent; what counts stays as it is."""

from collections.abc import Callable, Mapping
from dataclasses import replace

import numpy as np
from jaxtyping import UInt8

from navarena.core.errors import InputError
from navarena.core.seeding import make_generator, scene_name
from navarena.corruptions.corruption import (
    Corruption,
    GoalCorruption,
    GoalImageCorruption,
    GoalWordsCorruption,
    InstructionCorruption,
)
from navarena.episodes.episode import Episode, LifelongGoal
from navarena.episodes.exchange.vocabulary import encode_again
from navarena.episodes.goals import InstructionGoal, Modality, Subtask, as_subtasks
from navarena.episodes.language.rewording import change_instruction
from navarena.simulation.world import World


def _with_synonym(world: World, subtask: Subtask, generator: np.random.Generator) -> Subtask:
    from navarena.episodes.goat import draw_synonym  # loads the vocabulary of the generated houses

    return replace(subtask, category=draw_synonym(subtask.category, generator))


def _with_paraphrase(world: World, subtask: Subtask, generator: np.random.Generator) -> Subtask:
    from navarena.episodes.goat import paraphrase  # loads the vocabulary of the generated houses

    return replace(subtask, description=paraphrase(world, subtask, generator))


REWORD: Mapping[Modality, Callable[[World, Subtask, np.random.Generator], Subtask]] = {
    "object": _with_synonym,
    "description": _with_paraphrase,
}
"""Modality of a goal -> the function that words it differently."""


class GoalCorruptions:
    """Corruptions of goals and instructions, in the order in which they are applied.

    What a corruption draws is named by itself, its place in that order, the scene, the episode and the
    place of the goal in it, so it depends on neither batches nor steps.

    Args:
        corruptions: text -> corruption, as join_corruptions finds them; those of other kinds are left out.
    """

    def __init__(self, corruptions: Mapping[str, Corruption]) -> None:
        self._corruptions = {
            place: (text, one)
            for place, (text, one) in enumerate(corruptions.items())
            if isinstance(one, GoalCorruption | InstructionCorruption)
        }

    def corrupt_goals(self, episode: Episode, world: World | None) -> Episode:
        """The episode as the agent observes it: categories, descriptions and instructions in other words.

        The `world` is needed for descriptions alone. Raises UnknownNameError and InputError for goals that no
        other words are known for (see episodes.goat.draw_synonym and paraphrase).
        """
        if isinstance(episode.goal, InstructionGoal):
            return self._corrupt_instruction(episode, episode.goal)
        subtasks = list(as_subtasks(episode.goal))
        for place, (text, corruption) in self._corruptions.items():
            for number, subtask in enumerate(subtasks):
                if isinstance(corruption, GoalWordsCorruption) and subtask.modality == corruption.modality:
                    generator = self._generator(text, place, episode, number)
                    subtasks[number] = _reword(world, subtask, generator)
        if tuple(subtasks) == as_subtasks(episode.goal):
            return episode
        return replace(episode, goal=LifelongGoal(tuple(subtasks)))

    def _corrupt_instruction(self, episode: Episode, goal: InstructionGoal) -> Episode:
        text = goal.instruction
        for place, (name, corruption) in self._corruptions.items():
            if isinstance(corruption, InstructionCorruption):
                generator = self._generator(name, place, episode, 0)
                text = change_instruction(corruption.change, text, corruption.share, generator)
        if text == goal.instruction:
            return episode
        tokens = encode_again(goal.instruction, goal.tokens, text)
        return replace(episode, goal=replace(goal, instruction=text, tokens=tokens))

    def corrupt_image(
        self, episode: Episode, number: int, image: UInt8[np.ndarray, "h w 3"]
    ) -> UInt8[np.ndarray, "h w 3"]:
        """(H, W, 3) uint8: the image of goal `number`, from 0, of an episode as the agent sees it."""
        for place, (text, corruption) in self._corruptions.items():
            if isinstance(corruption, GoalImageCorruption):
                image = corruption.corrupt(image, self._generator(text, place, episode, number))
        return image

    def _generator(self, text: str, place: int, episode: Episode, number: int) -> np.random.Generator:
        return make_generator(
            "corruption", text, place, "goal", scene_name(episode.scene_id), episode.episode_id, number
        )


def _reword(world: World | None, subtask: Subtask, generator: np.random.Generator) -> Subtask:
    if world is None:
        raise InputError(f"expected a scene for other words for {subtask.category!r}, got none")
    return REWORD[subtask.modality](world, subtask, generator)
