"""A vector environment that is stepped with random actions, of rlk and its peers alike.

All gather the infos of every environment, and those of rlk, Gymnasium (`copy=False`) and PufferLib
write the results of a step into the same arrays again; Stable-Baselines3's have no such choice.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from cases._training import Subject, environment, environments

N_ENVS = 8


def stepped(vector: Any) -> Subject:
    """`learn(n)` takes n steps of single environments; nothing is learnt."""
    seed_of = getattr(vector, "seed", None)  # Stable-Baselines3's; its reset takes none
    if seed_of is None:
        vector.reset(seed=0)
    else:
        seed_of(0)
        vector.reset()
    rng = np.random.default_rng(0)
    space = getattr(vector, "single_action_space", vector.action_space)

    def learn(timesteps: int) -> None:
        for actions in rng.integers(0, space.n, (timesteps // N_ENVS, N_ENVS)):
            vector.step(actions)

    return Subject(learn)


def as_trained_with(library: str) -> Any:
    """Eight CartPoles in the vector that the library trains on, which counts returns."""
    if library == "rlk":
        from rlk_wrappers import VectorMonitor

        return VectorMonitor(in_one_process(library, cart_pole))
    if library == "gymnasium":
        from gymnasium.wrappers.vector import RecordEpisodeStatistics

        return RecordEpisodeStatistics(in_one_process(library, cart_pole))
    if library == "pufferlib":
        from peers import pufferlib

        return pufferlib.in_one_process(cart_pole, N_ENVS, count_returns=True)
    return environments(cart_pole, N_ENVS)


def in_one_process(library: str, make: Callable[[], Any]) -> Any:
    """The library's vector environment that steps one environment after the other."""
    fns = [make] * N_ENVS
    if library == "rlk":
        from rlk_dummy import DummyVecEnv

        return DummyVecEnv(fns, info_keys=None)
    if library == "gymnasium":
        from gymnasium.vector import AutoresetMode, SyncVectorEnv

        return SyncVectorEnv(fns, autoreset_mode=AutoresetMode.SAME_STEP, copy=False)
    if library == "pufferlib":
        from peers import pufferlib

        return pufferlib.in_one_process(make, N_ENVS)
    from stable_baselines3.common.vec_env import DummyVecEnv as PeersVecEnv

    return PeersVecEnv(fns)


def in_several_processes(library: str, make: Callable[[], Any]) -> Any:
    """The library's vector environment that steps them in processes of their own."""
    fns = [make] * N_ENVS
    if library == "rlk":
        from rlk_subprocess import SubprocVecEnv

        return SubprocVecEnv(fns, info_keys=None)
    if library == "gymnasium":
        from gymnasium.vector import AsyncVectorEnv, AutoresetMode

        return AsyncVectorEnv(fns, autoreset_mode=AutoresetMode.SAME_STEP, copy=False)
    if library == "pufferlib":
        from peers import pufferlib

        return pufferlib.in_several_processes(make, N_ENVS, n_workers=2)  # one for each core
    from stable_baselines3.common.vec_env import SubprocVecEnv as PeersVecEnv

    return PeersVecEnv(fns)


def cart_pole() -> Any:
    return environment("CartPole-v1")
