"""Devices by name, and what is said where there is none."""

import os
from types import SimpleNamespace

import pytest

from navarena.core import render_devices as module
from navarena.core.errors import InputError, MissingExtraError, UnknownNameError
from navarena.core.render_devices import find_device, require_device_name


def fake_warp(gpus=0, driver=None, toolkit=(13, 0)):
    devices = [SimpleNamespace(alias=f"cuda:{k}", name="GPU", total_memory=80 << 30) for k in range(gpus)]
    return SimpleNamespace(
        get_cuda_devices=lambda: devices,
        get_cuda_driver_version=lambda: driver,
        get_cuda_toolkit_version=lambda: toolkit,
    )


@pytest.mark.parametrize(
    ("warp", "name", "said"),
    [
        (fake_warp(), "cuda", "expected an NVIDIA driver .* got none"),
        (
            fake_warp(driver=(11, 8)),
            "cuda",
            r"CUDA 13\.0 or newer, got one for CUDA 11\.8; update the driver",
        ),
        (fake_warp(driver=(13, 1)), "cuda", "expected a GPU .* CUDA_VISIBLE_DEVICES"),
        (fake_warp(toolkit=None), "cuda:0", "built without"),
        (fake_warp(2, (13, 1)), "cuda:2", "expected one of 2 GPUs"),
    ],
)
def test_missing_gpus(monkeypatch, warp, name, said):
    monkeypatch.setattr(module, "find_warp", lambda: warp)
    with pytest.raises(InputError, match=said):
        find_device(name)


def test_gpus_by_number(monkeypatch):
    monkeypatch.setattr(module, "find_warp", lambda: fake_warp(3, (13, 1)))
    assert [find_device(name).alias for name in ("cuda", "cuda:0", "cuda:2")] == [
        "cuda:0",
        "cuda:0",
        "cuda:2",
    ]
    assert module.describe_devices()[1] == "cuda:1 GPU, 80 GiB"


def test_only_the_missing_driver_is_left_out_of_what_warp_writes(capfd):
    with module._without_driver_warning():
        os.write(2, b"Warp CUDA warning: Could not find or load the NVIDIA CUDA driver. None.\n")
        os.write(2, b"Warp CUDA error: something else\n")
    os.write(2, b"afterwards\n")
    assert capfd.readouterr().err == "Warp CUDA error: something else\nafterwards\n"


@pytest.mark.parametrize("name", ["gpu", "cuda:", "cuda:x", "", "CUDA", "warp"])
def test_unknown_names(name):
    with pytest.raises(UnknownNameError, match="unknown device"):
        require_device_name(name)


def test_nearest_name_is_offered():
    with pytest.raises(UnknownNameError, match="Did you mean 'cuda'"):
        require_device_name("cud")


def test_without_warp_the_command_that_installs_it_is_named(monkeypatch):
    def missing(name, extra):
        raise MissingExtraError(f"{name} is not installed; run: pip install 'navarena[{extra}]'")

    monkeypatch.setattr(module, "require_extra", missing)
    with pytest.raises(MissingExtraError, match=r"navarena\[gpu\]"):
        find_device("warp-cpu")
