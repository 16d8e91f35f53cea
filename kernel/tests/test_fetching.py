"""Metrics of another device are fetched together: here with tensors that only pretend."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from rlk.running import fetching
from rlk.running.fetching import fetched

ROWS = [
    {"loss": torch.tensor(1.5), "several": torch.ones(2), "count": torch.tensor(3)},
    {"loss": torch.tensor(2.5), "number": 4.0, "numpy": np.float32(5.0)},
    {},
]


@pytest.fixture
def pretended(monkeypatch):
    """All single tensors count as those of another device."""

    def is_away(value):
        return isinstance(value, torch.Tensor) and value.ndim == 0

    monkeypatch.setattr(fetching, "_is_away", is_away)


def test_single_numbers_are_fetched_and_all_else_stays(pretended):
    first, second, empty = fetched(ROWS)
    assert list(first) == ["loss", "several", "count"]
    assert [float(first["loss"]), float(first["count"]), float(second["loss"])] == [1.5, 3.0, 2.5]
    assert first["several"] is ROWS[0]["several"]
    assert (second["number"], second["numpy"]) == (4.0, np.float32(5.0))
    assert empty == {}


def test_one_transfer_serves_all_rows(pretended, monkeypatch):
    transfers, cpu = [], torch.Tensor.cpu
    monkeypatch.setattr(torch.Tensor, "cpu", lambda tensor: transfers.append(tensor) or cpu(tensor))
    fetched(ROWS)
    assert [tensor.tolist() for tensor in transfers] == [[1.5, 3.0, 2.5]]


def test_rows_of_the_cpu_are_handed_on():
    assert fetched(ROWS) is ROWS
    for nothing in ([], [{}], [{"number": 4.0}], [{"numpy": np.float64(1.0)}]):
        assert fetched(nothing) is nothing
