"""Corruptions applied to N slots of a simulator."""

from navarena.simulation.corruption.pipeline import CorruptionPipeline, make_pipeline

__all__ = ["CorruptionPipeline", "make_pipeline"]
