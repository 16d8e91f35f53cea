"""`make`, and wrappers that give environments gym's interface."""

from __future__ import annotations

from typing import Any

import gymnasium

from rlk_baselines.environments.ids import make_by_id
from rlk_baselines.gym.core import Env, next_seed, old_result, shown
from rlk_old_gym.interface import (
    layers,
    takes_seed,
    without_makers_wrappers,
)
from rlk_old_gym.spaces import as_gymnasium_space


def make(id: str, **kwargs: Any) -> Any:
    """Make the environment of an id, with gym's interface.

    If Gymnasium has replaced the version, the next one is made (`Pendulum-v1` for `Pendulum-v0`).

    Raises:
        PlanError: if the id is unknown, or its package is not installed.
    """
    return four_values(make_by_id(id, **kwargs))


def four_values(env: Any) -> Any:
    """An environment with gym's interface: the given one, if it has it already, or a wrapper."""
    if not isinstance(env, gymnasium.Env):
        return Adopted(env)
    bare, limit = without_makers_wrappers(env)
    if gives_four_values(bare):
        return bare if limit is None else _limited(bare, limit)
    if isinstance(bare, gymnasium.wrappers.TimeLimit):  # programs expect gym's outermost
        return _limited(GymView(bare.env), bare._max_episode_steps)
    made = GymView(bare)
    return made if limit is None else _limited(made, limit)


def gives_four_values(env: Any) -> bool:
    """Whether an environment has gym's interface, without stepping it."""
    return any(isinstance(layer, Env) for layer in layers(env)) or not takes_seed(env)


def _limited(env: Any, limit: int) -> Any:
    from rlk_baselines.gym.wrappers.time_limit import TimeLimit

    return TimeLimit(env, limit)


class Adopted(Env):
    """Wraps an environment with gym's interface that is not a `gymnasium.Env`, as those of gym."""

    gives_four_values = True  #: see `rlk_old_gym.interface.is_old`

    def __init__(self, env: Any) -> None:
        self.env = env
        self.observation_space = as_gymnasium_space(env.observation_space)
        self.action_space = as_gymnasium_space(env.action_space)
        self.metadata = dict(getattr(env, "metadata", None) or {})  # type: ignore[misc]
        self.spec = getattr(env, "spec", None)
        self.reward_range = getattr(env, "reward_range", Env.reward_range)

    def reset(self, **kwargs: Any) -> Any:
        return self.env.reset(**kwargs)

    def step(self, action: Any) -> Any:
        return self.env.step(action)

    def render(self, mode: str = "human", **kwargs: Any) -> Any:
        """Render the environment."""
        return self.env.render(mode, **kwargs)

    def seed(self, seed: int | None = None) -> Any:
        """Seed the environment, if it has a method for it; returns the seeds."""
        return self.env.seed(seed) if hasattr(self.env, "seed") else [seed]

    def close(self) -> None:
        if hasattr(self.env, "close"):
            self.env.close()

    @property
    def unwrapped(self) -> Any:
        """The innermost environment."""
        return getattr(self.env, "unwrapped", self.env)

    def __getattr__(self, name: str) -> Any:
        """The attribute of the environment."""
        if name.startswith("__") or name == "env":
            raise AttributeError(f"{type(self).__name__} has no attribute {name!r}")
        return getattr(self.env, name)


class GymView(gymnasium.Wrapper[Any, Any, Any, Any], Env):
    """A view of an environment with Gymnasium's interface that has gym's: see `old_result`."""

    gives_four_values = True  #: see `rlk_old_gym.interface.is_old`

    def __init__(self, env: gymnasium.Env[Any, Any]) -> None:
        super().__init__(env)
        self._seed: int | None = None

    def reset(self, **kwargs: Any) -> Any:
        seed, self._seed = self._seed, None
        if kwargs.get("seed") is None and seed is not None:
            kwargs["seed"] = seed
        return self.env.reset(**kwargs)[0]

    def step(self, action: Any) -> Any:
        return old_result(self.env.step(action))

    def seed(self, seed: int | None = None) -> list[int | None]:
        """Set the seed of the next reset; None draws one from the operating system."""
        self._seed = next_seed(seed, self.env.action_space)
        return [self._seed]

    def render(self, mode: str = "human", **kwargs: Any) -> Any:
        """Render: show the frame for `human`, if there is a display; return it for other modes."""
        return shown(self.env.render(), mode)

    def compute_reward(self, achieved_goal: Any, desired_goal: Any, info: Any) -> Any:
        """The reward that the environment computes for goals."""
        reward = self.env.get_wrapper_attr("compute_reward")
        return reward(achieved_goal, desired_goal, info)

    def __getattr__(self, name: str) -> Any:
        """The attribute of the environment."""
        if name.startswith("__") or name == "env":
            raise AttributeError(f"{type(self).__name__} has no attribute {name!r}")
        return self.env.get_wrapper_attr(name)
