"""`DummyVecEnv`: environments that are stepped in this process, one after the other."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from rlk_baselines.common.vec_env.making import makers
from rlk_baselines.common.vec_env.vector_view import VectorView
from rlk_baselines.environments.own_exceptions import own_exceptions
from rlk_dummy import DummyVecEnv as Backend


class DummyVecEnv(VectorView):
    """A vector of environments in this process, on rlk's backend `dummy`.

    Args:
        env_fns: functions without arguments. Each makes a new environment, with the interface of
            gym or Gymnasium.

    Attributes:
        one: if a model made this vector around a single environment, that environment; else None.
    """

    has_our_envs = True
    one: Any = None

    def __init__(self, env_fns: Sequence[Callable[[], Any]]) -> None:
        with own_exceptions():
            backend = Backend(makers(env_fns), info_keys=None)
        super().__init__(backend)

    @property
    def envs(self) -> list[Any]:
        """The environments that the functions made."""
        return [env.env for env in self.vector.envs]
