"""Routes through houses in words: facts along a path, a grammar, and a reader of the facts."""

from navarena.episodes.language.grammar import word_route
from navarena.episodes.language.landmarks import Landmark, name_landmark
from navarena.episodes.language.route import Climb, Enter, Pass, Route, RouteStep, Stop
from navarena.episodes.language.route_facts import describe_route
from navarena.episodes.language.route_follower import follow_route
from navarena.episodes.language.surroundings import Portal, Surroundings
from navarena.episodes.language.vocabulary import Vocabulary

__all__ = [
    "Climb",
    "Enter",
    "Landmark",
    "Pass",
    "Portal",
    "Route",
    "RouteStep",
    "Stop",
    "Surroundings",
    "Vocabulary",
    "describe_route",
    "follow_route",
    "name_landmark",
    "word_route",
]
