"""Run by `test_ranks.py` on two ranks under mpirun: trains models and reports from each rank."""

from __future__ import annotations

import hashlib
import sys
from typing import Any

from mpi4py import MPI

from rlk_baselines import DDPG, DQN, GAIL, HER, PPO1, PPO2, TRPO
from rlk_baselines.common.bit_flipping_env import BitFlippingEnv
from rlk_baselines.common.callbacks import (
    CheckpointCallback,
    EvalCallback,
    StopTrainingOnRewardThreshold,
)
from rlk_baselines.common.evaluation import evaluate_policy

RANK = MPI.COMM_WORLD.Get_rank()


def parameters(model: Any) -> str:
    """A hash of all of a model's parameters."""
    every = b"".join(value.tobytes() for value in model.get_parameters().values())
    return hashlib.sha256(every).hexdigest()[:12]


def tell(text: str) -> None:
    """Print by a single write, because the other rank prints, too."""
    sys.stdout.write(f"rank {RANK}: {text}.\n")
    sys.stdout.flush()


def main() -> None:
    together = PPO1("MlpPolicy", "CartPole-v1", 0.99, 64, verbose=1, tensorboard_log="events")
    replay = DDPG("MlpPolicy", "Pendulum-v1", nb_rollout_steps=50, nb_train_steps=2, batch_size=16)
    alone = PPO2("MlpPolicy", "CartPole-v1", n_steps=64)
    for model in (together, replay, alone):
        model.learn(256)
        tell(f"{type(model).__name__} {parameters(model)}")
    if RANK == 0:
        together.save("model")  # by one rank alone, as programs do
        alone = PPO1.load("model", env="CartPole-v1")
        tell(f"evaluated {len(evaluate_policy(alone, alone.get_env(), 2)) == 2}")
    MPI.COMM_WORLD.Barrier()
    loaded = PPO1.load("model", env="CartPole-v1")
    loaded.learn(64, reset_num_timesteps=False)
    tell(f"loaded {parameters(loaded)}")
    tell(f"continued {loaded.num_timesteps}")
    together.learn(128, reset_num_timesteps=False)
    tell(f"timesteps {together.num_timesteps}")
    watched = TRPO("MlpPolicy", "CartPole-v1", timesteps_per_batch=64)
    at_once = StopTrainingOnRewardThreshold(1.0)
    evaluation = EvalCallback("CartPole-v1", at_once, 1, eval_freq=100, log_path="evaluated")
    saving = CheckpointCallback(50, "saved", f"by_{RANK}", verbose=2)
    watched.learn(10_000, callback=[evaluation, saving])
    tell(f"evaluations {len(evaluation.evaluations_results)}")
    tell(f"stopped {watched.num_timesteps}")
    goals = BitFlippingEnv(4, continuous=True)
    assert TRPO.trains_over_mpi and GAIL.trains_over_mpi
    assert HER("MlpPolicy", goals, DDPG).trains_over_mpi
    assert not HER("MlpPolicy", BitFlippingEnv(4), DQN).trains_over_mpi


if __name__ == "__main__":
    main()
