"""What a benchmark needs of an agent of rlk and of a peer's model."""

from __future__ import annotations

import functools
import importlib
from collections.abc import Callable
from typing import Any, NamedTuple

#: Where the classes of the contrib package are.
CONTRIB = ("MaskablePPO", "RecurrentPPO", "TRPO")
#: Of hindsight: goals for every real one, and which.
HINDSIGHT: dict[str, Any] = {"n_sampled_goal": 4, "goal_selection_strategy": "future"}


class Subject(NamedTuple):
    """What a case measures: one library's agent, or its vector environment."""

    learn: Callable[[int], Any]  # takes so many timesteps more, of all environments together
    updates: Callable[[], int] = lambda: 0  # gradient updates so far
    compile_seconds: Callable[[], float] = lambda: 0.0  # that compiling updates took so far
    load_seconds: Callable[[], float] = lambda: 0.0  # the same of updates that were found on disk


def is_rlk(library: str) -> bool:
    return library.startswith("rlk")


def agent_of(library: str, algo: str, **keywords: Any) -> Subject:
    """An agent of rlk on the CPU; `rlk+compile+…` are its plugins beside those of the case."""
    import rlk

    plugins = [*keywords.pop("plugins", ()), *library.split("+")[1:]]
    agent = rlk.make(algo, seed=0, device="cpu", plugins=plugins, **keywords)
    compiled: Any = getattr(agent.run.hooks.get("compile"), "update", None)  # None: it runs eagerly

    def seconds(from_cache: bool) -> float:
        reports = [] if compiled is None else compiled.reports.values()
        return float(sum(each.seconds for each in reports if each.from_cache == from_cache))

    return Subject(
        learn=lambda n: agent.learn(n, reset_num_timesteps=False),
        updates=lambda: agent.run.clock.updates,
        compile_seconds=lambda: seconds(from_cache=False),
        load_seconds=lambda: seconds(from_cache=True),
    )


def model_of(model: Any, updates_each: int = 1) -> Subject:
    """A peer's. `updates_each`: gradient updates for each that the peer counts."""
    return Subject(
        learn=lambda n: model.learn(n, reset_num_timesteps=False),
        updates=lambda: model._n_updates * updates_each,
    )


def peer(library: str, name: str) -> Any:
    """The peer's class, of Stable-Baselines3 and its contrib package, or of sbx."""
    import torch

    torch.set_num_threads(1)
    sb3 = "sb3_contrib" if name in CONTRIB else "stable_baselines3"
    return getattr(importlib.import_module("sbx" if library == "sbx" else sb3), name)


def environment(env_id: str, **keywords: Any) -> Any:
    """The same for all: as rlk makes it, without Gymnasium's checks of every step."""
    import gymnasium as gym

    return gym.make(env_id, disable_env_checker=True, **keywords)


def environments(env: str | Callable[[], Any], n_envs: int) -> Any:
    """The vector of Stable-Baselines3 and sbx, in this process."""
    from stable_baselines3.common.env_util import make_vec_env

    make = functools.partial(environment, env) if isinstance(env, str) else env
    return make_vec_env(make, n_envs=n_envs, seed=0)


def hindsight() -> dict[str, Any]:
    """What makes an off-policy model of Stable-Baselines3 learn by hindsight."""
    from stable_baselines3 import HerReplayBuffer

    return {"replay_buffer_class": HerReplayBuffer, "replay_buffer_kwargs": HINDSIGHT}
