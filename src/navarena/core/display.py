"""Notebook display of objects, by drawers that are looked up by name and imported on demand.

The objects lie in low layers, what draws them in a high one: a class names its kind, and the drawer of that
kind is looked up when a notebook asks.
"""

from typing import Any, ClassVar

from navarena.core.registry import Registry

DRAWERS = Registry(
    "drawer",
    {
        "episode": "navarena.reports.notebooks:view_episode",
        "navmesh": "navarena.reports.notebooks:view_navmesh",
        "run": "navarena.reports.notebooks:view_run",
        "scene": "navarena.reports.notebooks:view_scene",
        "trajectory": "navarena.reports.notebooks:view_trajectory",
    },
    "navarena.drawers",
)
"""Kind -> function of an object that returns its view (see navarena.reports.notebooks.View)."""


class NotebookDisplay:
    """Base class of objects that notebooks display as an HTML view.

    Attributes:
        display_kind: its kind, one of DRAWERS.
    """

    display_kind: ClassVar[str]

    def _repr_html_(self) -> str:
        return str(self._view()._repr_html_())

    def _repr_png_(self) -> bytes | None:
        data: bytes | None = self._view()._repr_png_()
        return data

    def _view(self) -> Any:
        return DRAWERS.get(self.display_kind)(self)


def describe_fields(kind: str, **facts: object) -> str:
    """A short repr, such as Scene(scene_id='houses-v1/val/00000', triangles=20214)."""
    return f"{kind}({', '.join(f'{name}={value!r}' for name, value in facts.items())})"
