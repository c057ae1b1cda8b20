"""Seeded mutation of files, and the readers that must refuse what comes out by one clear error.

Run this file to try more inputs than the tests do, and to repeat one of them:

    python tests/fuzzing.py COUNT [SEED] [ONLY]

It prints what each reader made of its inputs, and every input that was not refused by one clear line.
"""

import copy
import gzip
import json
import logging
import os
import re
import resource
import signal
import sys
import time
import traceback
import warnings
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

from fuzz_samples import Sample, make_samples

SECONDS = 8.0
"""Of processor time that one input may take, with types checked at run time; good ones take 0.5 s."""

MEGABYTES = 768
"""By which one input may raise the memory of the process."""

ADDRESS_SPACE = 8 << 30
"""Bytes that the process may ask for at all, so that a miss does not take the machine down."""

NUMBERS = (
    b"-1", b"0", b"nan", b"1e308", b"-1e308", b"1e9", b"18446744073709551616", b"9223372036854775807",
    b"2147483648", b"65536", b"1" + b"0" * 400, b"1" + b"0" * 5000, b"0.5", b"1e-320",
)  # fmt: skip

ODD = (
    None, True, -1, 10**400, 2.0**64, 1e308, "", "x", "\ud7ff", [], {}, [1, 2, 3], [[]], [None], {"x": 1},
    {"x": 1, "y": 2, "z": 3}, 1e9, 0, -(10**18), "9" * 3000,
)  # fmt: skip


@dataclass(frozen=True)
class Finding:
    """An input that was not refused as it should be."""

    sample: str
    number: int
    problem: str


def _how_many(rng: np.random.Generator) -> int:
    """Changes of one input: mostly one, so that some get past the first check."""
    return int(rng.choice((1, 1, 1, 2, 4)))


def mutate_bytes(data: bytes, rng: np.random.Generator) -> bytes:
    """`data` with one to four places changed."""
    for _ in range(_how_many(rng)):
        at = int(rng.integers(0, max(1, len(data))))
        size = int(min(rng.integers(1, 64), max(1, len(data) - at)))
        kind = int(rng.integers(0, 8))
        if kind == 0 and data:
            data = data[:at] + bytes([data[at] ^ (1 << int(rng.integers(0, 8)))]) + data[at + 1 :]
        elif kind == 1:
            data = data[:at]
        elif kind == 2:
            data = data[:at] + data[at + size :]
        elif kind == 3:
            data = data[: at + size] + data[at : at + size] * int(rng.integers(1, 2000)) + data[at + size :]
        elif kind == 4:
            data = data[:at] + rng.bytes(size) + data[at:]
        elif kind == 5:
            data = (
                data[:at] + (b"\xff\xfe", b"[" * 3000, b"\0", b'{"a":' * 3000)[rng.integers(0, 4)] + data[at:]
            )
        else:
            found = list(re.finditer(rb"-?\d[\d.]*", data[at : at + 4096]))
            if found:
                one = found[int(rng.integers(0, len(found)))]
                other = NUMBERS[int(rng.integers(0, len(NUMBERS)))]
                data = data[: at + one.start()] + other + data[at + one.end() :]
    return data


def mutate_json(data: bytes, rng: np.random.Generator) -> bytes:
    """`data`, JSON or lines of it, with one to four values swapped, dropped or doubled."""
    lines = data.split(b"\n")
    chosen = int(rng.integers(0, len(lines)))
    try:
        whole = len(lines) == 1 or not lines[0].endswith(b"}")
        document = json.loads(data if whole else lines[chosen])
    except ValueError:
        return mutate_bytes(data, rng)
    for _ in range(_how_many(rng)):
        places = [(None, None), *_places(document)]
        holder, key = places[int(rng.integers(0, len(places)))]
        odd = copy.deepcopy(ODD[int(rng.integers(0, len(ODD)))])
        if holder is None:
            continue
        if rng.random() < 0.2:
            del holder[key]
        elif isinstance(holder, list) and rng.random() < 0.2:
            holder.extend([holder[key]] * int(rng.integers(1, 300)))
        else:
            holder[key] = odd
    with np.errstate(all="ignore"):
        text = json.dumps(document).encode()
    if not whole:
        lines[chosen] = text
        return b"\n".join(lines)
    return text


def _places(document: object) -> Iterator[tuple[object, object]]:
    """(list or dictionary, key) of every value in a document."""
    pending = [document]
    while pending:
        holder = pending.pop()
        if not isinstance(holder, dict | list):
            continue
        for key in list(holder) if isinstance(holder, dict) else range(len(holder)):
            yield holder, key
            pending.append(holder[key])


def mutate(sample: Sample, rng: np.random.Generator) -> bytes:
    """Another content for the file of `sample`; compressed files change inside or outside."""
    data = sample.file.read_bytes()
    is_packed = data[:2] == b"\x1f\x8b"
    if is_packed and rng.random() < 0.02:
        return BOMB
    inside = is_packed and rng.random() < 0.7
    if inside:
        data = gzip.decompress(data)
    swap = sample.is_json and (inside or not is_packed) and rng.random() < 0.6
    data = mutate_json(data, rng) if swap else mutate_bytes(data, rng)
    return gzip.compress(data, 1) if inside else data


REPORTED = 500
"""Inputs between two lines of the script."""

BOMB = gzip.compress(b"[" + b" " * (300 << 20), 1)
"""300 MiB of nothing in 1.3 MiB."""


class _Late(BaseException):
    """The input took too long."""


@contextmanager
def _limits() -> Iterator[None]:
    """End what takes longer than SECONDS by _Late."""

    def late(*_: object) -> None:
        raise _Late

    before = signal.signal(signal.SIGPROF, late)
    signal.setitimer(signal.ITIMER_PROF, SECONDS)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, before)


def _peak_mib() -> int:
    """Largest resident size of this process since `_forget_peak`, MiB."""
    text = Path("/proc/self/status").read_text()
    return int(re.search(r"VmHWM:\s+(\d+)", text)[1]) >> 10


def _forget_peak() -> int:
    Path("/proc/self/clear_refs").write_text("5")
    return _peak_mib()


def try_input(sample: Sample, data: bytes) -> tuple[str, str]:
    """(outcome, problem) of reading `data` in the place of the sample's file; no problem is "".

    Outcomes are "read", "refused" and "found".
    """
    from navarena.cli.main import REFUSALS
    from navarena.core.errors import NavarenaError

    good = sample.file.read_bytes()
    sample.file.write_bytes(data)
    before, began = _forget_peak(), time.process_time()
    outcome, problem = "read", ""
    try:
        with _limits(), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            sample.read(sample.file)
    except NavarenaError as error:
        outcome = "refused"
        if not str(error).strip():
            problem = f"{type(error).__name__} without a message"
    except _Late:
        problem = f"took longer than {SECONDS:g} s"
    except OSError as error:
        outcome = "refused"
        problem = "" if error.errno in REFUSALS else _shorten(error)
    except KeyboardInterrupt:
        raise
    except BaseException as error:
        problem = _shorten(error)
    finally:
        sample.file.write_bytes(good)
    taken = time.process_time() - began
    grown = _peak_mib() - before
    if not problem and taken > SECONDS:
        problem = f"took {taken:.1f} s"
    if not problem and grown > MEGABYTES:
        problem = f"took {grown} MiB"
    return ("found" if problem else outcome), problem


def _shorten(error: BaseException) -> str:
    lines = "".join(traceback.format_exception(error, limit=-4)).splitlines()
    return "\n".join(line[:200] for line in lines)


def open_samples(folder: Path, only: str = "") -> list[Sample]:
    """The samples below `folder` whose names hold `only`, all read once: they are good as they are."""
    samples = [one for one in make_samples(folder) if only in one.name]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for sample in samples:
            sample.read(sample.file)
    return samples


def fuzz(samples: list[Sample], seed: int, numbers: range) -> tuple[Counter, list[Finding]]:
    """((sample, outcome) -> how many, findings) of inputs; each depends on `seed` and its number alone."""
    soft, hard = resource.getrlimit(resource.RLIMIT_AS)
    resource.setrlimit(resource.RLIMIT_AS, (ADDRESS_SPACE, hard))
    counts: Counter = Counter()
    findings = []
    try:
        for number in numbers:
            rng = np.random.default_rng([seed, number])
            sample = samples[int(rng.integers(0, len(samples)))]
            data = mutate(sample, rng)
            outcome, problem = try_input(sample, data)
            counts[sample.name, outcome] += 1
            if problem:
                findings.append(Finding(sample.name, number, problem))
                kept = os.environ.get("NAVARENA_FUZZ_KEEP")
                if kept:
                    (Path(kept) / f"{seed}-{number}-{sample.file.name}").write_bytes(data)
    finally:
        resource.setrlimit(resource.RLIMIT_AS, (soft, hard))
    return counts, findings


def main() -> int:
    """Try inputs as the command line says."""
    count, seed = int(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else time.time_ns() % 10**9
    print(f"seed {seed}", flush=True)
    logging.disable()
    warnings.simplefilter("ignore")
    counts: Counter = Counter()
    found = 0
    with TemporaryDirectory() as folder:
        os.environ.setdefault("NAVARENA_CACHE", str(Path(folder) / "cache"))
        samples = open_samples(Path(folder) / "samples", sys.argv[3] if len(sys.argv) > 3 else "")
        for first in range(0, count, REPORTED):
            own, findings = fuzz(samples, seed, range(first, min(count, first + REPORTED)))
            counts += own
            found += len(findings)
            for finding in findings:
                print(f"--- {finding.sample}, input {finding.number}\n{finding.problem}")
            print(f"{sum(counts.values())} inputs, seed {seed}: {found} found", flush=True)
    for name in sorted({name for name, _ in counts}):
        cells = ", ".join(f"{counts[name, one]} {one}" for one in ("read", "refused", "found"))
        print(f"{name:28} {cells}")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
