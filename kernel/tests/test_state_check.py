"""What a file may hold for a part that saves this: the same types, and arrays that have grown."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from rlk.errors import BadFile
from rlk.saving.state_check import check_state

OWN = {
    "count": 3,
    "rate": 0.5,
    "name": "a",
    "on": True,
    "later": None,
    "rows": np.zeros((16, 2)),
    "weight": torch.zeros(2),
    "list": [1, 2],
    "mixed": [1, "a"],
    "chosen": np.zeros((4, 0)),
}


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("count", 7),
        ("rate", 1),
        ("later", "anything"),
        ("rows", np.zeros((1, 2))),
        ("rows", np.zeros((99, 2))),
        ("list", []),
        ("list", [5, 6, 7]),
        ("mixed", [1, "a", "b"]),
        ("chosen", np.zeros((4, 3))),
        ("another", 0),
    ],
)
def test_a_state_of_another_time_is_like_it(key, value):
    check_state({**OWN, key: value}, OWN, "state")


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("count", 0.5),
        ("count", True),
        ("rate", "0.5"),
        ("name", 1),
        ("on", 1),
        ("rows", np.zeros((16, 3))),
        ("rows", np.zeros(16)),
        ("rows", np.zeros((16, 2), np.float32)),
        ("rows", [[0.0, 0.0]]),
        ("weight", np.zeros(2)),
        ("weight", torch.zeros(1)),  # which torch would spread over both
        ("weight", torch.zeros(3)),
        ("list", [1, "2"]),
        ("list", 1),
    ],
)
def test_another_type_is_named_with_its_place(key, value):
    with pytest.raises(BadFile, match=rf"^state\.{key}"):
        check_state({**OWN, key: value}, OWN, "state")
