"""The returns of an environment itself, whatever its wrappers make of the rewards.

Monitors and collectors are outside of all wrappers of one environment. Where one of these may
change rewards, two layers are put in: inside of the first such wrapper, `OwnRewards` adds up what
the environment gives; outside of all, `OwnReturns` puts the sum into the last info of an episode,
where `rlk.episode_ends.reported_return` finds it. What an environment reports there itself stays.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import gymnasium as gym
import numpy as np

from rlk.episode_ends import is_report
from rlk.planning.choice import Choice

#: Wrappers of these classes pass rewards on in `step`.
_PASS_REWARDS_ON = (gym.ObservationWrapper, gym.ActionWrapper)


def may_change_returns(wrapper: Choice) -> bool:
    """Whether the return of an episode may be another outside of this wrapper than inside.

    It may unless its component says `keeps_returns`, or it is one of Gymnasium's observation or
    action wrappers and leaves `step` as it is. Any other class may put in wrappers of rewards.
    """
    if wrapper.component.keeps_returns:
        return False
    factory: Any = wrapper.load()
    made = getattr(factory, "func", factory)  # of a partial
    if not isinstance(made, type):
        return True
    step = getattr(made, "step", None)
    return not any(issubclass(made, one) and step is one.step for one in _PASS_REWARDS_ON)


class _Unseen(gym.Wrapper[Any, Any, Any, Any]):
    """A layer with the public attributes of what is inside of it, as if it were not there."""

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_") or name == "env":
            raise AttributeError(f"{type(self).__name__} has no attribute {name!r}")
        return getattr(self.env, name)

    def __setattr__(self, name: str, value: Any) -> None:
        if name.startswith("_") or name == "env":
            super().__setattr__(name, value)
        else:
            setattr(self.env, name, value)

    def reset(self, **keywords: Any) -> Any:
        """As inside, where `reset` may take other keywords than Gymnasium's."""
        return self.env.reset(**keywords)


class OwnRewards(_Unseen):
    """Adds up the rewards that wrappers outside of it are given."""

    def __init__(self, env: gym.Env[Any, Any]) -> None:
        super().__init__(env)
        self.rlk_begin()

    def rlk_begin(self) -> None:
        """Begin a new sum."""
        self._return, self._has_stepped = 0.0, False

    def step(self, action: Any) -> Any:
        result: Any = self.env.step(action)
        self._has_stepped = True
        try:
            self._return += float(np.asarray(result[1]).item())
        except (TypeError, ValueError, LookupError):
            self._return = math.nan  # several rewards, of which a wrapper outside makes one
        return result

    def rlk_return(self) -> float | None:
        """The sum since `rlk_begin`; None unless it is finite.

        None also if there was no step: then the wrapper outside steps the environment in another
        way.
        """
        return self._return if self._has_stepped and math.isfinite(self._return) else None


class OwnReturns(_Unseen):
    """Reports the environment's own return and the number of steps where an episode ends.

    Steps that a wrapper takes in `reset` are not counted. Where a game goes on after an end
    (`rlk.episode_ends`), the sum goes on, too.

    Args:
        env: an environment in all of its wrappers.
        rewards: a layer of it.
    """

    def __init__(self, env: gym.Env[Any, Any], rewards: OwnRewards) -> None:
        super().__init__(env)
        self._begin: Callable[[], None] = rewards.rlk_begin
        self._own_return: Callable[[], float | None] = rewards.rlk_return
        self._length, self._goes_on = 0, False

    def reset(self, **keywords: Any) -> Any:
        result = self.env.reset(**keywords)
        if not self._goes_on or keywords.get("seed") is not None:
            self._begin()
            self._length = 0
        self._goes_on = False
        return result

    def step(self, action: Any) -> Any:
        result: Any = self.env.step(action)
        self._length += 1
        match result:  # a result of another form is refused by who asked for the step
            case (observation, reward, terminated, truncated, dict() as info) if (
                terminated or truncated
            ):
                return observation, reward, terminated, truncated, self._with_report(info)
        return result

    def _with_report(self, info: dict[str, Any]) -> dict[str, Any]:
        """The last info of an episode, with the report, unless somebody inside has made one."""
        self._goes_on = bool(info.get("goes_on"))
        return_ = self._own_return()
        if self._goes_on or return_ is None or is_report(info.get("episode")):
            return info
        return {**info, "episode": {"r": return_, "l": self._length}}
