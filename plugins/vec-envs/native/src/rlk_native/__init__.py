"""The vector environment backend `native`: environments with a vectorised implementation."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rlk.lazy_names import lazy_names

if TYPE_CHECKING:
    from rlk_native.vec_env import NativeVecEnv as NativeVecEnv
else:
    __getattr__, __dir__, __all__ = lazy_names(
        __name__,
        {
            "NativeVecEnv": "vec_env",
        },
    )
