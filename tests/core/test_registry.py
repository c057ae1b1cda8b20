"""Names from the package, from entry points of other packages, and from the running process."""

import os
import sys
from importlib.metadata import EntryPoints, entry_points
from pathlib import Path

import pytest

from navarena.core.errors import InputError, UnknownNameError
from navarena.core.registry import Registry, load_target


@pytest.fixture
def registry() -> Registry:
    return Registry("agent", {"one": "math:sqrt", "two": "math:pi"}, "navarena.test_things")


def install(folder: Path, name: str, *points: str) -> None:
    """Write the metadata of an installed distribution with entry points."""
    info = folder / f"{name}-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text("\n".join(("[navarena.test_things]", *points)) + "\n")


@pytest.fixture
def other_package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """An installed distribution: a module, and metadata with an entry point."""
    (tmp_path / "someones_agents.py").write_text("class Walker:\n    speed = 3\n")
    install(tmp_path, "someones_agents", "walker = someones_agents:Walker", "one = someones_agents:Walker")
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.delitem(sys.modules, "someones_agents", raising=False)


def test_builtin_names(registry: Registry) -> None:
    assert registry.names() == ["one", "two"]
    assert registry.get("one")(9) == 3


def test_unknown_name(registry: Registry) -> None:
    with pytest.raises(UnknownNameError, match="unknown agent 'tow'. Did you mean 'two'"):
        registry.get("tow")


@pytest.mark.parametrize("name", ["elsewhere", "tow"])
def test_an_unknown_name_may_be_that_of_a_package(name: str, registry: Registry) -> None:
    with pytest.raises(UnknownNameError, match=rf"'{name}'.* two\. If a package adds .*test_things'"):
        registry.get(name)


def test_entry_points_add_names(other_package: None, registry: Registry) -> None:
    assert registry.names() == ["one", "two", "walker"]
    assert registry.get("walker").speed == 3


def test_a_package_that_cannot_be_imported_is_one_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, registry: Registry
) -> None:
    (tmp_path / "someones_slip.py").write_text("1 / 0\n")
    install(tmp_path, "someones_slip", "slip = someones_slip:Walker")
    monkeypatch.syspath_prepend(str(tmp_path))
    with pytest.raises(
        InputError, match=r"agent 'slip' \(someones_slip:Walker\); it raised ZeroDivisionError"
    ):
        registry.get("slip")


def test_entry_points_cannot_replace_ours(other_package: None, registry: Registry) -> None:
    assert registry.get("one")(9) == 3


def test_two_packages_with_one_name_are_refused(
    other_package: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, registry: Registry
) -> None:
    other = tmp_path / "other"
    other.mkdir()
    install(other, "twin_agents", "walker = twin_agents:Walker", "one = twin_agents:One")
    monkeypatch.syspath_prepend(str(other))
    with pytest.raises(InputError, match="'walker', got twin_agents:Walker or someones_agents:Walker"):
        registry.get("walker")
    assert registry.names() == ["one", "two", "walker"] and registry.get("one")(9) == 3


def test_listing_imports_nothing(other_package: None, registry: Registry) -> None:
    assert registry.targets()["walker"] == "someones_agents:Walker"
    assert "someones_agents" not in sys.modules


def test_packages_are_read_once_until_one_is_installed(
    other_package: None, registry: Registry, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    read: list[str] = []

    def count(group: str) -> EntryPoints:
        read.append(group)
        return entry_points(group=group)

    monkeypatch.setattr("navarena.core.registry.entry_points", count)
    for _ in range(3):
        assert registry.names() == ["one", "two", "walker"]
    assert len(read) <= 1  # 0 if another test has read these folders
    install(tmp_path, "more_agents", "runner = someones_agents:Walker")
    os.utime(tmp_path, (2e9, 2e9))  # the file system's clock may be coarse
    assert registry.names() == ["one", "runner", "two", "walker"]


def test_registering_for_this_process(registry: Registry) -> None:
    class Mine:
        pass

    registry.register("mine", Mine)
    assert registry.get("mine") is Mine and "mine" in registry.names()
    with pytest.raises(InputError, match="agent 'mine' is already registered"):
        registry.register("mine", Mine)


@pytest.mark.parametrize(
    ("target", "message"),
    [
        ("no-colon", "expected module:attribute, got 'no-colon'"),
        (":x", "expected module:attribute"),
        ("no_such_module_at_all:x", "cannot import 'no_such_module_at_all'"),
        ("no_such_file.py:Mine", "write the module, not its file: no_such_file:Mine"),
        ("math:sqroot", "unknown attribute of math 'sqroot'. Did you mean 'sqrt'"),
    ],
)
def test_bad_targets(target: str, message: str) -> None:
    with pytest.raises(InputError, match=message):
        load_target(target)


def test_a_missing_import_inside_the_target_is_not_hidden(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "needs_more.py").write_text("import surely_not_installed\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    with pytest.raises(ModuleNotFoundError, match="surely_not_installed"):
        load_target("needs_more:x")
