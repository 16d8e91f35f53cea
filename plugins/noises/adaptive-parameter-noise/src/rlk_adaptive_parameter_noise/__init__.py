"""Adaptive parameter noise for rlk."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from rlk_adaptive_parameter_noise.spec import AdaptiveParamNoiseSpec

__all__ = ["AdaptiveParamNoiseSpec"]


def __getattr__(name: str) -> Any:
    """Import the object when it is first used: it needs numpy, and planning does not."""
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from rlk_adaptive_parameter_noise.spec import AdaptiveParamNoiseSpec

    return AdaptiveParamNoiseSpec
