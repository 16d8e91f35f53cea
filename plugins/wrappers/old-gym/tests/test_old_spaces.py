"""Spaces of the package gym, for which classes of the same names stand in, become Gymnasium's."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from gymnasium import spaces

from rlk_old_gym.interface import is_old
from rlk_old_gym.spaces import as_gymnasium_space


def old(kind: str, **has: Any) -> Any:
    """A space of gym of that class."""
    return type(kind, (), {"__module__": f"gym.spaces.{kind.lower()}", **has})()


LOW, HIGH = np.array([0, 3], np.uint8), np.array([9, 7], np.uint8)
BOX = old("Box", low=LOW, high=HIGH, dtype=np.dtype(np.uint8))


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        (BOX, spaces.Box(LOW, HIGH, dtype=np.uint8)),
        (old("Discrete", n=np.int64(3)), spaces.Discrete(3)),
        (old("Discrete", n=3, start=-1), spaces.Discrete(3, start=-1)),
        (old("MultiDiscrete", nvec=[[2, 3], [4, 5]]), spaces.MultiDiscrete([[2, 3], [4, 5]])),
        (old("MultiBinary", n=4), spaces.MultiBinary(4)),
        (old("MultiBinary", n=(2, 3)), spaces.MultiBinary((2, 3))),
        (
            old("Dict", spaces={"a": BOX, "b": old("Tuple", spaces=[old("Discrete", n=2)])}),
            spaces.Dict(
                {
                    "a": spaces.Box(LOW, HIGH, dtype=np.uint8),
                    "b": spaces.Tuple([spaces.Discrete(2)]),
                }
            ),
        ),
    ],
)
def test_each_kind_of_space_is_converted_with_all_that_it_says(
    given: Any, expected: spaces.Space[Any]
) -> None:
    assert as_gymnasium_space(given) == expected


@pytest.mark.parametrize("name", ["observation_space", "action_space"])
def test_one_space_of_gym_is_enough_to_know_its_interface(name: str) -> None:
    class Env:
        observation_space = action_space = spaces.Discrete(2)

        def reset(self, seed: int | None = None) -> Any: ...

    env = Env()
    assert not is_old(env)
    setattr(env, name, old("Discrete", n=2))
    assert is_old(env)
