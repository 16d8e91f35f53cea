"""Trains PPO1 on MuJoCo's humanoid: `mpirun -n 16 python -m rlk_baselines.ppo1.run_humanoid`.

Its settings are those of the same script in OpenAI's Baselines, including rewards times 0.1.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from rlk_baselines import gym, scripts
from rlk_baselines.common.cmd_util import make_mujoco_env, mujoco_arg_parser
from rlk_baselines.ppo1 import PPO1

SETTINGS: dict[str, Any] = {
    "timesteps_per_actorbatch": 2_048,
    "clip_param": 0.1,
    "entcoeff": 0.0,
    "optim_epochs": 10,
    "optim_stepsize": 1e-4,
    "optim_batchsize": 64,
    "gamma": 0.99,
    "lam": 0.95,
    "schedule": "constant",
}


class TenthOfReward(gym.RewardWrapper):
    """Multiplies rewards by 0.1."""

    def reward(self, reward: float) -> float:
        return 0.1 * reward


def main(argv: Sequence[str] | None = None) -> Any:
    """Train a model and save it at `--model-path`; with `--play`, show the model saved there."""
    parser = mujoco_arg_parser()
    parser.add_argument("--model-path", default="humanoid_policy", help="the file of the model")
    parser.set_defaults(env="Humanoid-v2", num_timesteps=20_000_000)
    options = scripts.begin(parser, argv)
    env = TenthOfReward(make_mujoco_env(options.env, options.seed))
    if options.play:
        scripts.play(PPO1.load(options.model_path, env=env))
    model = PPO1("MlpPolicy", env, verbose=1, seed=options.seed, **SETTINGS)
    model.learn(options.num_timesteps)
    if scripts.is_first_rank():
        model.save(options.model_path)
    return model


if __name__ == "__main__":
    main()
