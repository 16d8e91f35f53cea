"""With `policy.init=uniform`, the output layers of every policy begin as PyTorch's layers do."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import gymnasium as gym
import numpy as np
import pytest

from rlk.agent import Agent
from rlk_custom_policies import FeedForwardPolicy, LstmPolicy

NUMBERS = gym.spaces.Box(-1.0, 1.0, (3,), np.float32)
IMAGE = gym.spaces.Box(0, 255, (36, 36, 1), np.uint8)


class Still(gym.Env[Any, Any]):
    """Nothing happens."""

    action_space = gym.spaces.Box(-1.0, 1.0, (2,), np.float32)

    def __init__(self, space: gym.Space[Any]) -> None:
        self.observation_space = space

    def reset(self, *, seed: int | None = None, options: Any = None) -> tuple[Any, dict[str, Any]]:
        super().reset(seed=seed)
        return self.observation_space.sample(), {}

    def step(self, action: Any) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        return self.observation_space.sample(), 0.0, False, False, {}


class Forward(FeedForwardPolicy):
    def __init__(self, config: Any = None) -> None:
        super().__init__(config, feature_extraction="mlp")


class Recurrent(LstmPolicy):
    def __init__(self, config: Any = None) -> None:
        super().__init__(config, feature_extraction="mlp")


@pytest.mark.parametrize("init", ["uniform", "orthogonal"])
@pytest.mark.parametrize(
    ("policy", "space"),
    [
        ("mlp", NUMBERS),
        ("cnn", IMAGE),
        ("multi-input", gym.spaces.Dict({"a": NUMBERS})),
        ("lstm", NUMBERS),
        (Forward, NUMBERS),
        (Recurrent, NUMBERS),
    ],
)
def test_output_layers_begin_as_init_says(
    rlk_make: Callable[..., Agent], policy: Any, space: gym.Space[Any], init: str
) -> None:
    agent = rlk_make(
        "a2c", env=lambda: Still(space), policy=policy, seed=0, **{"policy.init": init}
    )
    value, mean = agent.run.policy.vf.out, agent.run.policy.pi.out.mean
    assert bool(value.bias.any()) is bool(mean.bias.any()) is (init == "uniform")
    assert (mean.weight.abs().max().item() > 0.02) is (init == "uniform")
