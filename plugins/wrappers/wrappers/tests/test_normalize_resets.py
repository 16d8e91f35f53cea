"""What `normalize` does when only some of the environments are reset."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from rlk.registry.hooks import Hooks
from rlk_wrappers.config import NormalizeConfig
from rlk_wrappers.normalize import NAME, normalize

ACTIONS = np.zeros((2, 2), np.float32)


def reset_only(env: Any, index: int) -> None:
    env.reset(options={"reset_mask": np.arange(2) == index})


def test_the_returns_of_the_others_go_on(counting: Any) -> None:
    hooks = Hooks()
    env = normalize(counting(length=9), NormalizeConfig(gamma=1.0), hooks=hooks)
    env.reset()
    for _ in range(3):
        env.step(ACTIONS)
    reset_only(env, 0)
    env.step(ACTIONS)
    mean, _, count = hooks.get(NAME)._returns.moments()
    # 1, 2 and 3 of both, then 1 of the first and 4 of the second.
    assert (count, mean.item()) == (8, pytest.approx(17 / 8))


def test_the_first_observations_of_several_resets_before_a_step_all_count(counting: Any) -> None:
    hooks = Hooks()
    env = normalize(counting(length=9), hooks=hooks)
    env.reset()
    env.step(ACTIONS)
    reset_only(env, 0)
    reset_only(env, 1)
    env.step(ACTIONS)
    mean, _, count = hooks.get(NAME)._observation.moments()
    # 10 and 11 of both, and then 20 and 21 of both.
    assert (count, float(mean[0])) == (8, pytest.approx(15.5))
