"""Demonstrations: data sets of observations and actions, written from the journal of a run."""

from typing import TYPE_CHECKING

from navarena.core.lazy import lazy_names

if TYPE_CHECKING:
    from navarena.evaluation.demonstrations.columns import Column
    from navarena.evaluation.demonstrations.manifest import DemoEpisode, Manifest
    from navarena.evaluation.demonstrations.reading import DemoSet, EpisodeArrays, open_demos
    from navarena.evaluation.demonstrations.recording import Demonstration, record_demonstrations
    from navarena.evaluation.demonstrations.writing import DemoSettings, write_demonstrations

__all__ = [
    "Column",
    "DemoEpisode",
    "DemoSet",
    "DemoSettings",
    "Demonstration",
    "EpisodeArrays",
    "Manifest",
    "open_demos",
    "record_demonstrations",
    "write_demonstrations",
]

__getattr__, __dir__ = lazy_names(__name__)
