"""The vector environment backend `dummy`: all environments in this process, one after the other."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rlk.lazy_names import lazy_names

if TYPE_CHECKING:
    from rlk_dummy.vec_env import DummyVecEnv as DummyVecEnv
else:
    __getattr__, __dir__, __all__ = lazy_names(
        __name__,
        {
            "DummyVecEnv": "vec_env",
        },
    )
