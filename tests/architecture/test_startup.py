"""`import navarena` is cheap, and heavy libraries enter only where they are used."""

import subprocess
import sys

import pytest

LONGEST_IMPORT = 0.3
LONGEST_HELP = 0.5
HEAVY = ("numba", "trimesh", "cv2", "pyarrow", "matplotlib", "torch", "embreex", "shapely", "scipy", "warp")

PROBE = """
import sys, time
begin = time.process_time()
import navarena
seconds = time.process_time() - begin
navarena.__version__, dir(navarena)
print(seconds, *sorted({name.split(".")[0] for name in sys.modules}))
"""


def run_python(code: str) -> list[str]:
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return done.stdout.split()


def test_top_level_import_is_quick_and_light() -> None:
    seconds, *modules = run_python(PROBE)
    assert float(seconds) < LONGEST_IMPORT
    assert not set(HEAVY) & set(modules)


def test_command_table_is_light() -> None:
    """`navarena --help` must not load what the subcommands need."""
    code = "import navarena.cli.main as m, sys; m.main(['--help']); print('MODULES', *sys.modules)"
    words = run_python(code)
    modules = {word.split(".")[0] for word in words[words.index("MODULES") :]}
    assert not set(HEAVY) & modules
    assert not {"tyro", "rich"} & modules


def test_core_and_metrics_need_no_mesh_libraries() -> None:
    modules = {m.split(".")[0] for m in run_python("import navarena.metrics, sys; print(*sys.modules)")}
    assert not {"trimesh", "shapely", "pyarrow", "matplotlib", "torch", "gymnasium"} & modules


@pytest.mark.parametrize("package", ["navarena.tasks", "navarena.evaluation"])
def test_tasks_and_evaluation_load_no_scene_generator(package: str) -> None:
    """Scene sets and recipes are strings until they are used."""
    modules = run_python(f"import {package}, sys; print(*sys.modules)")
    generators = ("navarena.scenes.houses", "navarena.scenes.apartments", "navarena.episodes.goat")
    assert not [name for name in modules if name.startswith(generators)]


def test_workers_load_neither_maps_of_explorers_nor_scipy() -> None:
    """Every worker of an evaluation is a process of its own, and imports all of this again."""
    modules = set(run_python("import navarena.evaluation.running.workers, sys; print(*sys.modules)"))
    heavy = {"scipy.sparse", "scipy.special", "scipy.ndimage", "navarena.agents.explorers", "torch"}
    assert not heavy & modules


def test_help_of_evaluate_is_quick_and_light() -> None:
    """The flags are read before anything that runs episodes is imported."""
    code = """
import contextlib, io, sys, time
begin = time.process_time()
from navarena.cli.main import main
with contextlib.redirect_stdout(io.StringIO()) as out, contextlib.suppress(SystemExit):
    main(["evaluate", "--help"])
assert "--episode-seconds" in out.getvalue()
print(time.process_time() - begin, *sys.modules)
"""
    seconds, *modules = run_python(code)
    assert float(seconds) < LONGEST_HELP
    assert not set(HEAVY) & {name.split(".")[0] for name in modules}


@pytest.mark.parametrize(
    "module", ["navarena.cli.runs.evaluating", "navarena.cli.runs.robustness", "navarena.agents.loading"]
)
def test_modules_can_be_imported_first(module: str) -> None:
    """Packages that import their names late must not hide a circle of imports."""
    run_python(f"import {module}")
