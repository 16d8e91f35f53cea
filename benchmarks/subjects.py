"""One timed training by one library, in a process of its own.

`python subjects.py LIBRARY CASE [cpu]` prints JSON; with `cpu` it is the process's time that
counts and not the clock's, for a machine that others use.

All libraries get the same hyperparameters, the same environment and one core. A first call of
`learn` warms everything up, compiles what is to be compiled and fills the replay; the second is
timed.
"""

from __future__ import annotations

import json
import os
import sys
import time
from collections.abc import Callable
from typing import Any

ENV = "CartPole-v1"
SAC_ENV = "Pendulum-v1"
#: case -> (timesteps to warm up, timesteps that are timed)
LENGTHS = {"ppo2": (2_048, 40_960), "dqn": (1_500, 5_000), "sac": (1_100, 1_000)}
PPO = {"n_envs": 8, "n_steps": 128, "epochs": 4, "minibatch": 256, "lr": 3e-4}
DQN = {"batch": 32, "lr": 5e-4, "buffer": 50_000, "starts": 1_000, "target": 500, "eps": 0.05}
SAC = {"batch": 256, "lr": 3e-4, "buffer": 1_000_000, "starts": 1_000, "layers": [256, 256]}

#: learn(n), updates so far, and seconds that compiling took.
Trained = tuple[Callable[[int], Any], Callable[[], int], Callable[[], float]]
Plugins = tuple[str, ...]


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
        env=SAC_ENV,
        seed=0,
        batch_size=SAC["batch"],
        learning_rate=SAC["lr"],
        buffer_size=SAC["buffer"],
        learning_starts=SAC["starts"],
        train_freq=1,
        gradient_steps=1,
        policy={"layers": SAC["layers"]},
        plugins=list(plugins),
    )
    return of_rlk(agent)


def peer(library: str, name: str) -> Any:
    """The peer's class: Stable-Baselines3's, or sbx's, which take the same arguments here."""
    import torch

    torch.set_num_threads(1)
    if library == "sb3":
        import stable_baselines3 as module
    else:
        import sbx as module
    return getattr(module, name)


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
        SAC_ENV,
        seed=0,
        batch_size=SAC["batch"],
        learning_rate=SAC["lr"],
        buffer_size=SAC["buffer"],
        learning_starts=SAC["starts"],
        train_freq=1,
        gradient_steps=1,
        device="cpu",
        policy_kwargs={"net_arch": SAC["layers"]},
    )
    return of_peer(model)


RLK: dict[str, Callable[..., Trained]] = {"ppo2": rlk_ppo2, "dqn": rlk_dqn, "sac": rlk_sac}
PEERS: dict[str, Callable[[str], Trained]] = {"ppo2": peer_ppo2, "dqn": peer_dqn, "sac": peer_sac}


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
