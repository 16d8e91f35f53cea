"""`StackedObservations` against frames that are kept in lists."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from gymnasium import spaces

from rlk_baselines.common.vec_env.stacked_observations import StackedObservations


@pytest.mark.parametrize(
    ("shape", "order"), [((5, 4, 2), "last"), ((2, 5, 4), "first"), ((3,), None)]
)
def test_frames_of_every_shape_are_the_latest_ones_of_their_episode(shape, order) -> None:
    rng = np.random.default_rng(0)
    stacks = StackedObservations(3, 4, spaces.Box(0, 255, shape, np.uint8), order)
    axis = 0 if order == "first" else -1
    seen = [[frame] for frame in rng.integers(0, 256, (3, *shape), dtype=np.uint8)]
    found = stacks.reset(np.array([frames[0] for frames in seen]))
    for _ in range(30):
        np.testing.assert_array_equal(found, [stacked(frames, axis) for frames in seen])
        dones, infos = rng.random(3) < 0.3, [{} for _ in range(3)]
        frames = rng.integers(0, 256, (3, *shape), dtype=np.uint8)
        last = rng.integers(0, 256, (3, *shape), dtype=np.uint8)
        ends = {i: stacked([*seen[i], last[i]], axis) for i in np.flatnonzero(dones)}
        for i in ends:
            infos[i] = {"terminal_observation": last[i]}
        seen = [[frames[i]] if i in ends else [*seen[i], frames[i]] for i in range(3)]
        found, infos = stacks.update(frames, dones, infos)
        for i, end in ends.items():
            np.testing.assert_array_equal(infos[i]["terminal_observation"], end)


def stacked(frames: list[Any], axis: int) -> Any:
    """The latest four frames on that axis, after zeros where there are fewer."""
    zeros = [np.zeros_like(frames[0])] * 4
    return np.concatenate([*zeros, *frames][-4:], axis=axis)
