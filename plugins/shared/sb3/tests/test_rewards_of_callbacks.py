"""Rewards that callbacks change in place."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from rlk import Patch, hookimpl
from rlk.errors import NotFinite
from rlk_baselines.common.callbacks import BaseCallback
from rlk_baselines.common.vec_env import DummyVecEnv, VecNormalize
from rlk_sb3 import A2C, DQN, PPO
from rlk_testing.environments import Walk


class Shaped(BaseCallback):
    """Writes rewards of its own into those of every step, and keeps what a collection stored."""

    stored: Any = None

    def _on_step(self) -> bool:
        self.locals["rewards"][:] = [5.0, self.num_timesteps]
        return self.num_timesteps < 16

    def _on_rollout_end(self) -> None:
        if not isinstance(self.model, DQN):
            self.stored = self.model.rollout_buffer.rewards.copy()


@pytest.mark.parametrize("cls", [PPO, A2C])
def test_rewards_that_a_callback_changes_are_learnt_from(counting: Any, cls: Any) -> None:
    small = {} if cls is A2C else {"batch_size": 8}
    shaped, normalized = Shaped(), VecNormalize(DummyVecEnv([counting, counting]))
    for env in (DummyVecEnv([counting, counting]), normalized):
        cls("MlpPolicy", env, n_steps=4, **small).learn(8, callback=shaped)
        assert shaped.stored.tolist() == [[5, 2], [5, 4], [5, 6], [5, 8]]


def test_rewards_that_a_callback_changes_are_in_the_replay(counting: Any) -> None:
    env = DummyVecEnv([counting, counting])
    model = DQN("MlpPolicy", env, buffer_size=50).learn(50, callback=Shaped())
    # The step at which it stopped is stored, too.
    assert model.replay_buffer.rewards[:8].tolist() == [[5, 2 * i] for i in range(1, 9)]
    model.learn(2, reset_num_timesteps=False)
    assert model.replay_buffer.rewards[8].tolist() == [1, 1]


class Bonus:
    """Adds 10 to the rewards of every step before it is stored."""

    @hookimpl
    def rlk_wrap_add(self) -> Any:
        return lambda add: lambda step: add(step._replace(reward=step.reward + 10.0))


class ProposesABonus:
    """A plugin that puts in another one, which joins the run after the model's own."""

    @hookimpl
    def rlk_configure(self) -> Patch:
        return Patch({"plugins": [Bonus()]})


class WithABonus(DQN):
    def _plugins(self) -> list[Any]:
        return [*super()._plugins(), ProposesABonus()]


def test_a_plugin_that_joins_later_adds_to_rewards_that_a_callback_changes(counting: Any) -> None:
    env = DummyVecEnv([counting, counting])
    model = WithABonus("MlpPolicy", env, buffer_size=50).learn(4, callback=Shaped())
    assert model.replay_buffer.rewards[:2].tolist() == [[15, 12], [15, 14]]


def test_a_non_finite_reward_that_a_callback_leaves_is_blamed_on_it_and_not_stored() -> None:
    class Spoils(BaseCallback):
        def _on_step(self) -> bool:
            if self.num_timesteps == 3:
                self.locals["rewards"][:] = np.nan
            return True

    model = DQN("MlpPolicy", DummyVecEnv([Walk]))
    with pytest.raises(NotFinite, match=r"callback Spoils left rewards of \[nan\] at timestep 3"):
        model.learn(20, callback=Spoils())
    assert model.replay_buffer.size() == 2
