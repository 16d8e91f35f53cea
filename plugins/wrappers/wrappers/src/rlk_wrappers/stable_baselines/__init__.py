"""Classes of Stable Baselines 2.10 for users who wrap environments themselves.

No component of rlk uses these classes; they use the same parts of `rlk_wrappers` as components.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rlk_wrappers.stable_baselines.monitor import Monitor

if TYPE_CHECKING:
    from rlk_wrappers.stable_baselines.vec_normalize import VecNormalize

__all__ = ["Monitor", "VecNormalize"]


def __getattr__(name: str) -> Any:
    if name != "VecNormalize":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    # Not at the top: it imports torch, which a worker that makes a monitored environment need not.
    from rlk_wrappers.stable_baselines.vec_normalize import VecNormalize

    return VecNormalize
