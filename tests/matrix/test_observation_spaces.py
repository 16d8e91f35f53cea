"""Observations of every space that fits into arrays, with every family of algorithms.

Every space meets every family, and every family both backends.
"""

from __future__ import annotations

from typing import Any

import gymnasium as gym
import numpy as np
import pytest
from gymnasium import spaces

import rlk

PLACE = spaces.Box(-2.0, 2.0, (3,), np.float32)
IMAGE = spaces.Box(0, 255, (36, 36, 1), np.uint8)
DTYPES = ("float16", "float64", "int8", "int16", "int32", "int64", "uint16", "uint64", "bool")
BOXES = {name: lambda name=name: spaces.Box(0, 1, (3,), np.dtype(name)) for name in DTYPES}
SPACES = {
    "nested dict": lambda: spaces.Dict(
        arm=spaces.Dict(angle=PLACE, grips=spaces.MultiBinary(2)), room=spaces.Discrete(4)
    ),
    "tuple": lambda: spaces.Tuple((PLACE, spaces.Discrete(3, start=5))),
    "tuple in a dict in a tuple": lambda: spaces.Tuple(
        (spaces.Dict(both=spaces.Tuple((PLACE, IMAGE))), spaces.MultiDiscrete([2, 3]))
    ),
    "multi-binary of two axes": lambda: spaces.MultiBinary((2, 3)),
    "multi-discrete from elsewhere": lambda: spaces.MultiDiscrete([3, 4], start=[-2, 7]),
    "multi-discrete of two axes": lambda: spaces.MultiDiscrete([[3, 4], [2, 2]]),
    "discrete from elsewhere": lambda: spaces.Discrete(4, start=-1),
    "two axes": lambda: spaces.Box(-1.0, 1.0, (2, 3), np.float32),
    "a key of every dtype": lambda: spaces.Dict({name: box() for name, box in BOXES.items()}),
    **BOXES,
}
REPLAY = {"learning_starts": 8, "batch_size": 4, "train_freq": 4, "buffer_size": 64}
FAMILIES: dict[str, dict[str, Any]] = {
    "ppo2": {"n_steps": 4, "nminibatches": 1, "noptepochs": 1},
    "acer": {"n_steps": 4, "replay_start": 4},
    "dqn": REPLAY,
    "sac": REPLAY,
    "recurrent": {"n_steps": 4, "nminibatches": 1, "noptepochs": 1},
}
ALGORITHMS = {"recurrent": "ppo2"}
CONTINUOUS = ("sac",)
MULTI = {"policy": "multi-input", "policy.layers": [8]}
LSTM = {"policy.n_lstm": 4, "policy.layers": [8]}
BACKENDS: tuple[dict[str, Any], ...] = (
    {"vec_env": "dummy"},
    {"vec_env": "subprocess", "vec_env.n_workers": 1, "vec_env.start_method": "fork"},
)


class World(gym.Env[Any, Any]):
    """Observes samples of its space; every fourth step is the last of an episode."""

    def __init__(self, name: str, continuous: bool) -> None:
        self.observation_space = SPACES[name]()
        box = spaces.Box(-1.0, 1.0, (1,), np.float32)
        self.action_space = box if continuous else spaces.Discrete(2)

    def reset(self, *, seed: int | None = None, options: Any = None) -> tuple[Any, dict[str, Any]]:
        super().reset(seed=seed)
        if seed is not None:
            self.observation_space.seed(seed)
        self.steps = 0
        return self.observation_space.sample(), {}

    def step(self, action: Any) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        self.steps += 1
        return self.observation_space.sample(), 1.0, False, self.steps == 4, {}


def policy_for(name: str, family: str) -> dict[str, Any]:
    """The policy that takes such observations, if it is not the default."""
    has_keys = isinstance(SPACES[name](), spaces.Dict | spaces.Tuple)
    size = {"policy.features": 8} if name == "tuple in a dict in a tuple" else {}  # it has images
    if family == "recurrent":
        return {**LSTM, "policy": "multi-input-lstm" if has_keys else "lstm", **size}
    return {**MULTI, **size} if has_keys else {}


def pairs():
    """Every space with every family; of a dtype alone, all but one family are for matrix_full."""
    for i, name in enumerate(SPACES):
        for k, family in enumerate(FAMILIES):
            is_extra = name in BOXES and i % len(FAMILIES) != k
            yield pytest.param(name, family, marks=[pytest.mark.matrix_full] * is_extra)


@pytest.mark.parametrize(("name", "family"), list(pairs()))
def test_every_space_trains_with_every_family(name: str, family: str) -> None:
    turn = [*SPACES].index(name) // 2 + [*FAMILIES].index(family)
    with rlk.make(
        ALGORITHMS.get(family, family),
        env=lambda: World(name, family in CONTINUOUS),
        n_envs=2,
        seed=1,
        n_threads=1,
        **policy_for(name, family),
        **FAMILIES[family],
        **BACKENDS[turn % 2],
    ) as agent:
        agent.learn(24)
        assert agent.run.clock.updates > 0
        world = World(name, family in CONTINUOUS)
        observation, _ = world.reset(seed=3)
        action, _ = agent.predict(observation)
        assert world.action_space.contains(action if np.ndim(action) else int(action))


def test_an_agent_of_nested_observations_is_saved_loaded_evaluated_and_predicts_the_same(tmp_path):
    from rlk_evaluation.evaluate import evaluate_agent

    def env():
        return World("tuple in a dict in a tuple", continuous=False)

    observation, _ = env().reset(seed=3)
    batch = (
        {"both": tuple(np.stack([part] * 5) for part in observation[0]["both"])},
        np.stack([observation[1]] * 5),
    )
    with rlk.make("ppo2", env=env, seed=1, n_threads=1, **MULTI, **FAMILIES["ppo2"]) as agent:
        agent.learn(8)
        assert set(agent.plan.observation_space.spaces) == {"0.both.0", "0.both.1", "1"}
        path = agent.save(tmp_path / "model")
        assert evaluate_agent(agent, 2).lengths == [4, 4]
        expected, _ = agent.predict(observation, deterministic=True)
        several, _ = agent.predict(batch, deterministic=True)
        assert several.tolist() == [expected] * 5
    with rlk.load(path, env=env) as again:
        assert again.predict(observation, deterministic=True)[0] == expected
