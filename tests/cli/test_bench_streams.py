"""The benchmark of new houses finds no house in the cache, and compiles no kernel twice."""

from navarena.cli.benchmarks.streams import _without_packs
from navarena.core.files import CACHE_VARIABLE, cache_folder


def test_kernels_stay_and_packs_are_left_out(monkeypatch, tmp_path):
    monkeypatch.setenv(CACHE_VARIABLE, str(tmp_path))
    (tmp_path / "packs").mkdir()
    with _without_packs():
        inside = cache_folder()
        assert [entry.name for entry in inside.iterdir()] == ["kernels"]
        (inside / "kernels" / "new").touch()
    assert cache_folder() == tmp_path and (tmp_path / "kernels" / "new").exists() and not inside.exists()
