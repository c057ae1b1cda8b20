"""What goes wrong before a page is there: one line, exit code 2, and nothing left behind."""

import socket
import webbrowser
from collections.abc import Iterator
from pathlib import Path

import pytest

from navarena.cli.main import main
from navarena.evaluation import EvaluationSettings
from navarena.evaluation.running.runner import evaluate

pytestmark = pytest.mark.server
pytest.importorskip("fastapi")
pytest.importorskip("websockets")


@pytest.fixture
def port() -> Iterator[str]:
    """A port in use."""
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        yield str(taken.getsockname()[1])


def commands(folder: Path) -> dict[str, list[str]]:
    return {
        "play": ["play", "pointnav-v1", "--out", str(folder / "run")],
        "people": ["play", "pointnav-v1", "--people", "2", "--out", str(folder / "run")],
        "evaluate": ["evaluate", "pointnav-v1", "--watch", "--out", str(folder / "run")],
        "scene": ["scene", "view", "houses-v1/val/00003"],
    }


def refused(capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    """What a command says that ends with exit code 2."""
    assert main(list(arguments)) == 2
    said = capsys.readouterr().err.strip().splitlines()
    assert len(said) == 1, said
    return said[0]


@pytest.mark.parametrize("name", ["play", "people", "evaluate", "scene"])
def test_a_port_in_use(name: str, port: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    line = refused(capsys, *commands(tmp_path)[name], "--no-browser", "--port", port)
    assert f"port {port}" in line and "choose another --port" in line
    assert not (tmp_path / "run").exists()


@pytest.mark.parametrize("name", ["play", "evaluate", "scene"])
def test_no_browser(
    name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def get() -> None:
        raise webbrowser.Error("could not locate runnable browser")

    monkeypatch.setattr(webbrowser, "get", get)
    line = refused(capsys, *commands(tmp_path)[name], "--port", "0")
    assert "expected a browser" in line and "--no-browser" in line
    assert not (tmp_path / "run").exists()


def test_a_replay_on_a_port_in_use(port: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = evaluate(EvaluationSettings("pointnav-v1", "stop", episodes=1, out=tmp_path / "run")).folder
    assert "choose another --port" in refused(capsys, "replay", str(folder), "--watch", "--port", port)


@pytest.mark.parametrize(
    ("words", "named"),
    [
        (("play", "pointnav-v1", "--sensors", "rgb,smell"), "smell"),
        (("play", "pointnav-v1", "--people", "-1"), "--people"),
        (("play", "pointnav-v1", "--episode", "nothing"), "nothing"),
        (("play", "pointnav-v1", "--scene", "nowhere"), "nowhere"),
        (("play", "pointnav-v9"), "pointnav-v9"),
        (("play", "r2r-v1", "--scene", "houses-v1/val/00003"), "stand alone"),
        (("scene", "view", "houses-v1/val/99999999"), "99999999"),
        (("scene", "view", "nothing.glb"), "nothing.glb"),
        (("evaluate", "pointnav-v1", "--agent", "human"), "navarena play"),
        (("evaluate", "pointnav-v1", "--watch", "--workers", "2", "--no-browser", "--port", "0"), "--watch"),
    ],
)
def test_bad_input(
    words: tuple[str, ...],
    named: str,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(list(words)) == 2
    said = capsys.readouterr().err.strip().splitlines()
    assert named in said[-1] and len([line for line in said if "the page is at" not in line]) == 1
    assert not list(tmp_path.rglob("*.jsonl"))
