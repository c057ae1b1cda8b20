"""The single skills of GOAT-Bench: one goal, given by name, in words or by an image."""

from navarena.tasks.protocols.goat import MOVES, SKILL_REWARD, Goat
from navarena.tasks.protocols.goat_options import THE_IMAGE_SKILL, THE_SKILL, ImageSkillOptions, SkillOptions

BODY_SENSORS = ("rgb", "depth", "gps", "compass")


class Skill(Goat):
    """Find one object: `ovon-v1`, `languagenav-v1` and `instance-imagenav-v1`.

    ## Body, observations, goal and success, start

    As of `goat-v1`. Of the goal's observations only one is there: `objectgoal` (`ovon-v1`), `language_goal`
    (`languagenav-v1`) or `image_goal` (`instance-imagenav-v1`).

    ## Actions

    Those of `goat-v1` without subtask_stop: `stop` declares that the goal is reached, and ends the episode.

    ## Reward

    Progress - 0.001 each step, and 2.5 for success.

    ## End

    `stop` terminates. The 500th action truncates (1000th with images), unless it is `stop`.

    ## Metrics

    success, spl, soft_spl, both rules of success, distance_to_goal, path_length, collisions, num_actions.

    ## Options

    success, track, sliding, max_steps: see `SkillOptions`.

    ## Versions

    * v1: first version, after the single skills of Khanna et al. 2024.

    Args:
        options: the knobs; a value that departs from the protocol makes the id custom.
    """

    actions = MOVES
    metrics = (
        "success",
        "spl",
        "soft_spl",
        "view_point_success",
        "near_object_success",
        "distance_to_goal",
        "path_length",
        "collisions",
        "num_actions",
    )
    declaration = "stop"
    options_type = SkillOptions
    success_reward = SKILL_REWARD
    completion_reward = 0.0

    def __init__(self, options: SkillOptions = THE_SKILL) -> None:
        super().__init__(options)


class Ovon(Skill):
    """Find any object of a category: `ovon-v1`; see Skill."""

    protocol_id = "ovon-v1"
    sensors = (*BODY_SENSORS, "objectgoal")


class LanguageNav(Skill):
    """Find the object that is described: `languagenav-v1`; see Skill."""

    protocol_id = "languagenav-v1"
    sensors = (*BODY_SENSORS, "language_goal")


class InstanceImageNav(Skill):
    """Find the object in an image: `instance-imagenav-v1`; see Skill."""

    protocol_id = "instance-imagenav-v1"
    sensors = (*BODY_SENSORS, "image_goal")
    options_type = ImageSkillOptions

    def __init__(self, options: ImageSkillOptions = THE_IMAGE_SKILL) -> None:
        super().__init__(options)
