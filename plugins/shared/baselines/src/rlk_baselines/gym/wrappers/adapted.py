"""Gymnasium's wrappers with gym's interface, by gym's names and with gym's arguments."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import gymnasium.wrappers as of_gymnasium

from rlk_baselines.environments.five_values import ShownEnv
from rlk_baselines.gym.core import ObservationWrapper, RewardWrapper, Wrapper
from rlk_baselines.gym.making import GymView


class Adapted(Wrapper):
    """A wrapper of Gymnasium around an environment with gym's interface.

    Args:
        env: the environment.
        wrap: a function that wraps an environment with Gymnasium's interface.
    """

    def __init__(self, env: Any, wrap: Callable[[Any], Any]) -> None:
        super().__init__(GymView(wrap(ShownEnv(env))))


class ClipAction(Adapted):
    """Clips actions to the bounds of their Box."""

    def __init__(self, env: Any) -> None:
        super().__init__(env, of_gymnasium.ClipAction)


class FilterObservation(Adapted):
    """Keeps only some keys of a Dict observation.

    Args:
        env: the environment.
        filter_keys: the keys to keep; None keeps all.
    """

    def __init__(self, env: Any, filter_keys: Sequence[str] | None = None) -> None:
        keys = list(env.observation_space.spaces) if filter_keys is None else list(filter_keys)
        super().__init__(env, lambda one: of_gymnasium.FilterObservation(one, keys))


class FlattenObservation(Adapted):
    """Flattens observations to vectors, [D]."""

    def __init__(self, env: Any) -> None:
        super().__init__(env, of_gymnasium.FlattenObservation)


class FrameStack(Adapted):
    """Stacks the latest observations along a new first axis, [num_stack, *shape].

    At a reset, the first observation is repeated.

    Args:
        env: the environment.
        num_stack: the number of observations.
    """

    def __init__(self, env: Any, num_stack: int) -> None:
        super().__init__(env, lambda one: of_gymnasium.FrameStackObservation(one, num_stack))


class GrayScaleObservation(Adapted):
    """Converts colour images to grey.

    Args:
        env: an environment with colour images [H, W, 3] as observations.
        keep_dim: whether the result is [H, W, 1], instead of [H, W].
    """

    def __init__(self, env: Any, keep_dim: bool = False) -> None:
        super().__init__(env, lambda one: of_gymnasium.GrayscaleObservation(one, keep_dim))


class RescaleAction(Adapted):
    """Takes actions from a to b, and scales them to the bounds of the environment's Box."""

    def __init__(self, env: Any, a: Any, b: Any) -> None:
        super().__init__(env, lambda one: of_gymnasium.RescaleAction(one, a, b))


class ResizeObservation(Adapted):
    """Resizes images.

    Args:
        env: an environment with images as observations.
        shape: the height and width, or one number for both.
    """

    def __init__(self, env: Any, shape: int | tuple[int, int]) -> None:
        size = (shape, shape) if isinstance(shape, int) else (shape[0], shape[1])
        super().__init__(env, lambda one: of_gymnasium.ResizeObservation(one, size))


class TransformObservation(ObservationWrapper):
    """Applies a function to observations; the observation space does not change."""

    def __init__(self, env: Any, f: Callable[[Any], Any]) -> None:
        super().__init__(env)
        self.f = f

    def observation(self, observation: Any) -> Any:
        return self.f(observation)


class TransformReward(RewardWrapper):
    """Applies a function to rewards."""

    def __init__(self, env: Any, f: Callable[[Any], Any]) -> None:
        super().__init__(env)
        self.f = f

    def reward(self, reward: Any) -> Any:
        return self.f(reward)
