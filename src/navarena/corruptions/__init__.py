"""What spoils a robot's pictures, by name and severity."""

from navarena.corruptions.catalog import CORRUPTIONS, find_corruption
from navarena.corruptions.corruption import SEVERITIES, Corruption

__all__ = ["CORRUPTIONS", "SEVERITIES", "Corruption", "find_corruption"]
