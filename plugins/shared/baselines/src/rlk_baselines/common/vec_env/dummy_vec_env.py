"""`DummyVecEnv`: environments in this process, one after the other."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from rlk_baselines.common.vec_env.four_values import FourValues
from rlk_baselines.common.vec_env.making import Make
from rlk_dummy import DummyVecEnv as Backend


class DummyVecEnv(FourValues):
    """A vector of environments in this process, by rlk's backend `dummy`.

    Args:
        env_fns: functions without arguments, each of which makes an environment of its own, of
            gym's interface or Gymnasium's.

    Attributes:
        one: the environment that a model was given alone, and steps in this vector; else None.
    """

    one: Any = None

    def __init__(self, env_fns: Sequence[Callable[[], Any]]) -> None:
        super().__init__(Backend([Make(one) for one in env_fns], info_keys=None))

    @property
    def envs(self) -> list[Any]:
        """The environments as the functions made them."""
        return [env.env for env in self.vector.envs]
