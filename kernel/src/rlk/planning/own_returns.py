"""The returns of an environment itself, whatever its wrappers make of the rewards.

Monitors and collectors are outside of all wrappers of one environment. Where one of these may
change rewards, a layer inside of the first such wrapper, `OwnRewards`, adds up what it is given. A
layer outside of all, `OwnReturns`, puts the sum into the last info of an episode, where
`rlk.episode_ends.reported_return` finds it. What an environment reports there itself stays.
"""

from __future__ import annotations

import math
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


class OwnRewards(gym.Wrapper[Any, Any, Any, Any]):
    """Adds up the rewards that an environment gives to whoever steps it.

    All attributes of the environment can be read and set through it, private ones too.
    """

    def __init__(self, env: gym.Env[Any, Any]) -> None:
        super().__init__(env)
        self._rlk_begin()  # the last of its own attributes, which `__setattr__` goes by

    def __getattr__(self, name: str) -> Any:
        if name == "env" or name.startswith("__"):  # asked for while a copy is made
            raise AttributeError(name)
        return getattr(self.env, name)

    def __setattr__(self, name: str, value: Any) -> None:
        own = vars(self)
        if name in own or "_rlk_added" not in own:
            super().__setattr__(name, value)
        else:
            setattr(self.env, name, value)

    def set_wrapper_attr(self, name: str, value: Any, *, force: bool = True) -> bool:
        return self.env.set_wrapper_attr(name, value, force=force)

    def _rlk_begin(self) -> None:
        """Begin a new sum."""
        self._rlk_added: float | None = None

    def _rlk_sum(self) -> float | None:
        """The sum since it began; None if there was no step, NaN if a reward was not one number."""
        return self._rlk_added

    def step(self, action: Any) -> Any:
        result: Any = self.env.step(action)
        self._rlk_added = (self._rlk_added or 0.0) + _number(result)
        return result


def _number(result: Any) -> float:
    """The reward of a step; NaN for several rewards, of which a wrapper outside makes one."""
    try:
        return float(np.asarray(result[1]).item())
    except (TypeError, ValueError, LookupError):
        return math.nan


class OwnReturns(gym.Wrapper[Any, Any, Any, Any]):
    """Reports the environment's own return and the number of steps where an episode ends.

    It has the public attributes of what is inside of it, as if it were not there. Steps that a
    wrapper takes in `reset` are not counted. Where a game goes on after an end
    (`rlk.episode_ends`), the sum goes on, too.

    Args:
        env: an environment in all of its wrappers.
        rewards: those of the environment inside of the first wrapper that may change them.
    """

    def __init__(self, env: gym.Env[Any, Any], rewards: OwnRewards) -> None:
        super().__init__(env)
        # Methods, because a saved state of the environment leaves these to a new environment.
        self._rlk_begin, self._rlk_sum = rewards._rlk_begin, rewards._rlk_sum
        self._rlk_return: float | None = None  # until the environment has been stepped
        self._rlk_length, self._rlk_goes_on = 0, False

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
        self._rlk_begin()
        result = self.env.reset(**keywords)
        if self._rlk_goes_on and keywords.get("seed") is None:
            self._add()
        else:
            self._rlk_return, self._rlk_length = None, 0
        self._rlk_goes_on = False
        return result

    def step(self, action: Any) -> Any:
        self._rlk_begin()
        result: Any = self.env.step(action)
        self._add()
        self._rlk_length += 1
        match result:  # a result of another form is refused by who asked for the step
            case (observation, reward, terminated, truncated, dict() as info) if (
                terminated or truncated
            ):
                return observation, reward, terminated, truncated, self._with_report(info)
        return result

    def _add(self) -> None:
        """Add the rewards of this call to the return, if the environment was stepped in it."""
        added = self._rlk_sum()
        if added is not None:
            self._rlk_return = (self._rlk_return or 0.0) + added

    def _with_report(self, info: dict[str, Any]) -> dict[str, Any]:
        """The last info of an episode, with the report, unless somebody inside has made one.

        Without it also if no step was seen, so that the wrapper outside steps the environment in
        another way, or if the return is not finite.
        """
        self._rlk_goes_on = bool(info.get("goes_on"))
        is_known = self._rlk_return is not None and math.isfinite(self._rlk_return)
        if self._rlk_goes_on or not is_known or is_report(info.get("episode")):
            return info
        return {**info, "episode": {"r": self._rlk_return, "l": self._rlk_length}}
