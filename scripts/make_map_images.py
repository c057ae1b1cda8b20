"""Draw the images of docs/maps.md from a generated house: `python scripts/make_map_images.py`.

Everything drawn onto the maps (rows, columns, headings, bodies) goes through `MapGrid`, so the images
show what the code does. The same version draws the same images.
"""

import io
from pathlib import Path

import matplotlib
import numpy as np
from jaxtyping import Float, UInt8
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from PIL import Image

from navarena.agents import Boundary, Start, load_agent
from navarena.core.files import write_atomic
from navarena.core.geometry import forward_from_yaw
from navarena.episodes import load_episodes
from navarena.mapping import MapGrid, OccupancySettings
from navarena.mapping.semantic_map import CLASSES
from navarena.mapping.survey import survey_occupancy
from navarena.tasks import NavigationBatch, get_task

matplotlib.use("Agg")

FOLDER = Path(__file__).resolve().parents[1] / "docs" / "maps"
PROTOCOL, EPISODE, STEPS = "multion-3on-v1", 1, 60
COLORS_OF_STATES = np.array([[150, 150, 150], [240, 240, 240], [40, 40, 40]], np.uint8)
COLORS_OF_ORACLE = np.array([[150, 150, 150], [40, 40, 40], [240, 240, 240]], np.uint8)
COLORS_OF_EGO = np.array([[205, 190, 160], [150, 150, 150], [40, 40, 40], [240, 240, 240]], np.uint8)
RED, BLUE = "#d62728", "#1f77b4"
COMPASS = np.array([92, 50])
"""Row and column where the directions of the world are drawn, below the house."""

SHOWN = {"oracle_map": (12, 38), "oracle_ego_map": (12, 38)}
"""Sensor -> rows and columns that are drawn of its window; nothing is outside."""

SENSORS = ("occupancy_map", "semantic_map", "oracle_map", "oracle_ego_map")


def main() -> None:
    """Draw both images."""
    FOLDER.mkdir(exist_ok=True)
    batch = walk()
    save("frames.png", draw_frames(batch))
    save("views.png", draw_views(batch))


def walk() -> NavigationBatch:
    """A body of MultiON after some steps of `frontier`."""
    task = get_task(PROTOCOL)
    agent = load_agent("frontier", task, 0)
    batch = NavigationBatch(task, 1, 1, (*agent.sensors, *SENSORS))
    agent.attach(batch)
    episode = load_episodes(task, "mini").episodes[EPISODE]
    batch.start([0], [episode])
    agent.reset([Start(0, episode.episode_id, episode.scene_id, Boundary.SCENE)])
    for _ in range(STEPS):
        batch.step(agent.act(batch.observations, np.ones(1, bool)))
    return batch


def draw_frames(batch: NavigationBatch) -> Figure:
    """The storey of the body in a grid with -z up, and in one with +x up."""
    world, position = batch.simulator.stage.world(0), batch.simulator.positions[0]
    assert world is not None
    known = survey_occupancy(world, batch.simulator.embodiment, OccupancySettings(cell=0.1))
    grid, scores = known.grid(0), known.scores[0, known.layer_at(0, float(position[1]))]
    turned = MapGrid.centered(grid.rows, grid.columns, grid.cell, tuple(grid_middle(grid)), "+x")
    figure = Figure(figsize=(9, 4.9), layout="constrained")
    for axes, one in zip(figure.subplots(1, 2), (grid, turned)):
        cells = grid.cells_of(one.centers_of(np.moveaxis(np.indices((one.rows, one.columns)), 0, -1)))
        states = np.where(scores == 0, 0, np.where(scores < 0, 1, 2))
        cells = np.clip(cells, 0, grid.rows - 1)
        axes.imshow(COLORS_OF_STATES[states[cells[..., 0], cells[..., 1]]], extent=extent_of(one))
        axes.set_title(f'up = "{one.up}"', fontsize=11)
        axes.set_xlabel("column")
        axes.set_ylabel("row")
        axes.xaxis.set_label_position("top")
        axes.xaxis.tick_top()
        draw_body(axes, one, position, float(batch.simulator.yaws[0]))
        for name, yaw in (("-z (yaw 0)", 0.0), ("+x", -np.pi / 2)):
            draw_arrow(axes, one, one.centers_of(COMPASS), yaw, BLUE, name, 0.7)
    return figure


def draw_views(batch: NavigationBatch) -> Figure:
    """What the four map sensors show of the same moment, with the place and heading of the body."""
    seen = {name: batch.observations[name][0] for name in SENSORS}
    classes = matplotlib.colormaps["tab20"](np.arange(len(CLASSES)))[:, :3] * 255
    semantic = np.full((64, 64, 3), 255, np.uint8)
    semantic[seen["semantic_map"][0] > 0] = 90
    for index in range(1, len(CLASSES)):
        semantic[seen["semantic_map"][index + 1] > 0] = classes[index].astype(np.uint8)
    oracle = paint_goals(seen["oracle_map"], COLORS_OF_ORACLE, 0)
    ego = paint_goals(seen["oracle_ego_map"], COLORS_OF_EGO, 1)
    images: list[tuple[str, str, UInt8[np.ndarray, "r c 3"], float, float]] = [
        ("occupancy_map", "0.1 m, ahead is up", COLORS_OF_STATES[seen["occupancy_map"][..., 0]], 32, -1),
        ("semantic_map", "0.1 m, ahead is up", semantic, 32.5, -1),
        ("oracle_map", "0.8 m, ahead is down", oracle, 25, 1),
        ("oracle_ego_map", "0.8 m, ahead is down", ego, 25, 1),
    ]
    figure = Figure(figsize=(12, 3.6), layout="constrained")
    for axes, (name, title, image, middle, down) in zip(figure.subplots(1, 4), images):
        low, high = SHOWN.get(name, (0, len(image)))
        axes.imshow(image, extent=(0, len(image), len(image), 0))
        axes.set_xlim(low, high)
        axes.set_ylim(high, low)
        axes.plot([middle], [middle], "o", color=BLUE, markersize=5)
        arrow = {"color": BLUE, "width": 1.5, "headwidth": 7, "headlength": 7}
        axes.annotate("", (middle, middle + down * (high - low) / 6), (middle, middle), arrowprops=arrow)
        axes.set_title(f"{name}\n{title}", fontsize=10)
        axes.xaxis.tick_top()
        axes.tick_params(labelsize=8)
    return figure


def paint_goals(
    shown: UInt8[np.ndarray, "r c 2"], colors: UInt8[np.ndarray, "v 3"], nothing: int
) -> UInt8[np.ndarray, "r c 3"]:
    """(R, C, 3) colours of occupancy, with the goals (above `nothing`) in red."""
    image = colors[shown[..., 0]].copy()
    image[shown[..., 1] > nothing] = (214, 39, 40)
    return image


def draw_body(axes: Axes, grid: MapGrid, position: Float[np.ndarray, "3"], yaw: float) -> None:
    """A dot where a body stands (metres), and an arrow where it looks (radians)."""
    row, column = grid.coordinates_of(position).tolist()
    axes.plot([column], [row], "o", color=RED, markersize=6)
    draw_arrow(axes, grid, position, yaw, RED, f"body, yaw {np.degrees(yaw):.0f}°", 1.5)


def draw_arrow(
    axes: Axes, grid: MapGrid, place: Float[np.ndarray, "3"], yaw: float, color: str, name: str, length: float
) -> None:
    """An arrow of `length` from `place` (metres) along `yaw` (radians), with its name at its end."""
    row, column = grid.coordinates_of(place).tolist()
    to_row, to_column = grid.coordinates_of(place + length * forward_from_yaw(yaw)).tolist()
    arrow = {"color": color, "width": 1.5, "headwidth": 7, "headlength": 7}
    axes.annotate("", (to_column, to_row), (column, row), arrowprops=arrow)
    down, right = np.array([to_row - row, to_column - column]) / np.hypot(to_row - row, to_column - column)
    away = 3 + 5 * abs(right)  # names are wider than high
    axes.text(
        to_column + away * right,
        to_row + away * down,
        name,
        color=color,
        fontsize=9,
        ha="center",
        va="center",
        bbox={"facecolor": "white", "alpha": 0.75, "pad": 1, "edgecolor": "none"},
    )


def grid_middle(grid: MapGrid) -> Float[np.ndarray, "2"]:
    """(2,) metres: x and z of the middle of a grid."""
    down, right = grid.directions
    return np.array(grid.corner) + (down * grid.rows + right * grid.columns) * grid.cell / 2


def extent_of(grid: MapGrid) -> tuple[float, float, float, float]:
    """What `imshow` needs for cell i to cover i to i + 1."""
    return (0, grid.columns, grid.rows, 0)


def save(name: str, figure: Figure) -> None:
    """Write a figure as a PNG of few colours."""
    data = io.BytesIO()
    figure.savefig(data, format="png", dpi=90)
    small = io.BytesIO()
    Image.open(data).convert("RGB").quantize(64).save(small, "PNG", optimize=True)
    write_atomic(FOLDER / name, small.getvalue())


if __name__ == "__main__":
    main()
