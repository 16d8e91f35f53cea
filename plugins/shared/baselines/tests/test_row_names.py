"""Rows of metrics have the names that Stable Baselines gives them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from rlk_baselines import DDPG, DQN, HER, PPO2, SAC, TD3, logger
from rlk_baselines.common.bit_flipping_env import BitFlippingEnv

OF_SAC = {
    *("episodes", "mean 100 episode reward", "ep_rewmean", "eplenmean", "n_updates", "current_lr"),
    *("fps", "time_elapsed", "total timesteps"),
}
OF_DDPG = {
    *("rollout/return_history", "rollout/episode_steps", "total/episodes", "total/steps"),
    *("total/duration", "total/steps_per_second", "train/loss_actor", "train/loss_critic"),
    *("ret_rms_mean", "ret_rms_std", "param_noise_stddev", "train/param_noise_distance"),
}


def last_row(model: Any, folder: Path, timesteps: int) -> Any:
    logger.configure(str(folder), ["csv"])
    try:
        model.learn(timesteps)
    finally:
        logger.reset()
    return logger.read_csv(folder / "progress.csv").iloc[-1]


def test_rows_of_dqn_have_its_names(tmp_path: Path) -> None:
    explores = {"exploration_fraction": 1.0, "exploration_final_eps": 0.3}
    model = DQN("MlpPolicy", "CartPole-v1", seed=0, **explores)
    row = last_row(model, tmp_path, 40)
    assert row["steps"] == 40 and row["% time spent exploring"] == 30
    assert {"episodes", "mean 100 episode reward"} <= set(row.index)
    assert not {"total_timesteps", "ep_reward_mean", "exploration_rate"} & set(row.index)


@pytest.mark.parametrize("kind", [SAC, TD3])
def test_rows_of_sac_and_td3_have_their_names(kind: Any, tmp_path: Path) -> None:
    model = kind("MlpPolicy", "Pendulum-v1", learning_rate=0.002, learning_starts=198)
    row = last_row(model, tmp_path, 200)
    assert set(row.index) >= OF_SAC
    assert row["mean 100 episode reward"] == row["ep_rewmean"] < 0
    assert (row["total timesteps"], row["eplenmean"]) == (200, 200)
    assert row["current_lr"] == pytest.approx(0.002)


def test_rows_of_ddpg_have_its_names(tmp_path: Path) -> None:
    keywords: Any = {"normalize_returns": True, "param_noise": "param-noise"}
    model = DDPG("MlpPolicy", "Pendulum-v1", nb_train_steps=2, **keywords)
    row = last_row(model, tmp_path, 200)
    assert set(row.index) >= OF_DDPG
    assert (row["total/steps"], row["total/episodes"]) == (200, 1)


def test_rows_of_her_have_the_names_of_the_model_that_learns(tmp_path: Path) -> None:
    model = HER("MlpPolicy", BitFlippingEnv(3, max_steps=3), DQN)
    row = last_row(model, tmp_path, 30)
    assert {"steps", "mean 100 episode reward", "success rate"} <= set(row.index)


def test_rows_of_ppo2_have_its_names(tmp_path: Path) -> None:
    row = last_row(PPO2("MlpPolicy", "CartPole-v1"), tmp_path, 128)
    assert {"total_timesteps", "ep_reward_mean", "ep_len_mean"} <= set(row.index)
