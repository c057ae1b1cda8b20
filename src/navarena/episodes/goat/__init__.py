"""Goals and episodes of GOAT-Bench: categories, images and descriptions of the objects of a scene."""

from navarena.episodes.goat.descriptions import Describer, Description, Relation
from navarena.episodes.goat.names import find_synonyms, names_of_split, things_called
from navarena.episodes.goat.offer import MODALITIES, Offer
from navarena.episodes.goat.recipe import GoatRecipe
from navarena.episodes.goat.rewording import draw_synonym, find_describer, paraphrase
from navarena.episodes.goat.scene_goals import Dropped, SceneGoals, find_scene_goals
from navarena.episodes.goat.settings import GOAT_VIEW_POINTS, find_goal_view_points
from navarena.episodes.goat.wording import word_description
from navarena.episodes.goat.writers import Writer, make_writer
from navarena.episodes.goat.written import Written, write_description

__all__ = [
    "GOAT_VIEW_POINTS",
    "MODALITIES",
    "Describer",
    "Description",
    "Dropped",
    "GoatRecipe",
    "Offer",
    "Relation",
    "SceneGoals",
    "Writer",
    "Written",
    "draw_synonym",
    "find_describer",
    "find_goal_view_points",
    "find_scene_goals",
    "find_synonyms",
    "make_writer",
    "names_of_split",
    "paraphrase",
    "things_called",
    "word_description",
    "write_description",
]
