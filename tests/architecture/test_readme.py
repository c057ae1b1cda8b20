"""What README and CI say about setting up is one and the same."""

import re

from .sources import ROOT

README = (ROOT / "README.md").read_text()
CI = (ROOT / ".ci" / "run").read_text()
BENCHMARKS = ("ObjectNav", "MultiON", "Iterative VLN", "GOAT-Bench", "RobustNav")


def setup_commands() -> list[str]:
    fences = re.findall(r"```bash\n(.*?)```", README, re.S)
    return [
        line for fence in fences for line in fence.strip().split("\n") if line.startswith("python3 -m venv")
    ]


def ci_constant(name: str) -> str:
    found = re.search(rf"^{name}='([^']*)'$", CI, re.M)
    assert found, f"{name} not found in .ci/run"
    return found.group(1)


def test_ci_runs_the_commands_of_the_readme() -> None:
    assert setup_commands() == [ci_constant("MAIN_JOB"), ci_constant("TESTS")]


def test_debian_packages_agree() -> None:
    line = re.search(r"apt-get install ([^`]*)`", README)
    assert line and line.group(1).split() == ci_constant("DEBIAN_PACKAGES").split()


def test_every_benchmark_has_a_state() -> None:
    rows = re.findall(r"^\| ([^|]+?) *\|[^|]*\| ([^|]+?) *\|$", README, re.M)
    assert [name.split(" (")[0] for name, _ in rows if not name.startswith(("-", "bench"))] == list(
        BENCHMARKS
    )
    assert all(state for _, state in rows)


def test_changelog_names_the_version() -> None:
    import navarena

    assert f"## {navarena.__version__}" in (ROOT / "CHANGELOG.md").read_text()
