"""`navarena bench`: measured speed beside its target."""

import importlib
import importlib.util
import os
import platform
from dataclasses import asdict, dataclass
from typing import Any, Literal, get_args

import tyro

from navarena.cli.benchmarks.measurement import Measurement
from navarena.cli.console import Console
from navarena.core.errors import InputError

Benchmark = Literal[
    "render",
    "images",
    "step",
    "geodesic",
    "navmesh",
    "load",
    "episodes",
    "generation",
    "graphs",
    "corruptions",
    "maps",
    "streams",
    "workers",
    "learning",
]
BENCHMARKS: tuple[Benchmark, ...] = get_args(Benchmark)


@dataclass(frozen=True)
class Bench:
    """Measure speed here: images of several sizes, steps, paths, navmeshes, loading, files, episodes, graphs,
    noise, maps, streams of train episodes, evaluation by several processes, and learning (needs PyTorch).

    The targets are for one core of a 2-core server CPU; compare ratios, not
    figures, across machines.
    """

    benchmarks: tyro.conf.Positional[tuple[Benchmark, ...]] = ()
    """What to measure; everything when none is named, learning only where PyTorch is installed."""
    device: str = "cpu"
    """Device of the benchmark render: cuda, cuda:1 or warp-cpu measures NVIDIA Warp's renderer (needs
    navarena[gpu])."""
    quick: bool = False
    """Fewer repetitions: seconds instead of minutes, with more noise."""
    json: bool = False
    """Print one JSON document instead of tables."""

    def run(self, console: Console) -> int:
        """Measure and print; returns the exit code."""
        chosen = self.benchmarks or tuple(one for one in BENCHMARKS if one != "learning" or _has_torch())
        if self.device != "cpu" and chosen != ("render",):
            raise InputError(
                f"expected the benchmark render alone on {self.device!r}, got {' '.join(chosen)}; run: "
                f"navarena bench render --device {self.device}"
            )
        rows: list[dict[str, Any]] = []
        with console.progress(len(chosen), "measuring") as progress:
            for benchmark in chosen:
                measured = self._measure(benchmark)
                rows += [{"benchmark": benchmark, **asdict(m), "ratio": m.ratio} for m in measured]
                progress.advance()
        for benchmark in chosen:
            columns = ("value", "unit", "target", "ratio", "note")
            mine = [row for row in rows if row["benchmark"] == benchmark]
            console.table(
                benchmark, ("work", *columns), [[row["name"], *(row[key] for key in columns)] for row in mine]
            )
        console.result({"machine": describe_machine(), "quick": self.quick, "measurements": rows})
        return 0

    def _measure(self, benchmark: Benchmark) -> list[Measurement]:
        if self.device != "cpu":
            from navarena.cli.benchmarks.render_device import measure_device

            return measure_device(self.quick, self.device)
        module = importlib.import_module(f"navarena.cli.benchmarks.{benchmark}")
        measured: list[Measurement] = module.measure(self.quick)
        return measured


def _has_torch() -> bool:
    return importlib.util.find_spec("torch") is not None


def describe_machine() -> dict[str, Any]:
    """The machine's processor, cores, system and versions of Python, NumPy and Numba."""
    import numba
    import numpy

    return {
        "processor": processor_name(),
        "cores": os.cpu_count(),
        "system": f"{platform.system()} {platform.machine()}",
        "python": platform.python_version(),
        "numpy": numpy.__version__,
        "numba": numba.__version__,
    }


def processor_name() -> str:
    """The processor's model name if the system knows it, else its architecture."""
    try:
        with open("/proc/cpuinfo") as file:
            names = [line.split(":", 1)[1].strip() for line in file if line.startswith("model name")]
    except OSError:
        names = []
    return names[0] if names else platform.processor() or platform.machine()
