"""Makes an environment of either interface for a vector, in this process or in a worker."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import attrs

from rlk.errors import PlanError
from rlk_baselines.environments.five_values import ShownEnv


@attrs.frozen
class Make:
    """Wraps a function of `env_fns`, so that its environment has Gymnasium's interface.

    Raises:
        PlanError: if it is not callable, for example an environment instead of a function.
    """

    env_fn: Callable[[], Any]

    def __attrs_post_init__(self) -> None:
        if not callable(self.env_fn):
            raise PlanError(
                f"env_fns holds {type(self.env_fn).__name__}, not a function that makes an "
                "environment. Write DummyVecEnv([lambda: env])."
            )

    def __call__(self) -> ShownEnv:
        made = self.env_fn()
        return made if isinstance(made, ShownEnv) else ShownEnv(made)


def makers(env_fns: Any) -> list[Make]:
    """What a vector's backend makes its environments by.

    Raises:
        PlanError: if `env_fns` is one function or one environment, not a list of functions.
    """
    if not isinstance(env_fns, Iterable):
        one = "env_fn" if callable(env_fns) else "lambda: env"
        raise PlanError(
            f"env_fns is {type(env_fns).__name__}, not a list of functions that make an "
            f"environment each. Write DummyVecEnv([{one}])."
        )
    return [Make(one) for one in env_fns]
