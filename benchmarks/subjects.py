"""One timed training by one library, in a process of its own.

`python subjects.py LIBRARY CASE` prints JSON.

Both libraries get the same hyperparameters, the same environment and one thread. A first call of
`learn` warms everything up and fills the replay; the second is timed.
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable
from typing import Any

ENV = "CartPole-v1"
#: case -> (timesteps to warm up, timesteps that are timed)
LENGTHS = {
    "ppo2": (2_048, 40_960),
    "dqn": (1_500, 5_000),
    "recurrent-ppo2": (1_024, 4_096),
    "recurrent-ppo2-shared": (1_024, 4_096),
}
PPO = {"n_envs": 8, "n_steps": 128, "epochs": 4, "minibatch": 256, "lr": 3e-4}
DQN = {"batch": 32, "lr": 5e-4, "buffer": 50_000, "starts": 1_000, "target": 500, "eps": 0.05}
RECURRENT = {"n_envs": 8, "n_steps": 128, "epochs": 10, "minibatch": 128, "lr": 3e-4, "units": 256}

Trained = tuple[Callable[[int], Any], Callable[[], int]]


def rlk_ppo2() -> Trained:
    import rlk

    agent = rlk.make(
        "ppo2",
        env=ENV,
        seed=0,
        n_envs=PPO["n_envs"],
        n_steps=PPO["n_steps"],
        noptepochs=PPO["epochs"],
        nminibatches=PPO["n_envs"] * PPO["n_steps"] // PPO["minibatch"],
        learning_rate=PPO["lr"],
        ent_coef=0.0,
        cliprange_vf=-1,
        policy={"layers": [64, 64], "act_fun": "tanh"},
    )
    return lambda n: agent.learn(n, reset_num_timesteps=False), lambda: agent.run.clock.updates


def rlk_dqn() -> Trained:
    import rlk

    agent = rlk.make(
        "dqn",
        env=ENV,
        seed=0,
        batch_size=DQN["batch"],
        learning_rate=DQN["lr"],
        buffer_size=DQN["buffer"],
        learning_starts=DQN["starts"],
        target_network_update_freq=DQN["target"],
        train_freq=1,
        exploration_initial_eps=DQN["eps"],
        exploration_final_eps=DQN["eps"],
        double_q=False,
        dueling=False,
        policy={"layers": [64, 64]},
    )
    return lambda n: agent.learn(n, reset_num_timesteps=False), lambda: agent.run.clock.updates


def rlk_recurrent_ppo2() -> Trained:
    """One LSTM behind the observation that both heads share, and 64x64 for each head."""
    import rlk

    agent = rlk.make(
        "ppo2",
        env=ENV,
        seed=0,
        n_envs=RECURRENT["n_envs"],
        n_steps=RECURRENT["n_steps"],
        noptepochs=RECURRENT["epochs"],
        nminibatches=RECURRENT["n_envs"] * RECURRENT["n_steps"] // RECURRENT["minibatch"],
        learning_rate=RECURRENT["lr"],
        ent_coef=0.0,
        cliprange_vf=-1,
        policy="lstm",
        lstm={
            "n_lstm": RECURRENT["units"],
            "net_arch": ["lstm", {"pi": [64, 64], "vf": [64, 64]}],
        },
    )
    return lambda n: agent.learn(n, reset_num_timesteps=False), lambda: agent.run.clock.updates


def sb3_recurrent_ppo2(**policy: Any) -> Trained:
    """As it comes: one LSTM for the policy and another for the value."""
    import torch
    from sb3_contrib import RecurrentPPO
    from stable_baselines3.common.env_util import make_vec_env

    torch.set_num_threads(1)
    model = RecurrentPPO(
        "MlpLstmPolicy",
        make_vec_env(ENV, n_envs=RECURRENT["n_envs"], seed=0),
        seed=0,
        n_steps=RECURRENT["n_steps"],
        n_epochs=RECURRENT["epochs"],
        batch_size=RECURRENT["minibatch"],
        learning_rate=RECURRENT["lr"],
        policy_kwargs={"lstm_hidden_size": RECURRENT["units"], **policy},
        device="cpu",
    )
    minibatches = RECURRENT["n_envs"] * RECURRENT["n_steps"] // RECURRENT["minibatch"]
    return (
        lambda n: model.learn(n, reset_num_timesteps=False),
        lambda: model._n_updates * minibatches,  # it counts epochs
    )


def sb3_recurrent_ppo2_shared() -> Trained:
    """The same network as ours: one LSTM for both."""
    return sb3_recurrent_ppo2(shared_lstm=True, enable_critic_lstm=False)


def sb3_ppo2() -> Trained:
    import torch
    from stable_baselines3 import PPO as Peer
    from stable_baselines3.common.env_util import make_vec_env

    torch.set_num_threads(1)
    model = Peer(
        "MlpPolicy",
        make_vec_env(ENV, n_envs=PPO["n_envs"], seed=0),
        seed=0,
        n_steps=PPO["n_steps"],
        n_epochs=PPO["epochs"],
        batch_size=PPO["minibatch"],
        learning_rate=PPO["lr"],
        device="cpu",
    )
    minibatches = PPO["n_envs"] * PPO["n_steps"] // PPO["minibatch"]
    return (
        lambda n: model.learn(n, reset_num_timesteps=False),
        lambda: model._n_updates * minibatches,  # it counts epochs
    )


def sb3_dqn() -> Trained:
    import torch
    from stable_baselines3 import DQN as Peer

    torch.set_num_threads(1)
    model = Peer(
        "MlpPolicy",
        ENV,
        seed=0,
        batch_size=DQN["batch"],
        learning_rate=DQN["lr"],
        buffer_size=DQN["buffer"],
        learning_starts=DQN["starts"],
        target_update_interval=DQN["target"],
        train_freq=1,
        gradient_steps=1,
        exploration_initial_eps=DQN["eps"],
        exploration_final_eps=DQN["eps"],
        device="cpu",
    )
    return lambda n: model.learn(n, reset_num_timesteps=False), lambda: model._n_updates


SUBJECTS: dict[str, Callable[[], Trained]] = {
    "rlk ppo2": rlk_ppo2,
    "rlk dqn": rlk_dqn,
    "sb3 ppo2": sb3_ppo2,
    "sb3 dqn": sb3_dqn,
    "rlk recurrent-ppo2": rlk_recurrent_ppo2,
    "sb3 recurrent-ppo2": sb3_recurrent_ppo2,
    "rlk recurrent-ppo2-shared": rlk_recurrent_ppo2,
    "sb3 recurrent-ppo2-shared": sb3_recurrent_ppo2_shared,
}


def main() -> None:
    library, case = sys.argv[1:3]
    warm_up, timed = LENGTHS[case]
    learn, updates = SUBJECTS[f"{library} {case}"]()
    learn(warm_up)
    before, began = updates(), time.perf_counter()
    learn(timed)
    seconds = time.perf_counter() - began
    print(json.dumps({"steps_per_second": timed / seconds, "updates": updates() - before}))


if __name__ == "__main__":
    main()
