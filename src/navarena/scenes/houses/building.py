"""Loads the house generator when the first house is built, since importing it takes long."""

from navarena.scenes.houses.settings import HouseSettings
from navarena.scenes.scene import Scene

USUAL_SETTINGS = HouseSettings()


def build_house(seed: int, settings: HouseSettings = USUAL_SETTINGS, scene_id: str = "") -> Scene:
    """The house with this seed: geometry, objects, rooms, exact floors, materials and baked light.

    Layout is drawn on an integer millimetre grid, so equal arguments give an equal house on every
    machine.

    Args:
        seed: any integer; see house_sets.house_seed for the seeds of the published splits.
        settings: storeys, area, number of rooms, clutter, density of the baked light.
        scene_id: stored in the scene; "house-<seed>" when empty.
    """
    from navarena.scenes.houses.generator import compile_seed

    return compile_seed(seed, settings, scene_id or f"house-{seed}")
