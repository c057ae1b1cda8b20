"""The fingerprint covers a file and everything of its package that it imports."""

from pathlib import Path

import pytest

from navarena.core.sources import package_root, source_closure, source_fingerprint

FILES = {
    "__init__.py": "",
    "low.py": "FACTOR = 2\n",
    "side.py": "OTHER = 1\n",
    "part/__init__.py": "from pack.part.inner import f\n",
    "part/inner.py": "import pack.low\n\ndef f():\n    return 1\n",
    "one_line.py": "from pack import low, side  # both\n",
    "brackets.py": "from pack.part import (\n    inner,\n    f,\n)\n",
    "inside.py": "def f():\n    from pack import side\n    return side\n",
    "ring_a.py": "import pack.ring_b\n",
    "ring_b.py": "import pack.ring_a\n",
    "alone.py": "import numpy\nfrom os import path\n",
}


@pytest.fixture
def pack(tmp_path: Path) -> Path:
    folder = tmp_path / "pack"
    for name, text in FILES.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    return folder


@pytest.mark.parametrize(
    ("file", "closure"),
    [
        ("alone.py", {"alone.py"}),
        ("one_line.py", {"one_line.py", "__init__.py", "low.py", "side.py"}),
        ("part/inner.py", {"part/inner.py", "low.py"}),
        ("brackets.py", {"brackets.py", "part/__init__.py", "part/inner.py", "low.py"}),
        ("inside.py", {"inside.py", "__init__.py", "side.py"}),
        ("ring_a.py", {"ring_a.py", "ring_b.py"}),
    ],
)
def test_closure(pack: Path, file: str, closure: set[str]) -> None:
    found = {str(path.relative_to(pack)) for path in source_closure(pack / file, pack)}
    assert found == closure


def test_package_root(pack: Path) -> None:
    assert package_root(pack / "part" / "inner.py") == pack


def test_fingerprint_moves_with_an_imported_file_only(pack: Path) -> None:
    from navarena.core import sources

    def fingerprint(name: str) -> str:
        source_fingerprint.cache_clear()
        sources._imports.cache_clear()
        return source_fingerprint(pack / name)

    before = {name: fingerprint(name) for name in ("one_line.py", "part/inner.py", "alone.py")}
    (pack / "side.py").write_text("OTHER = 2\n")
    after = {name: fingerprint(name) for name in before}
    changed = {name for name in before if before[name] != after[name]}
    assert changed == {"one_line.py"}


def test_fingerprint_does_not_depend_on_the_place(pack: Path, tmp_path: Path) -> None:
    import shutil

    shutil.copytree(pack, tmp_path / "elsewhere" / "pack")
    assert source_fingerprint(pack / "brackets.py") == source_fingerprint(
        tmp_path / "elsewhere" / "pack" / "brackets.py"
    )
