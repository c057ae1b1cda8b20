"""Whatever happens to a file, its reader says so in one line, soon, and without much memory."""

import os
import time

import pytest

from fuzzing import fuzz, open_samples

COUNT = 500


@pytest.mark.slow
def test_mutated_files(tmp_path):
    """Another seed each time; NAVARENA_TEST_SEED repeats one, `python tests/fuzzing.py` tries more."""
    seed = int(os.environ.get("NAVARENA_TEST_SEED") or time.time_ns() % 10**9)
    print(f"NAVARENA_TEST_SEED={seed}")
    counts, findings = fuzz(open_samples(tmp_path / "samples"), seed, range(COUNT))
    shown = "\n".join(f"input {one.number}, {one.sample}: {one.problem}" for one in findings)
    assert not findings, f"NAVARENA_TEST_SEED={seed}\n{shown}"
    assert sum(counts.values()) == COUNT
    outcomes = {outcome for _, outcome in counts}
    assert outcomes == {"read", "refused"}, "mutations are neither all fatal nor all harmless"
