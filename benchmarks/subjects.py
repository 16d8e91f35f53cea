"""One timed training by one library, in a process of its own.

`python subjects.py LIBRARY CASE` prints JSON.

All libraries get the same hyperparameters, the same environment and one thread. A first call of
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
    "trpo": (2_048, 20_480),
    "sac": (400, 1_000),
}
PPO = {"n_envs": 8, "n_steps": 128, "epochs": 4, "minibatch": 256, "lr": 3e-4}
DQN = {"batch": 32, "lr": 5e-4, "buffer": 50_000, "starts": 1_000, "target": 500, "eps": 0.05}
TRPO = {"n_envs": 8, "n_steps": 128, "kl": 0.01, "cg": 10, "damping": 0.01, "epochs": 3, "lr": 3e-4}
SAC_ENV = "Pendulum-v1"
SAC = {"batch": 256, "lr": 3e-4, "buffer": 50_000, "starts": 100, "layers": [256, 256]}

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


def rlk_trpo() -> Trained:
    import rlk

    agent = rlk.make(
        "trpo",
        env=ENV,
        seed=0,
        n_envs=TRPO["n_envs"],
        timesteps_per_batch=TRPO["n_envs"] * TRPO["n_steps"],
        max_kl=TRPO["kl"],
        cg_iters=TRPO["cg"],
        cg_damping=TRPO["damping"],
        vf_iters=TRPO["epochs"],
        vf_stepsize=TRPO["lr"],
        lam=0.98,
        optimiser={"kl_slack": 1.0},
        policy={"layers": [64, 64], "act_fun": "tanh"},
    )
    return lambda n: agent.learn(n, reset_num_timesteps=False), lambda: agent.run.clock.updates


def rlk_sac() -> Trained:
    import rlk

    agent = rlk.make(
        "sac",
        env=SAC_ENV,
        seed=0,
        batch_size=SAC["batch"],
        learning_rate=SAC["lr"],
        buffer_size=SAC["buffer"],
        learning_starts=SAC["starts"],
        train_freq=1,
        gradient_steps=1,
        ent_coef="auto",
        policy={"layers": SAC["layers"], "act_fun": "relu"},
    )
    return lambda n: agent.learn(n, reset_num_timesteps=False), lambda: agent.run.clock.updates


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


def sb3_trpo() -> Trained:
    import torch
    from sb3_contrib import TRPO as Peer
    from stable_baselines3.common.env_util import make_vec_env

    torch.set_num_threads(1)
    model = Peer(
        "MlpPolicy",
        make_vec_env(ENV, n_envs=TRPO["n_envs"], seed=0),
        seed=0,
        n_steps=TRPO["n_steps"],
        batch_size=128,
        target_kl=TRPO["kl"],
        cg_max_steps=TRPO["cg"],
        cg_damping=TRPO["damping"],
        line_search_shrinking_factor=0.5,
        n_critic_updates=TRPO["epochs"],
        learning_rate=TRPO["lr"],
        gae_lambda=0.98,
        sub_sampling_factor=1,
        device="cpu",
    )
    # One step of the policy and the epochs' minibatches of the value in every iteration.
    updates = 1 + TRPO["epochs"] * TRPO["n_envs"] * TRPO["n_steps"] // 128
    return (
        lambda n: model.learn(n, reset_num_timesteps=False),
        lambda: model._n_updates * updates,
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


def sb3_sac() -> Trained:
    import torch
    from stable_baselines3 import SAC as Peer

    torch.set_num_threads(1)
    return _peer_sac(Peer)


def sbx_sac() -> Trained:
    from sbx import SAC as Peer

    return _peer_sac(Peer)


def _peer_sac(peer: Any) -> Trained:
    model = peer(
        "MlpPolicy",
        SAC_ENV,
        seed=0,
        batch_size=SAC["batch"],
        learning_rate=SAC["lr"],
        buffer_size=SAC["buffer"],
        learning_starts=SAC["starts"],
        train_freq=1,
        gradient_steps=1,
        ent_coef="auto",
        policy_kwargs={"net_arch": SAC["layers"]},
        device="cpu",
    )
    return lambda n: model.learn(n, reset_num_timesteps=False), lambda: model._n_updates


SUBJECTS: dict[str, Callable[[], Trained]] = {
    "rlk ppo2": rlk_ppo2,
    "rlk dqn": rlk_dqn,
    "rlk trpo": rlk_trpo,
    "sb3 ppo2": sb3_ppo2,
    "sb3 dqn": sb3_dqn,
    "sb3 trpo": sb3_trpo,
    "rlk sac": rlk_sac,
    "sb3 sac": sb3_sac,
    "sbx sac": sbx_sac,
}


def main() -> None:
    library, case = sys.argv[1:3]
    warm_up, timed = LENGTHS[case]
    learn, updates = SUBJECTS[f"{library} {case}"]()
    learn(warm_up)
    before, began, processor = updates(), time.perf_counter(), time.process_time()
    learn(timed)
    seconds, own = time.perf_counter() - began, time.process_time() - processor
    figures = {"steps_per_second": timed / seconds, "steps_per_processor_second": timed / own}
    print(json.dumps({**figures, "updates": updates() - before}))


if __name__ == "__main__":
    main()
