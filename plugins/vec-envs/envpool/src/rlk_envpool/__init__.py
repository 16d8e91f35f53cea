"""The vector environment backend `envpool`: environments in the C++ threads of EnvPool."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rlk.lazy_names import lazy_names

if TYPE_CHECKING:
    from rlk_envpool.vec_env import EnvPoolVecEnv as EnvPoolVecEnv
else:
    __getattr__, __dir__, __all__ = lazy_names(
        __name__,
        {
            "EnvPoolVecEnv": "vec_env",
        },
    )
