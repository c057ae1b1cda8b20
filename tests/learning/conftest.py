"""What every test of learning starts from."""

import pytest


@pytest.fixture(autouse=True)
def same_draws_of_torch() -> None:
    """The same random tensors in every run, whatever ran before."""
    try:
        import torch
    except ImportError:
        return
    torch.manual_seed(0)
