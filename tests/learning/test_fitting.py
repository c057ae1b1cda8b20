"""A kind of training of somebody else's: a recipe that names it, its description, and the commands."""

import json
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

import pytest

torch = pytest.importorskip("torch")

from navarena.cli.main import main  # noqa: E402
from navarena.core.errors import InputError  # noqa: E402
from navarena.evaluation.records.lock import FolderLock  # noqa: E402
from navarena.learning.checkpoints.files import INFO, MODEL, RESUME  # noqa: E402
from navarena.learning.checkpoints.fitted import FittedInfo, load_fitted  # noqa: E402
from navarena.learning.distributed import Machine, Processes  # noqa: E402
from navarena.learning.recipes.base import FittingRecipe  # noqa: E402
from navarena.learning.recipes.catalog import RECIPES  # noqa: E402
from navarena.learning.settings import OptimiserSettings, Schedule  # noqa: E402
from navarena.learning.trainings.fitting import Fitting  # noqa: E402
from navarena.learning.trainings.log import LOG  # noqa: E402

pytestmark = pytest.mark.learn


@dataclass(frozen=True, kw_only=True)
class LineInfo(FittedInfo):
    noun: ClassVar[str] = "a line"
    command: ClassVar[str] = "navarena train line"
    own_format: ClassVar[str] = "line-v1"

    inputs: int

    def build(self):
        return torch.nn.Linear(self.inputs, 1)


@dataclass(frozen=True)
class LineRecipe(FittingRecipe):
    kind: ClassVar[str] = "line"

    slope: float = 2.0

    def begin_fitting(self, folder, threads):
        return LineTraining(self, folder, threads)

    def advise(self, folder):
        return f"draw-line {folder}"


class LineTraining(Fitting[LineRecipe, LineInfo]):
    def __init__(self, recipe, folder, threads=1):
        super().__init__(recipe, folder, threads)
        self._inputs = torch.linspace(-1, 1, 32)[:, None]
        info = LineInfo(protocol=recipe.protocol, recipe={"slope": recipe.slope}, inputs=1)
        self._begin(info, info.build)

    def _compute_loss(self):
        inputs = self._inputs[torch.from_numpy(self._choose(32))]
        return ((self._network(inputs) - self.recipe.slope * inputs) ** 2).mean()


@pytest.fixture
def line(monkeypatch):
    optimiser = OptimiserSettings(rate=Schedule(3e-2, 1e-3), max_gradient=5.0)
    recipe = LineRecipe(
        "a line", "pointnav-v1", frames=3200, save_updates=50, log_updates=50, optimiser=optimiser
    )
    monkeypatch.setitem(RECIPES._objects, "line", recipe)
    return recipe


def test_the_command_trains_a_kind_that_it_does_not_know(line, tmp_path, capsys):
    assert main(["train", "line", "--out", str(tmp_path), "--slope=3", "--batch=8", "--quiet"]) == 0
    told = capsys.readouterr().out
    assert f"draw-line {tmp_path}" in told and "line_loss" in told
    info, network = load_fitted(tmp_path, LineInfo)
    assert info.frames == 3200 and info.updates == 400 and info.recipe == {"slope": 3.0}
    assert isinstance(network, torch.nn.Linear) and not network.training
    losses = [json.loads(line)["line_loss"] for line in (tmp_path / LOG).read_text().splitlines()]
    assert len(losses) == 8 and losses[-1] < 0.1 * losses[0]
    assert main(["train", "line", "--out", str(tmp_path), "--slope=3", "--batch=8", "--json", "--quiet"]) == 0
    assert json.loads(capsys.readouterr().out)["resumed"] == 3200
    assert main(["train", "line", "--out", str(tmp_path), "--batch=0"]) == 2
    assert "expected batch of at least 1, got 0" in capsys.readouterr().err


@pytest.mark.parametrize("left", [{INFO: None}, {MODEL: None}, {INFO: b"{"}, {MODEL: b"of before"}])
def test_a_kill_between_the_last_files_is_mended_by_the_same_command(line, tmp_path, left, capsys):
    command = ["train", "line", "--out", str(tmp_path), "--quiet"]
    assert main(command) == 0
    whole = {name: (tmp_path / name).read_bytes() for name in (INFO, MODEL, RESUME)}
    for name, data in left.items():
        (tmp_path / name).unlink()
        if data is not None:
            (tmp_path / name).write_bytes(data)
    assert main(command) == 0
    assert {name: (tmp_path / name).read_bytes() for name in whole} == whole


def test_a_folder_takes_one_training_at_a_time(line, tmp_path, capsys):
    folder = tmp_path / "run"
    command = ["train", "line", "--out", str(folder), "--quiet"]
    with FolderLock(folder):
        assert main(command) == 2
        assert f"another process is writing to {folder}; wait" in capsys.readouterr().err
        assert [one.name for one in folder.iterdir()] == [".lock"], "nothing of it is written"
    assert main(command) == 0
    assert main(["train", "line", "--out", str(tmp_path / "other"), "--demos", "demos", "--quiet"]) == 2
    assert not (tmp_path / "other").exists(), "what is refused leaves nothing behind"


@pytest.mark.parametrize(
    "name",
    ["line", "segmenter-smoke", "joint-smoke", "anticipation-smoke", "cross-view-smoke", "depth-smoke"],
)
def test_fittings_take_one_process_on_the_processor(line, name, tmp_path):
    recipe = RECIPES.get(name)
    for machine in (Machine(1, "cuda"), Machine(1, "cpu", Processes(0, 2))):
        with pytest.raises(InputError, match=f"one process on the processor to train the kind {recipe.kind}"):
            recipe.begin(tmp_path, machine)
    with pytest.raises(InputError, match="expected a policy for --demos"):
        recipe.begin(tmp_path, Machine(), Path("demos"))
    assert recipe.make_first() is None


def test_what_is_no_recipe_is_refused(monkeypatch, capsys):
    monkeypatch.setitem(RECIPES._objects, "other", object())
    assert main(["train", "other"]) == 2
    assert "expected a TrainingRecipe" in capsys.readouterr().err
