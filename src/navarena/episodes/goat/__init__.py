"""Goals and episodes of GOAT-Bench: categories, images and descriptions of the objects of a scene."""

from navarena.episodes.goat.descriptions import Describer, Description, Relation
from navarena.episodes.goat.generated_descriptions import GeneratedDescription, write_description
from navarena.episodes.goat.goal_pool import MODALITIES, GoalPool
from navarena.episodes.goat.names import find_synonyms, names_of_split, objects_named
from navarena.episodes.goat.recipe import GoatRecipe
from navarena.episodes.goat.rewording import draw_synonym, find_describer, paraphrase
from navarena.episodes.goat.scene_goals import Dropped, SceneGoals, find_scene_goals
from navarena.episodes.goat.settings import GOAT_VIEW_POINTS, find_goal_view_points
from navarena.episodes.goat.wording import word_description
from navarena.episodes.goat.writers import Writer, make_writer

__all__ = [
    "GOAT_VIEW_POINTS",
    "MODALITIES",
    "Describer",
    "Description",
    "Dropped",
    "GeneratedDescription",
    "GoalPool",
    "GoatRecipe",
    "Relation",
    "SceneGoals",
    "Writer",
    "draw_synonym",
    "find_describer",
    "find_goal_view_points",
    "find_scene_goals",
    "find_synonyms",
    "make_writer",
    "names_of_split",
    "objects_named",
    "paraphrase",
    "word_description",
    "write_description",
]
