"""A model that is quick to make and train."""

from __future__ import annotations

from typing import Any

from rlk_baselines import PPO2


def small_ppo(env: Any = "CartPole-v1", policy: Any = "MlpPolicy", **keywords: Any) -> PPO2:
    return PPO2(policy, env, n_steps=16, nminibatches=1, seed=0, n_cpu_tf_sess=1, **keywords)
