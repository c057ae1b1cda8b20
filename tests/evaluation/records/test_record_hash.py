"""The hash that binds journals to run.json."""

import msgspec

from navarena.evaluation.records.record import RunRecord, hash_record

RECORD = RunRecord(
    identity="a@b/c#d", settings={"agent": "x", "seed": 0}, privileged=False, episodes=3, actions=("a",),
    metrics=("m",), seeds={"agent": 0}, versions={"navarena": "1"}, hardware={"system": "s"},
    execution={"workers": 1}, command=("c",), started="t",
)  # fmt: skip


def test_runs_from_before_agents_declared_sizes_keep_their_hash():
    assert (
        hash_record(RECORD) == "589f9aeb63e9f9762c12abd7cd4a80fd"
    )  # as the first version of run.json had it
    declared = msgspec.structs.replace(RECORD, resizes=("depth=64x64",))
    assert hash_record(declared) not in (
        hash_record(RECORD),
        hash_record(msgspec.structs.replace(RECORD, episodes=4)),
    )


def test_runs_from_before_agents_named_their_weights_keep_their_hash():
    declared = msgspec.structs.replace(RECORD, resizes=("depth=64x64",))
    assert hash_record(declared) == "e54039e80ebb4ec0897aa79b71c4b7ce"
    named = msgspec.structs.replace(RECORD, model_sha256="0" * 64)
    both = msgspec.structs.replace(declared, model_sha256="0" * 64)
    assert len({hash_record(one) for one in (RECORD, declared, named, both)}) == 4


def test_corruptions_of_runs_whose_settings_joined_them_are_several():
    for chosen in ("spatter:5,motion_drift", ["spatter:5,motion_drift"], ["spatter:5", "motion_drift"]):
        record = msgspec.structs.replace(RECORD, settings={"agent": "x", "seed": 0, "corrupt": chosen})
        assert record.corruptions == ("spatter:5", "motion_drift")
    assert RECORD.corruptions == ()
