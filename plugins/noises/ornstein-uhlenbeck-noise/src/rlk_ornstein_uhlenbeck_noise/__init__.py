"""Ornstein-Uhlenbeck action noise for rlk."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from rlk_ornstein_uhlenbeck_noise.action_noise import OrnsteinUhlenbeckActionNoise

__all__ = ["OrnsteinUhlenbeckActionNoise"]


def __getattr__(name: str) -> Any:
    """Import the object when it is first used: it needs numpy, and planning does not."""
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from rlk_ornstein_uhlenbeck_noise.action_noise import OrnsteinUhlenbeckActionNoise

    return OrnsteinUhlenbeckActionNoise
