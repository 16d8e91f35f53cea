"""Ornstein-Uhlenbeck action noise for rlk."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rlk.lazy_names import lazy_names

if TYPE_CHECKING:
    from rlk_ornstein_uhlenbeck_noise.action_noise import (
        OrnsteinUhlenbeckActionNoise as OrnsteinUhlenbeckActionNoise,
    )
else:
    # On first use: it needs numpy, and planning does not.
    __getattr__, __dir__, __all__ = lazy_names(
        __name__,
        {
            "OrnsteinUhlenbeckActionNoise": "action_noise",
        },
    )
