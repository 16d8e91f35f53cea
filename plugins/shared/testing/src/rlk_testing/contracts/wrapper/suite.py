"""What the checks of a wrapper share: how they make one."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

import gymnasium as gym

from rlk.registry.hooks import Hooks
from rlk_testing.contracts.shared.run_contract import RunContract
from rlk_testing.contracts.vec_env.plain_loop import makers
from rlk_testing.contracts.wrapper.watched_vec_env import WatchedVecEnv
from rlk_testing.environments import Walk

_BY_NAME = {"Box": {}, "Dict": {"observation": "dict"}, "Image": {"observation": "image"}}
#: How many environments the vectors have.
N_ENVS = 2


class WrapperSuite(RunContract):
    """Makes the wrapper around `environments.Walk`."""

    kind = "wrappers"
    walk: ClassVar[Mapping[str, Any]] = {}

    def keywords(self) -> dict[str, Any]:
        """Keywords of the `Walk` inside: those that its observation spaces need, and `walk`."""
        declared = self.record().observation_spaces
        first: Mapping[str, Any] = _BY_NAME.get(declared[0], {}) if declared else {}
        return {**first, **self.walk}

    def around_one(self) -> gym.Env[Any, Any]:
        return self.made(Walk(**self.keywords()))

    def around_many(self, training: bool = True, out: str | None = None, **walk: Any) -> Any:
        """The wrapper around a `WatchedVecEnv` of walks, with these keywords besides their own.

        If the walks have infos, the vector keeps the number of steps.
        """
        keywords = {**self.keywords(), **walk}
        info_keys = ("steps",) if keywords.get("infos") else ()
        vector = WatchedVecEnv(makers(N_ENVS, **keywords), info_keys)
        return self.made(vector, training=training, out=out, hooks=Hooks())
