"""What the seed of a model determines in addition to its own random streams."""

from __future__ import annotations

import random
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import gymnasium
import numpy as np
import pytest
import torch

import rlk_sb3
from rlk_baselines import A2C, DQN
from rlk_baselines.common.callbacks import BaseCallback
from rlk_baselines.common.misc_util import set_global_seeds
from rlk_baselines.common.vec_env import DummyVecEnv, VecNormalize
from rlk_baselines.gym import make


def drawn() -> list[float]:
    """A number from each of the global generators."""
    return [random.random(), float(np.random.rand()), float(torch.rand(1))]


@pytest.mark.parametrize("cls", [A2C, DQN, rlk_sb3.A2C])
def test_a_models_seed_is_that_of_the_global_generators(cls: Any, tmp_path: Path) -> None:
    model = cls("MlpPolicy", "CartPole-v1", seed=3)
    first = drawn()
    cls("MlpPolicy", "CartPole-v1")
    assert drawn() != first
    cls("MlpPolicy", "CartPole-v1", seed=3)
    assert drawn() == first
    model.save(tmp_path / "model")
    cls.load(tmp_path / "model")
    assert drawn() == first
    model.set_random_seed(4)
    other = drawn()
    model.set_random_seed(3)
    assert drawn() == first != other
    model.set_random_seed(None)
    assert drawn() != first


@pytest.mark.parametrize("seed", ["a", -1])
def test_what_is_no_seed_is_refused_and_the_model_can_be_set_up_again(seed: Any) -> None:
    model = A2C("MlpPolicy", "CartPole-v1", seed=3)
    with pytest.raises(ValueError, match=r"set_random_seed: '?seed'? must be"):
        model.set_random_seed(seed)
    assert model.seed == 3
    model.setup_model()


def test_every_rank_has_global_generators_of_its_own() -> None:
    model = A2C("MlpPolicy", "CartPole-v1", seed=3)
    first = drawn()
    model.agent.run.communicator = SimpleNamespace(rank=1)
    model.set_random_seed(3)
    assert drawn() != first
    model.set_random_seed(2**32 - 1)  # with the 10,000 of the rank, too many for numpy
    own = drawn()
    set_global_seeds(9_999)
    assert drawn() == own


def test_environments_that_draw_from_numpy_itself_do_so_again(counting) -> None:
    class Drawing(counting):
        def step(self, action: Any) -> Any:
            observation, _, done, info = super().step(action)
            return observation, float(np.random.rand()), done, info

    def returns() -> list[float]:
        model = A2C("MlpPolicy", Drawing(), seed=0, n_cpu_tf_sess=1).learn(20)
        return [one["r"] for one in model.ep_info_buf]

    first = returns()
    np.random.seed(7)
    assert returns() == first


def test_a_models_seed_is_that_of_the_environments_it_is_given() -> None:
    class Drawing(gymnasium.Env):
        observation_space = gymnasium.spaces.Box(0.0, 1.0, (1,), np.float32)
        action_space = gymnasium.spaces.Discrete(2)

        def reset(self, *, seed: int | None = None, options: Any = None) -> Any:
            super().reset(seed=seed)
            seeds.append(seed)
            return self.np_random.random(1, np.float32), {}

        def step(self, action: Any) -> Any:
            return self.np_random.random(1, np.float32), self.np_random.random(), False, False, {}

    class OldDrawing(Drawing):
        """With the interface of gym, and without its method `seed`."""

        def reset(self) -> Any:
            return super().reset()[0]

        def step(self, action: Any) -> Any:
            observation, reward, *_ = super().step(action)
            return observation, reward, False, {}

    for cls in (Drawing, OldDrawing):
        parameters = []
        for _ in range(2):
            seeds: list[int | None] = []
            model = A2C("MlpPolicy", DummyVecEnv([cls]), seed=0, n_cpu_tf_sess=1).learn(20)
            parameters.append(model.get_parameters())
            assert cls is OldDrawing or seeds[0] is not None
        for key, values in parameters[0].items():
            assert np.array_equal(values, parameters[1][key]), key


@pytest.mark.parametrize("wrap", [lambda env: env, VecNormalize])
def test_a_seed_that_a_callback_sets_leaves_episodes_alone(wrap: Any, counting) -> None:
    class Seeding(BaseCallback):
        def _on_step(self) -> bool:
            if self.n_calls == 7:
                self.model.set_random_seed(5)
            if self.n_calls == 9:
                self.model.seed = 6
            return True

    env = DummyVecEnv([lambda: counting(length=100)])
    model = A2C("MlpPolicy", wrap(env)).learn(20, callback=Seeding())
    assert env.get_attr("steps") == [20] and model.seed == model.agent.run.streams.seed == 6
    env.reset()
    model.learn(5)
    assert env.get_attr("seeds")[0][-1] is not None


def test_a_seed_of_none_draws_one() -> None:
    env = DummyVecEnv([lambda: make("CartPole-v1")] * 2)
    env.seed(5)
    first = env.reset()
    seeds = env.seed(None)
    assert seeds[1] == seeds[0] + 1 and seeds != env.seed(None)
    assert not np.array_equal(env.reset(), first)
    env.seed(5)
    assert np.array_equal(env.reset(), first)
