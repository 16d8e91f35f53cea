"""`SimpleMultiObsEnv`, which Stable-Baselines3's documentation uses for Dict observations."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from rlk_sb3 import PPO
from rlk_sb3.common.env_checker import check_env
from rlk_sb3.common.envs import SimpleMultiObsEnv
from rlk_sb3.common.vec_env import DummyVecEnv

LEFT, DOWN, RIGHT, UP = range(4)


def test_the_way_around_the_walls_ends_at_the_last_cell() -> None:
    env = SimpleMultiObsEnv(random_start=False)
    env.reset()
    cells, rewards = [env.state], []
    for action in (LEFT, UP, RIGHT, DOWN, LEFT, DOWN, DOWN, DOWN, RIGHT, RIGHT, UP, RIGHT):
        *_, reward, terminated, truncated, info = env.step(action)
        cells.append(env.state)
        rewards.append(reward)
        assert terminated == info["got_to_end"] == (env.state == 15) and not truncated
    assert cells == [0, 0, 0, 1, 1, 0, 4, 8, 12, 13, 14, 14, 15]
    assert rewards == [-0.1] * 11 + [1.0]


def test_cells_share_vectors_and_images() -> None:
    env = SimpleMultiObsEnv(random_start=False, channel_last=False)
    first, _ = env.reset()
    seen = {0: first}
    for action in (RIGHT, RIGHT, RIGHT, DOWN):
        found = env.step(action)[0]
        seen[env.state] = found
    assert first["img"].shape == (1, 64, 64) and first["vec"].shape == (5,)
    np.testing.assert_array_equal(seen[3]["vec"], first["vec"])
    np.testing.assert_array_equal(seen[7]["img"], seen[3]["img"])
    assert (seen[7]["vec"] != first["vec"]).any() and (seen[1]["img"] != first["img"]).any()


def test_episodes_start_on_the_border_and_are_truncated() -> None:
    env = SimpleMultiObsEnv(discrete_actions=False)
    starts = set()
    for seed in range(100):
        env.reset(seed=seed)
        starts.add(env.state)
    assert starts == {0, 1, 2, 3, 4, 7, 8, 11, 12, 13, 14}
    env.reset(seed=0)
    env.state = 0
    results = [env.step(np.array([0.1, 0.0, 0.0, 0.9]))[2:4] for _ in range(101)]  # up
    assert results == [(False, False)] * 100 + [(False, True)]


@pytest.mark.parametrize("discrete", [True, False])
def test_a_model_learns_from_it(discrete: bool) -> None:
    check_env(SimpleMultiObsEnv(discrete_actions=discrete), warn=False)
    keywords: dict[str, Any] = {"n_steps": 8, "batch_size": 8, "n_epochs": 1}
    vector = DummyVecEnv([lambda: SimpleMultiObsEnv(discrete_actions=discrete)])
    model = PPO("MultiInputPolicy", vector, **keywords).learn(8)
    assert len(model.predict(vector.reset())[0]) == 1
