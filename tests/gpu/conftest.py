"""Tests of a GPU: they run with `-m gpu`, where there is one, and compare it with the CPU."""

from __future__ import annotations

import pytest
import torch

DEVICE = "cuda"


@pytest.fixture(autouse=True)
def full_precision(rlk_gpu, monkeypatch):
    """Convolutions with all 23 bits, as a CPU has them; by default cuDNN rounds to ten."""
    monkeypatch.setattr(torch.backends.cudnn, "allow_tf32", False)
