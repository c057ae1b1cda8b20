"""Occupancy anticipation: windows of maps, their network, and the agent that plans on what it anticipates."""

import hashlib
import math
from dataclasses import replace

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from navarena.agents.loading import declare_agent, load_agent  # noqa: E402
from navarena.cli.main import main  # noqa: E402
from navarena.core.errors import FileError, InputError  # noqa: E402
from navarena.learning.anticipation.agent import MAX_VOTES  # noqa: E402
from navarena.learning.anticipation.anticipator import Anticipator  # noqa: E402
from navarena.learning.anticipation.settings import AnticipationRecipe, WindowSettings  # noqa: E402
from navarena.learning.anticipation.training import AnticipationTraining  # noqa: E402
from navarena.learning.anticipation.windows import Windows, crop_window, lay_window  # noqa: E402
from navarena.learning.perception.settings import UNetSettings  # noqa: E402
from navarena.learning.settings import OptimiserSettings, Schedule  # noqa: E402
from navarena.mapping import FREE, OCCUPIED, UNKNOWN, MapGrid, OccupancyMaps  # noqa: E402
from navarena.tasks.catalog import get_task  # noqa: E402

pytestmark = pytest.mark.learn

SIDE = WindowSettings(side=16, cell=0.5, ahead=2.0, houses=1, windows=4)
RECIPE = AnticipationRecipe(
    "test",
    windows=SIDE,
    network=UNetSettings(widths=(8, 8, 16, 16)),
    optimiser=OptimiserSettings(rate=Schedule(1e-2, 1e-4), epsilon=1e-8, max_gradient=5.0),
    frames=1_600,
    batch=8,
    precision="float32",
)


def corridors(count):
    """Windows of corridors of many widths, of which the near half was seen: walls go on straight."""
    true = np.full((count, 16, 16), FREE, np.uint8)
    for k, one in enumerate(true):
        one[:, : 2 + k % 4] = one[:, 14 - k // 4 % 4 :] = OCCUPIED
    true[:, 0] = UNKNOWN
    seen = true.copy()
    seen[:, :8] = UNKNOWN
    return Windows(seen, true)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("anticipation")
    training = AnticipationTraining(RECIPE, folder, windows=[corridors(16)])
    rows = []
    training.run(rows.append)
    assert rows[-1]["anticipation_loss"] < rows[0]["anticipation_loss"]
    return folder


def test_windows_look_along_the_heading():
    grid = MapGrid.centered(40, 40, 0.5)
    scores = np.zeros((40, 40), np.int8)
    position = np.array([2.25, 0.0, -1.25])  # the middle of a cell
    row, column = grid.cells_of(position)
    scores[row, column] = -1
    for yaw, (down, right) in {0.0: (-6, 1), math.pi / 2: (-1, -6), math.pi: (6, -1)}.items():
        marked = scores.copy()
        marked[row + down, column + right] = 3  # 3 m ahead, 0.5 m to the right
        window = crop_window(marked, grid, position, yaw, replace(SIDE, ahead=0.25))
        # the middle is 0.25 m ahead: between rows 7 and 8; columns lie half a cell beside
        found, free = np.argwhere(window == OCCUPIED), np.argwhere(window == FREE)
        assert len(found) == len(free) == 1
        assert (found - free).tolist() == [[-6, 1]]


@pytest.mark.parametrize("yaw", [0.0, 0.4, 2.0, -2.9])
def test_windows_are_laid_back_where_they_were(yaw):
    grid = MapGrid.centered(80, 80, 0.5)
    rows, columns = np.mgrid[:80, :80]
    blocks = ((rows // 6 + columns // 6) % 3 - 1).astype(np.int8)
    position = np.array([1.3, 0.0, -2.1])
    window = crop_window(blocks, grid, position, yaw, SIDE)
    shown = np.stack([window == state for state in range(3)], -1).astype(np.float32)
    laid, (top, left) = lay_window(shown, grid, position, yaw, SIDE)
    wanted = blocks[top : top + len(laid), left : left + len(laid)]
    inside = laid.sum(-1) > 0
    assert 0.95 * 16**2 <= inside.sum() <= 1.05 * 16**2
    states = np.where(wanted == 0, UNKNOWN, np.where(wanted < 0, FREE, OCCUPIED))
    agreed = (laid.argmax(-1) == states)[inside].mean()
    assert agreed > (0.99 if yaw == 0 else 0.75), "beside edges of blocks the nearest cells differ"


def test_what_was_learned_is_anticipated_and_training_goes_on(folder, tmp_path):
    one = corridors(16)
    chances = Anticipator(folder).anticipate(one.seen)
    assert chances.shape == (16, 16, 16, 3) and np.allclose(chances.sum(-1), 1, atol=1e-5)
    hidden = one.seen == UNKNOWN
    assert (chances.argmax(-1) == one.true)[hidden].mean() > 0.9
    half = replace(RECIPE, frames=200, save_updates=5)
    whole, parts = (AnticipationTraining(half, tmp_path / name, windows=[corridors(16)]) for name in "ab")
    whole.run()
    while parts.updates < 10:
        parts.advance()
    parts._save()
    AnticipationTraining(half, tmp_path / "b", windows=[corridors(16)]).run()
    assert (tmp_path / "a/model.safetensors").read_bytes() == (tmp_path / "b/model.safetensors").read_bytes()


def test_the_agent_plans_on_what_it_anticipates(folder):
    task = get_task("pointnav-habitat2020-v1")
    agent = load_agent(f"occupancy-anticipation:{folder}", task)
    assert not agent.privileged and set(agent.sensors) == {"depth", "pointgoal"}
    told = declare_agent(f"occupancy-anticipation:{folder}", task)
    assert not told.privileged
    assert told.model_sha256 == hashlib.sha256((folder / "model.safetensors").read_bytes()).hexdigest()
    maps = OccupancyMaps(1, replace(agent._map_settings, cell=0.5))
    maps._storeys.enter(np.ones(1, bool), np.zeros(1))
    middle = maps.grid(0).cells_of(np.zeros(3))
    maps.scores[0, 0, middle[0], middle[1] - 3 : middle[1] + 3] = 5  # seen: closed, whatever is anticipated
    maps.boxes[0, 0] = [middle[0], middle[0] + 1, middle[1] - 3, middle[1] + 3]
    before = maps.scores.copy()
    for _ in range(MAX_VOTES + 2):
        agent._vote(0, maps)
    scores, _, box = agent.known(0, maps)
    seen = before[0, 0] != 0
    assert (scores[seen] == 5).all() and np.array_equal(maps.scores, before), "what was seen is believed"
    anticipated = np.argwhere((scores != 0) & ~seen)
    assert len(anticipated) and np.abs(scores[~seen]).max() == MAX_VOTES
    assert (anticipated >= box[[0, 2]]).all() and (anticipated < box[[1, 3]]).all()
    agent._evidence.clear()
    assert agent.known(0, maps)[0] is not None and (agent.known(0, maps)[0] == before[0, 0]).all()


def test_bad_input_is_one_line(folder, tmp_path, capsys):
    with pytest.raises(FileError, match="does not exist"):
        load_agent(f"occupancy-anticipation:{tmp_path}", get_task("pointnav-v1"))
    with pytest.raises(InputError, match="expected PointNav for occupancy-anticipation, got objectnav"):
        load_agent(f"occupancy-anticipation:{folder}", get_task("objectnav-habitat2020-v1"))
    with pytest.raises(InputError, match="multiple of 16"):
        WindowSettings(side=20)
    assert main(["anticipation", "score", str(folder), "--split", "train", "--quiet"]) == 2
    assert "choose val" in capsys.readouterr().err
    (tmp_path / "checkpoint.json").write_bytes((folder / "checkpoint.json").read_bytes())
    (tmp_path / "model.safetensors").write_bytes(b"no")
    with pytest.raises(FileError, match="does not belong"):
        Anticipator(tmp_path)
