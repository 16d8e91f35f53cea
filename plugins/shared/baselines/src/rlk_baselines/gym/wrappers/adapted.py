"""Gymnasium's wrappers with gym's interface, by the names and arguments that gym had."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import gymnasium.wrappers as of_gymnasium

from rlk_baselines.environments.five_values import FiveValues
from rlk_baselines.gym.core import ObservationWrapper, RewardWrapper, Wrapper
from rlk_baselines.gym.making import FourValuesEnv


class Adapted(Wrapper):
    """A wrapper of Gymnasium around an environment of gym's interface.

    Args:
        env: the environment.
        wrap: what wraps one of Gymnasium's interface.
    """

    def __init__(self, env: Any, wrap: Callable[[Any], Any]) -> None:
        super().__init__(FourValuesEnv(wrap(FiveValues(env))))


class ClipAction(Adapted):
    """Clips actions to the bounds of their Box."""

    def __init__(self, env: Any) -> None:
        super().__init__(env, of_gymnasium.ClipAction)


class FilterObservation(Adapted):
    """Keeps some parts of a Dict observation.

    Args:
        env: the environment.
        filter_keys: those parts; None is all.
    """

    def __init__(self, env: Any, filter_keys: Sequence[str] | None = None) -> None:
        keys = list(env.observation_space.spaces) if filter_keys is None else list(filter_keys)
        super().__init__(env, lambda one: of_gymnasium.FilterObservation(one, keys))


class FlattenObservation(Adapted):
    """Observations as one row of numbers."""

    def __init__(self, env: Any) -> None:
        super().__init__(env, of_gymnasium.FlattenObservation)


class FrameStack(Adapted):
    """The latest observations on a first axis of their own; an episode begins with its first.

    Args:
        env: the environment.
        num_stack: how many.
    """

    def __init__(self, env: Any, num_stack: int) -> None:
        super().__init__(env, lambda one: of_gymnasium.FrameStackObservation(one, num_stack))


class GrayScaleObservation(Adapted):
    """Images in grey.

    Args:
        env: its observations are images in colour, [H, W, 3].
        keep_dim: whether they are [H, W, 1], not [H, W].
    """

    def __init__(self, env: Any, keep_dim: bool = False) -> None:
        super().__init__(env, lambda one: of_gymnasium.GrayscaleObservation(one, keep_dim))


class RescaleAction(Adapted):
    """Actions from a to b, scaled to the bounds of their Box."""

    def __init__(self, env: Any, a: Any, b: Any) -> None:
        super().__init__(env, lambda one: of_gymnasium.RescaleAction(one, a, b))


class ResizeObservation(Adapted):
    """Images of another size.

    Args:
        env: its observations are images.
        shape: height and width, or one number for both.
    """

    def __init__(self, env: Any, shape: int | tuple[int, int]) -> None:
        size = (shape, shape) if isinstance(shape, int) else (shape[0], shape[1])
        super().__init__(env, lambda one: of_gymnasium.ResizeObservation(one, size))


class TransformObservation(ObservationWrapper):
    """Observations through a function, which leaves their space as it is."""

    def __init__(self, env: Any, f: Callable[[Any], Any]) -> None:
        super().__init__(env)
        self.f = f

    def observation(self, observation: Any) -> Any:
        return self.f(observation)


class TransformReward(RewardWrapper):
    """Rewards through a function."""

    def __init__(self, env: Any, f: Callable[[Any], Any]) -> None:
        super().__init__(env)
        self.f = f

    def reward(self, reward: Any) -> Any:
        return self.f(reward)
