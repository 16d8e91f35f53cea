"""Makes an environment of either interface for a vector, in this process or in a worker."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import attrs

from rlk.errors import PlanError
from rlk_baselines.environments.five_values import FiveValues


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

    def __call__(self) -> FiveValues:
        made = self.env_fn()
        return made if isinstance(made, FiveValues) else FiveValues(made)
