"""What a benchmark needs of an agent of rlk and of a peer's model."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from typing import Any

#: Where the classes of the contrib package are.
CONTRIB = ("MaskablePPO", "RecurrentPPO", "TRPO")
#: Of hindsight: goals for every real one, and which.
HINDSIGHT: dict[str, Any] = {"n_sampled_goal": 4, "goal_selection_strategy": "future"}
#: learn(n), updates so far, and seconds that compiling took.
Trained = tuple[Callable[[int], Any], Callable[[], int], Callable[[], float]]


def is_rlk(library: str) -> bool:
    return library.startswith("rlk")


def agent_of(library: str, algo: str, **keywords: Any) -> Trained:
    """An agent of rlk; `rlk+compile+…` are its plugins beside those of the case."""
    import rlk

    plugins = [*keywords.pop("plugins", ()), *library.split("+")[1:]]
    agent = rlk.make(algo, seed=0, plugins=plugins, **keywords)
    compiled: Any = getattr(agent.run.hooks.get("compile"), "update", None)  # None: it runs eagerly
    return (
        lambda n: agent.learn(n, reset_num_timesteps=False),
        lambda: agent.run.clock.updates,
        lambda: 0.0 if compiled is None else compiled.seconds,
    )


def model_of(model: Any, updates_each: int = 1) -> Trained:
    """A peer's. `updates_each`: gradient updates for each that the peer counts."""
    return (
        lambda n: model.learn(n, reset_num_timesteps=False),
        lambda: model._n_updates * updates_each,
        lambda: 0.0,
    )


def peer(library: str, name: str) -> Any:
    """The peer's class, of Stable-Baselines3 and its contrib package, or of sbx."""
    import torch

    torch.set_num_threads(1)
    sb3 = "sb3_contrib" if name in CONTRIB else "stable_baselines3"
    return getattr(importlib.import_module("sbx" if library == "sbx" else sb3), name)


def environments(env: Any, n_envs: int) -> Any:
    """The peer's vector of environments, in this process."""
    from stable_baselines3.common.env_util import make_vec_env

    return make_vec_env(env, n_envs=n_envs, seed=0)


def hindsight() -> dict[str, Any]:
    """What makes an off-policy model of Stable-Baselines3 learn by hindsight."""
    from stable_baselines3 import HerReplayBuffer

    return {"replay_buffer_class": HerReplayBuffer, "replay_buffer_kwargs": HINDSIGHT}
