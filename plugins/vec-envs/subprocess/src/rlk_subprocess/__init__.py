"""The vector environment backend `subprocess`: environments in worker processes, shared memory."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rlk.lazy_names import lazy_names

if TYPE_CHECKING:
    from rlk_subprocess.vec_env import SubprocVecEnv as SubprocVecEnv
else:
    __getattr__, __dir__, __all__ = lazy_names(
        __name__,
        {
            "SubprocVecEnv": "vec_env",
        },
    )
