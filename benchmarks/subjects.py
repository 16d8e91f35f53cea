"""One timed training by one library, in a process of its own.

`python subjects.py LIBRARY CASE [cpu]` prints JSON; with `cpu` it is the process's time that
counts and not the clock's, for a machine that others use.

All libraries get the same hyperparameters, the same environment and one core. A first call of
`learn` warms everything up, compiles what is to be compiled and fills the replay; the second is
timed.
"""

from __future__ import annotations

import importlib
import json
import os
import sys
import time
from collections.abc import Callable
from typing import Any

ENV = "CartPole-v1"
PENDULUM = "Pendulum-v1"
#: case -> (timesteps to warm up, timesteps that are timed)
LENGTHS = {
    "ppo2": (2_048, 40_960),
    "dqn": (1_500, 5_000),
    "sac": (400, 1_000),
    "td3": (400, 1_000),
    "trpo": (2_048, 20_480),
    "recurrent-ppo2": (1_024, 4_096),
}
PPO = {"n_envs": 8, "n_steps": 128, "epochs": 4, "minibatch": 256, "lr": 3e-4}
DQN = {"batch": 32, "lr": 5e-4, "buffer": 50_000, "starts": 1_000, "target": 500, "eps": 0.05}
SAC = {"batch": 256, "lr": 3e-4, "buffer": 50_000, "starts": 100, "layers": [256, 256]}
TD3 = {"batch": 256, "lr": 3e-4, "buffer": 50_000, "starts": 100, "layers": [256, 256]}
TD3 |= {"delay": 2, "noise": 0.2, "clip": 0.5, "sigma": 0.1}
TRPO = {"n_envs": 8, "n_steps": 128, "kl": 0.01, "cg": 10, "damping": 0.01, "epochs": 3, "lr": 3e-4}
RECURRENT = {"n_envs": 8, "n_steps": 128, "epochs": 10, "minibatch": 128, "lr": 3e-4, "units": 256}

#: learn(n), updates so far, and seconds that compiling took.
Trained = tuple[Callable[[int], Any], Callable[[], int], Callable[[], float]]


def of_rlk(agent: Any) -> Trained:
    return (
        lambda n: agent.learn(n, reset_num_timesteps=False),
        lambda: agent.run.clock.updates,
        lambda: getattr(agent.run.update, "seconds", 0.0),
    )


def of_peer(model: Any, updates_each: int = 1) -> Trained:
    """`updates_each`: gradient updates for each that the peer counts."""
    return (
        lambda n: model.learn(n, reset_num_timesteps=False),
        lambda: model._n_updates * updates_each,
        lambda: 0.0,
    )


def rlk_ppo2(*plugins: str) -> Trained:
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
        plugins=list(plugins),
    )
    return of_rlk(agent)


def rlk_dqn(*plugins: str) -> Trained:
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
        plugins=list(plugins),
    )
    return of_rlk(agent)


def rlk_sac(*plugins: str) -> Trained:
    import rlk

    agent = rlk.make(
        "sac",
        env=PENDULUM,
        seed=0,
        batch_size=SAC["batch"],
        learning_rate=SAC["lr"],
        buffer_size=SAC["buffer"],
        learning_starts=SAC["starts"],
        train_freq=1,
        gradient_steps=1,
        ent_coef="auto",
        policy={"layers": SAC["layers"], "act_fun": "relu"},
        plugins=list(plugins),
    )
    return of_rlk(agent)


def rlk_td3(*plugins: str) -> Trained:
    import rlk

    agent = rlk.make(
        "td3",
        env=PENDULUM,
        seed=0,
        batch_size=TD3["batch"],
        learning_rate=TD3["lr"],
        buffer_size=TD3["buffer"],
        learning_starts=TD3["starts"],
        train_freq=1,
        gradient_steps=1,
        policy_delay=TD3["delay"],
        target_policy_noise=TD3["noise"],
        target_noise_clip=TD3["clip"],
        action_noise=f"normal-noise:sigma={TD3['sigma']}",
        policy={"layers": TD3["layers"], "act_fun": "relu"},
        plugins=list(plugins),
    )
    return of_rlk(agent)


def rlk_trpo(*plugins: str) -> Trained:
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
        plugins=list(plugins),
    )
    return of_rlk(agent)


def rlk_recurrent_ppo2(*plugins: str) -> Trained:
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
        plugins=list(plugins),
    )
    return of_rlk(agent)


def peer(library: str, name: str) -> Any:
    """The peer's class, of Stable-Baselines3 and its contrib package, or of sbx."""
    import torch

    torch.set_num_threads(1)
    contrib = "sb3_contrib" if name in ("TRPO", "RecurrentPPO") else "stable_baselines3"
    return getattr(importlib.import_module("sbx" if library == "sbx" else contrib), name)


def peer_ppo2(library: str) -> Trained:
    from stable_baselines3.common.env_util import make_vec_env

    model = peer(library, "PPO")(
        "MlpPolicy",
        make_vec_env(ENV, n_envs=PPO["n_envs"], seed=0),
        seed=0,
        n_steps=PPO["n_steps"],
        n_epochs=PPO["epochs"],
        batch_size=PPO["minibatch"],
        learning_rate=PPO["lr"],
        device="cpu",
    )
    # It counts epochs.
    return of_peer(model, PPO["n_envs"] * PPO["n_steps"] // PPO["minibatch"])


def peer_dqn(library: str) -> Trained:
    model = peer(library, "DQN")(
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
        policy_kwargs={"net_arch": [64, 64]},
    )
    return of_peer(model)


def peer_sac(library: str) -> Trained:
    model = peer(library, "SAC")(
        "MlpPolicy",
        PENDULUM,
        seed=0,
        batch_size=SAC["batch"],
        learning_rate=SAC["lr"],
        buffer_size=SAC["buffer"],
        learning_starts=SAC["starts"],
        train_freq=1,
        gradient_steps=1,
        ent_coef="auto",
        device="cpu",
        policy_kwargs={"net_arch": SAC["layers"]},
    )
    return of_peer(model)


def peer_td3(library: str) -> Trained:
    import numpy as np
    from stable_baselines3.common.noise import NormalActionNoise

    model = peer(library, "TD3")(
        "MlpPolicy",
        PENDULUM,
        seed=0,
        batch_size=TD3["batch"],
        learning_rate=TD3["lr"],
        buffer_size=TD3["buffer"],
        learning_starts=TD3["starts"],
        train_freq=1,
        gradient_steps=1,
        policy_delay=TD3["delay"],
        target_policy_noise=TD3["noise"],
        target_noise_clip=TD3["clip"],
        action_noise=NormalActionNoise(np.zeros(1), np.full(1, TD3["sigma"])),
        device="cpu",
        policy_kwargs={"net_arch": TD3["layers"]},
    )
    return of_peer(model)


def peer_trpo(library: str) -> Trained:
    from stable_baselines3.common.env_util import make_vec_env

    model = peer(library, "TRPO")(
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
    return of_peer(model, 1 + TRPO["epochs"] * TRPO["n_envs"] * TRPO["n_steps"] // 128)


def peer_recurrent_ppo2(library: str) -> Trained:
    """`sb3` as it comes, with a second LSTM for the value; `sb3-shared` with one for both."""
    from stable_baselines3.common.env_util import make_vec_env

    one = {"shared_lstm": True, "enable_critic_lstm": False} if library == "sb3-shared" else {}
    model = peer(library, "RecurrentPPO")(
        "MlpLstmPolicy",
        make_vec_env(ENV, n_envs=RECURRENT["n_envs"], seed=0),
        seed=0,
        n_steps=RECURRENT["n_steps"],
        n_epochs=RECURRENT["epochs"],
        batch_size=RECURRENT["minibatch"],
        learning_rate=RECURRENT["lr"],
        policy_kwargs={"lstm_hidden_size": RECURRENT["units"], **one},
        device="cpu",
    )
    # It counts epochs.
    return of_peer(model, RECURRENT["n_envs"] * RECURRENT["n_steps"] // RECURRENT["minibatch"])


RLK: dict[str, Callable[..., Trained]] = {
    "ppo2": rlk_ppo2,
    "dqn": rlk_dqn,
    "sac": rlk_sac,
    "td3": rlk_td3,
    "trpo": rlk_trpo,
    "recurrent-ppo2": rlk_recurrent_ppo2,
}
PEERS: dict[str, Callable[[str], Trained]] = {
    "ppo2": peer_ppo2,
    "dqn": peer_dqn,
    "sac": peer_sac,
    "td3": peer_td3,
    "trpo": peer_trpo,
    "recurrent-ppo2": peer_recurrent_ppo2,
}


def one_core() -> None:
    """Peers that ignore how many threads they are told stay on one core like the rest."""
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})


def main() -> None:
    library, case, *clock = sys.argv[1:]
    warm_up, timed = LENGTHS[case]
    now = time.process_time if clock == ["cpu"] else time.perf_counter
    one_core()
    if library.startswith("rlk"):
        learn, updates, compiling = RLK[case](*library.split("+")[1:])
    else:
        learn, updates, compiling = PEERS[case](library)
    learn(warm_up)
    before, began = updates(), now()
    learn(timed)
    seconds = now() - began
    figures = {
        "steps_per_second": timed / seconds,
        "updates": updates() - before,
        "compile_seconds": compiling(),
    }
    print(json.dumps(figures))


if __name__ == "__main__":
    main()
