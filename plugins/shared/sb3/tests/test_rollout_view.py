"""`rollout_buffer`: what callbacks of Stable-Baselines3's on-policy models read of a collection."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from gymnasium import spaces

from rlk.errors import RlkError
from rlk_sb3 import A2C, PPO
from rlk_sb3.common.callbacks import BaseCallback
from rlk_sb3.common.env_util import make_vec_env
from rlk_sb3_contrib import MaskablePPO
from rlk_toy_environments.masked_identity import MaskedIdentityEnv


class AtTheEnd(BaseCallback):
    """Keeps what `look` finds in the collection, once it is complete."""

    def __init__(self, look: Any) -> None:
        super().__init__()
        self.look, self.found = look, []

    def _on_step(self) -> bool:
        assert self.locals["rollout_buffer"].buffer_size == self.model.n_steps
        return True

    def _on_rollout_end(self) -> None:
        self.found.append(self.look(self.model.rollout_buffer))


@pytest.mark.parametrize("cls", [A2C, PPO])
def test_a_complete_collection_is_shown(cls: Any) -> None:
    def look(rollout: Any) -> Any:
        assert (rollout.full, rollout.size(), rollout.n_envs) == (True, 8, 2)
        assert rollout.observations.shape == (8, 2, 3) and rollout.actions.shape == (8, 2, 1)
        assert np.array_equal(rollout.returns, rollout.advantages + rollout.values)
        # The steps of two truncated or unfinished episodes: A = r + gamma V' - V + gamma lam A'.
        delta = rollout.rewards[:-1] + 0.5 * rollout.values[1:] - rollout.values[:-1]
        expected = delta + 0.5 * 0.9 * rollout.advantages[1:]
        np.testing.assert_allclose(rollout.advantages[:-1], expected, atol=1e-4)
        policy = model.policy
        flat = rollout.observations.reshape(16, 3), rollout.actions.reshape(16, 1)
        log_prob = policy.evaluate_actions(*flat)[1].detach().numpy()
        np.testing.assert_allclose(rollout.log_probs.reshape(16), log_prob, atol=1e-5)
        return rollout.rewards.copy()

    model = cls("MlpPolicy", make_vec_env("Pendulum-v1", 2), n_steps=8, gamma=0.5, gae_lambda=0.9)
    if cls is PPO:
        model.batch_size = 8
    seen = AtTheEnd(look)
    model.learn(32, callback=seen)
    assert len(seen.found) == 2 and not np.array_equal(*seen.found)


def test_batches_have_every_step_once() -> None:
    def look(rollout: Any) -> Any:
        batches = [*rollout.get(6)]
        assert [len(one.observations) for one in batches] == [6, 6, 4]
        assert len(next(rollout.get()).returns) == 16
        for name, there in (("old_values", "values"), ("returns", "returns")):
            given = np.concatenate([getattr(one, name) for one in batches])
            assert np.array_equal(np.sort(given), np.sort(getattr(rollout, there).reshape(-1)))
        (first, *_) = batches
        at = np.argmin(np.abs(rollout.values - float(first.old_values[0])))
        assert first.observations[0].tolist() == rollout.observations.reshape(16, 4)[at].tolist()
        assert first.actions[0].tolist() == rollout.actions.reshape(16, 1)[at].tolist()

    PPO("MlpPolicy", "CartPole-v1", n_steps=16, batch_size=16).learn(16, callback=AtTheEnd(look))


def test_a_callback_changes_the_rewards_that_are_learnt_from() -> None:
    def look(rollout: Any) -> Any:
        before = rollout.advantages
        rollout.rewards[...] += 10
        assert (rollout.advantages > before + 9).all()
        with pytest.raises(ValueError, match="read-only"):
            before += 1.0
        return model.agent.run.storage.latest().reward.min()

    model = PPO("MlpPolicy", "CartPole-v1", n_steps=16, batch_size=16)
    seen = AtTheEnd(look)
    model.learn(16, callback=seen)
    assert seen.found == [11.0]


def test_observations_of_masked_actions_have_their_masks() -> None:
    def look(rollout: Any) -> Any:
        (batch,) = rollout.get()
        return sorted(batch.observations), rollout.observations["action_mask"].shape

    env = MaskedIdentityEnv(space=spaces.Discrete(5), ep_length=8)
    seen = AtTheEnd(look)
    MaskablePPO("MlpPolicy", env, n_steps=16, batch_size=16).learn(16, callback=seen)
    assert seen.found == [(["action_mask", "observation"], (16, 1, 5))]


def test_what_is_not_there_is_reported() -> None:
    rollout: Any = PPO("MlpPolicy", "CartPole-v1", n_steps=16, batch_size=16).rollout_buffer
    assert (rollout.full, rollout.size()) == (False, 0)
    with pytest.raises(RlkError, match="the collection is not complete"):
        _ = rollout.rewards
    with pytest.raises(AttributeError, match=r"no attribute 'add': .*get\(batch_size\)"):
        rollout.add()
