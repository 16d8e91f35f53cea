"""A vector environment that is stepped with random actions, of rlk and its peers alike."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from cases._training import Subject

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
    """Eight CartPoles as the library makes them to train on, which counts returns."""
    if library == "rlk":
        from rlk_dummy import DummyVecEnv
        from rlk_gymnasium.made import ById
        from rlk_wrappers import VectorMonitor

        return VectorMonitor(DummyVecEnv([ById("CartPole-v1")] * N_ENVS))
    if library == "gymnasium":
        import gymnasium as gym
        from gymnasium.vector import AutoresetMode

        mode = {"autoreset_mode": AutoresetMode.SAME_STEP}
        made = gym.make_vec("CartPole-v1", N_ENVS, vectorization_mode="sync", vector_kwargs=mode)
        return gym.wrappers.vector.RecordEpisodeStatistics(made)
    from stable_baselines3.common.env_util import make_vec_env

    return make_vec_env("CartPole-v1", N_ENVS)


def in_one_process(library: str, make: Callable[[], Any]) -> Any:
    """The library's vector environment that steps one environment after the other."""
    fns = [make] * N_ENVS
    if library == "rlk":
        from rlk_dummy import DummyVecEnv

        return DummyVecEnv(fns)
    if library == "gymnasium":
        from gymnasium.vector import AutoresetMode, SyncVectorEnv

        return SyncVectorEnv(fns, autoreset_mode=AutoresetMode.SAME_STEP)
    from stable_baselines3.common.vec_env import DummyVecEnv as PeersVecEnv

    return PeersVecEnv(fns)


def in_several_processes(library: str, make: Callable[[], Any]) -> Any:
    """The library's vector environment that steps them in processes of their own."""
    fns = [make] * N_ENVS
    if library == "rlk":
        from rlk_subprocess import SubprocVecEnv

        return SubprocVecEnv(fns)
    if library == "gymnasium":
        from gymnasium.vector import AsyncVectorEnv, AutoresetMode

        return AsyncVectorEnv(fns, autoreset_mode=AutoresetMode.SAME_STEP)
    from stable_baselines3.common.vec_env import SubprocVecEnv as PeersVecEnv

    return PeersVecEnv(fns)


def cart_pole() -> Any:
    import gymnasium as gym

    return gym.make("CartPole-v1", disable_env_checker=True)
