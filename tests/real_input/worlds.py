"""Environments of other packages as users pass them, with an algorithm that suits each."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from importlib.util import find_spec
from typing import Any

import attrs
import gymnasium as gym

#: The length of a real training.
TIMESTEPS = 20_000


@attrs.frozen
class World:
    """An environment with what `rlk.make` is given.

    Attributes:
        needs: packages that must be installed.
        algo: the algorithm. env: an id, or a function that gives what is passed.
        settings: of a training. small: what makes a few steps of it cheap.
    """

    name: str
    needs: tuple[str, ...]
    algo: str
    env: str | Callable[[], Any]
    settings: Mapping[str, Any] = attrs.field(factory=dict)
    small: Mapping[str, Any] = attrs.field(factory=dict)

    def __str__(self) -> str:
        return self.name

    def missing(self) -> list[str]:
        return [package for package in self.needs if find_spec(package) is None]

    def keywords(self) -> dict[str, Any]:
        env = self.env if isinstance(self.env, str) else self.env()
        return {"env": env, "seed": 1, "n_threads": 1, **self.settings}


def minigrid_without_text() -> Any:
    """A function that makes a maze without its mission, a text that no policy can use."""

    def made() -> gym.Env[Any, Any]:
        from minigrid.wrappers import RGBImgPartialObsWrapper

        env = RGBImgPartialObsWrapper(gym.make("MiniGrid-Empty-5x5-v0"))
        return gym.wrappers.FilterObservation(env, ["image", "direction"])

    import minigrid  # noqa: F401  (registers the id)

    return made


def pistons() -> Any:
    """Two games of PettingZoo with four agents each, which SuperSuit makes a vector of eight."""
    import supersuit
    from pettingzoo.butterfly import pistonball_v6

    env = supersuit.color_reduction_v0(pistonball_v6.parallel_env(n_pistons=4))
    agents = supersuit.pettingzoo_env_to_vec_env_v1(supersuit.resize_v1(env, 36, 36))
    return supersuit.concat_vec_envs_v1(agents, 2, num_cpus=0, base_class="gymnasium")


EIGHT = {"n_envs": 8, "n_steps": 128}
FEW = {"n_envs": 2, "n_steps": 8, "nminibatches": 1, "noptepochs": 1}
REPLAY = {"buffer_size": 5_000, "learning_starts": 1_000, "train_freq": 8}
WORLDS = [
    World(
        "pong",
        ("ale_py", "cv2"),
        "ppo2",
        "ALE/Pong-v5",
        {**EIGHT, "preset": "zoo"},
        {**FEW, "policy.features": 8},
    ),
    World("pybullet", ("pybullet_envs_gymnasium",), "ppo2", "HopperBulletEnv-v0", EIGHT, FEW),
    World("box2d", ("Box2D",), "dqn", "LunarLander-v3", REPLAY, {"learning_starts": 8}),
    World(
        "parking",
        ("highway_env",),
        "her",
        "parking-v0",
        {**REPLAY, "model": "sac", "gradient_steps": 1},
        {"learning_starts": 8, "batch_size": 8, "policy.layers": [8]},
    ),
    World("mujoco", ("mujoco",), "ppo2", "HalfCheetah-v5", EIGHT, FEW),
    World(
        "minigrid",
        ("minigrid",),
        "ppo2",
        minigrid_without_text,
        {**EIGHT, "policy": "multi-input"},
        {**FEW, "policy.features": 8},
    ),
    World(
        "pettingzoo",
        ("pettingzoo", "supersuit", "pymunk"),
        "ppo2",
        pistons,
        {"n_steps": 128},
        {"n_steps": 4, "nminibatches": 1, "noptepochs": 1, "policy.layers": [8]},
    ),
]
