"""Gaussian action noise for rlk."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rlk.lazy_names import lazy_names

if TYPE_CHECKING:
    from rlk_normal_noise.action_noise import NormalActionNoise as NormalActionNoise
else:
    # On first use: it needs numpy, and planning does not.
    __getattr__, __dir__, __all__ = lazy_names(
        __name__,
        {
            "NormalActionNoise": "action_noise",
        },
    )
