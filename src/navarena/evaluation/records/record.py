"""run.json: the record of a run, written before its first episode and checked before it is resumed."""

import datetime
import hashlib
import os
import platform
import sys
from collections.abc import Iterable, Mapping
from pathlib import Path

import msgspec
import numba
import numpy as np

import navarena
from navarena.core.errors import FileError, InputError
from navarena.core.files import decode_json, read_bytes, write_atomic
from navarena.core.render_devices import CPU, find_device, find_warp
from navarena.evaluation.benchmark import Benchmark
from navarena.evaluation.settings import EvaluationSettings, Setting

FORMAT = "navarena-run-v2"
FILE_NAME = "run.json"
LISTED = 8
"""Runs in a folder that a message names at most."""

DRAWING = ("warp", "device")
"""Versions of what draws, where it is not the CPU's engine: Warp's, and the model of its device."""

UNNAMED = "what the agent does not name"
"""The declared input of an agent that names none, where others were noticed."""

IMPORTED = "imported"
"""The setting, and the option of the protocol, that mark results which other code wrote."""


class RunRecord(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Record of a run: its settings, versions and machine.

    Attributes:
        format: of this file.
        identity: `protocol@dataset/split#hash`.
        settings: those that can move a number (EvaluationSettings.decisive).
        privileged: whether the agent looks behind its observations, as an expert does.
        privileged_inputs: at what, as the agent declares, and as was noticed while it ran.
        noticed_inputs: those of privileged_inputs that it did not declare.
        trained_with: corruptions and augmentations that the agent was trained with, as it declares.
        resizes: sizes to which the agent brings the protocol's images itself, as it declares.
        model_sha256: of the agent's weights; empty of an agent that names none.
        episodes: how many there are.
        actions, metrics: names, in the protocol's order.
        seeds: name -> seed.
        versions: of navarena, numpy, numba and python; with another device than the CPU's engine also of
            warp, and the model of the device.
        hardware: system, machine, processor, cores.
        execution: workers and batch_size of the first command.
        command: that started it.
        started: when, UTC, ISO 8601.
        view_points: hash of those that decided about success, written when the run is finished; None for
            tasks without view points and for files that bring their own.
    """

    format: str = FORMAT
    identity: str
    settings: dict[str, Setting]
    privileged: bool
    privileged_inputs: tuple[str, ...] = ()
    trained_with: tuple[str, ...] = ()
    episodes: int
    actions: tuple[str, ...]
    metrics: tuple[str, ...]
    seeds: dict[str, int]
    versions: dict[str, str]
    hardware: dict[str, str | int]
    execution: dict[str, int]
    command: tuple[str, ...]
    started: str
    view_points: str | None = None
    noticed_inputs: tuple[str, ...] = ()
    resizes: tuple[str, ...] = ()
    model_sha256: str = ""

    @property
    def agent(self) -> str:
        """The agent's name."""
        return str(self.settings["agent"])

    @property
    def corruptions(self) -> tuple[str, ...]:
        """The corruptions that were chosen; none for a clean run."""
        chosen = self.settings.get("corrupt") or ()
        texts = (chosen,) if isinstance(chosen, str) else tuple(chosen)  # type: ignore[arg-type]
        return tuple(one for text in texts for one in text.split(","))  # earlier versions joined them

    @property
    def platform(self) -> tuple[str, ...]:
        """The platform: replays, which draw nothing, are equal bit for bit where it is equal."""
        machine = (str(self.hardware["system"]), str(self.hardware["machine"]))
        versions = {name: one for name, one in self.versions.items() if name not in DRAWING}
        return (*machine, *(f"{name} {version}" for name, version in sorted(versions.items())))


def describe_versions(device: str = CPU) -> dict[str, str]:
    """The versions that can move a number: of Warp and of its device, too, where one draws."""
    drawing = {}
    if device != CPU:
        drawing = dict(zip(DRAWING, (str(find_warp().__version__), str(find_device(device).name))))
    return {
        "navarena": navarena.__version__,
        "numpy": np.__version__,
        "numba": numba.__version__,
        "python": platform.python_version(),
        **drawing,
    }


def describe_hardware() -> dict[str, str | int]:
    """The machine: system, machine, processor and number of cores."""
    return {
        "system": platform.system(),
        "machine": platform.machine(),
        "processor": _processor_name(),
        "cores": os.cpu_count() or 1,
    }


def _processor_name() -> str:
    cpuinfo = Path("/proc/cpuinfo")
    if cpuinfo.exists():
        for line in cpuinfo.read_text(errors="replace").splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    return platform.processor() or "unknown"


def make_record(
    settings: EvaluationSettings, benchmark: Benchmark, command: tuple[str, ...] | None = None
) -> RunRecord:
    """The record of a run that starts now; `command` is sys.argv unless given."""
    return RunRecord(
        identity=str(benchmark.identity),
        settings=settings.decisive,
        privileged=benchmark.declaration.privileged,
        privileged_inputs=benchmark.declaration.privileged_inputs,
        trained_with=benchmark.declaration.trained_with,
        resizes=benchmark.declaration.resizes,
        model_sha256=benchmark.declaration.model_sha256,
        episodes=len(benchmark.episodes),
        actions=benchmark.actions,
        metrics=benchmark.metrics,
        seeds={"agent": settings.seed},
        versions=describe_versions(settings.device),
        hardware=describe_hardware(),
        execution={"workers": settings.workers or 1, "batch_size": settings.batch_size},
        command=tuple(sys.argv) if command is None else command,
        started=datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds"),
    )


def note_inputs(record: RunRecord, inputs: Iterable[str]) -> RunRecord:
    """`record` of an agent that was noticed to use `inputs`; those that it names already change nothing."""
    known = record.privileged_inputs
    new = tuple(one for one in dict.fromkeys(inputs) if one not in known)
    if not new:
        return record
    named = (UNNAMED,) if record.privileged and not known else known
    return msgspec.structs.replace(
        record,
        privileged=True,
        privileged_inputs=(*named, *new),
        noticed_inputs=(*record.noticed_inputs, *new),
    )


def begin_record(record: RunRecord) -> RunRecord:
    """`record` as at the start of the run: without view points and without inputs noticed later."""
    noticed = record.noticed_inputs
    declared = tuple(one for one in record.privileged_inputs if one not in noticed)
    return msgspec.structs.replace(
        record,
        view_points=None,
        privileged=bool(declared) if noticed else record.privileged,
        privileged_inputs=() if noticed and declared == (UNNAMED,) else declared,
        noticed_inputs=(),
    )


def hash_record(record: RunRecord) -> str:
    """32 hex digits of SHA-256 over `record` as it was when the run began."""
    begun = msgspec.json.encode(begin_record(record), order="deterministic")
    for unsaid in (b',"model_sha256":""}', b',"resizes":[]}'):  # runs from before agents could say it
        if not begun.endswith(unsaid):
            break
        begun = begun.removesuffix(unsaid) + b"}"
    return hashlib.sha256(begun).hexdigest()[:32]


def hash_run(folder: Path) -> str:
    """The hash of the run.json in `folder`; empty where there is none. Raises FileError for a damaged one."""
    return hash_record(read_record(folder)) if (folder / FILE_NAME).exists() else ""


def write_record(folder: Path, record: RunRecord) -> None:
    """Write run.json into `folder` in one step; raises StorageError."""
    write_atomic(folder / FILE_NAME, msgspec.json.format(msgspec.json.encode(record), indent=2) + b"\n")


def read_record(folder: Path) -> RunRecord:
    """The run.json of `folder`; raises FileError when it is missing or damaged."""
    path = folder / FILE_NAME
    if not path.exists() and (inner := sorted(one.parent for one in folder.glob(f"*/{FILE_NAME}"))):
        raise FileError(
            f"expected the folder of a run, got {folder}, which holds {len(inner)} of them; name "
            f"{' '.join(str(one) for one in inner[:LISTED])}{' ...' if len(inner) > LISTED else ''}"
        )
    remedy = "restore it, or start over with --fresh"
    data = read_bytes(path, "run record", remedy)
    _require_format(path, data)
    record: RunRecord = decode_json(data, f"run record {path}", RunRecord, remedy)
    missing = [name for name in ("system", "machine") if name not in record.hardware]
    missing += ["agent"] if "agent" not in record.settings else []
    if missing:
        raise FileError(f"run record {path} is damaged (it has no {', '.join(missing)}); {remedy}")
    return record


class _Format(msgspec.Struct):
    format: str = ""


def _require_format(path: Path, data: bytes) -> None:
    """Raise FileError for a run that another version of navarena wrote; damage is found by who reads on."""
    try:
        found = decode_json(data, str(path), _Format).format
    except FileError:
        return
    if found != FORMAT:
        raise FileError(
            f"expected a run of format {FORMAT!r}, got {found!r} in {path}; evaluate again with this "
            "version, or install the one that wrote it"
        )


def require_same_run(folder: Path, found: RunRecord, wanted: RunRecord) -> None:
    """Raise InputError unless the run in `folder` is the one that is wanted now.

    Machines and numbers of workers may differ; what can move a number may not.
    """
    differences = []
    if found.identity != wanted.identity:
        differences.append(f"identity is {found.identity}, not {wanted.identity}")
    differences += describe_changes("", found.settings, wanted.settings)
    differences += describe_changes("version of ", found.versions, wanted.versions)
    declared = begin_record(found).privileged_inputs
    if declared != wanted.privileged_inputs:
        old, new = (", ".join(one) or "none" for one in (declared, wanted.privileged_inputs))
        differences.append(f"the agent declared the privileged inputs {old}, not {new}")
    if found.model_sha256 != wanted.model_sha256:
        old, new = (one or "unknown" for one in (found.model_sha256, wanted.model_sha256))
        differences.append(f"the hashes of the agent's weights and files are {old}, not {new}")
    if found.metrics != wanted.metrics or found.actions != wanted.actions:
        differences.append("the protocol's metrics or actions are others")
    if differences:
        raise InputError(
            f"{folder} holds another run: {'; '.join(differences)}. Choose another --out, "
            "or throw that run away with --fresh"
        )


def describe_changes(kind: str, old: Mapping[str, object], new: Mapping[str, object]) -> list[str]:
    """One phrase for each name whose value is another in `new`; `kind` stands before the name."""
    names = [name for name in sorted({*old, *new}) if old.get(name) != new.get(name)]
    return [f"{kind}{name} is {old.get(name)!r}, not {new.get(name)!r}" for name in names]
