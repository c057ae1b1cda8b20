"""`navarena scene view`: walk through a scene in a browser."""

import contextlib
from dataclasses import dataclass
from typing import Annotated

import tyro

from navarena.cli.console import Console
from navarena.cli.runs.viewing import show_page
from navarena.cli.scenes.scene import DEFAULT_BODY, MeshFlags
from navarena.core.errors import require_extra
from navarena.simulation.body_catalog import get_body


@dataclass(frozen=True)
class SceneView(MeshFlags):
    """Walk through a scene in a page on this machine, look at it from above, and pick objects.

    The command ends with Ctrl-C. With --json, one document is printed then, with the keys url and scene_id.
    """

    scene: Annotated[str, tyro.conf.Positional, tyro.conf.arg(metavar="SCENE")]
    """Scene id, or the path of a mesh file."""
    body: str = DEFAULT_BODY
    """Body whose floor and view points are shown."""
    port: int = 8710
    """Port of the page on 127.0.0.1; 0 takes a free one."""
    no_browser: bool = False
    """Open no browser."""
    json: bool = False
    """Print one JSON document instead of text."""

    def run(self, console: Console) -> int:
        """Show the scene until interrupted; the exit code is 0."""
        require_extra("fastapi", "viewer")
        from navarena.web.viewer.hub import Hub
        from navarena.web.viewer.scene_walk import SceneWalk

        walk, hub = SceneWalk(self.open(self.scene, self.body), get_body(self.body)), Hub()
        with show_page(console, "scene", hub, self.port, self.no_browser) as address:
            console.result({"url": address, "scene_id": self.scene})
            with contextlib.suppress(KeyboardInterrupt):
                walk.run(hub)
        return 0
