"""Classes of Stable Baselines 2.10 for users who wrap environments themselves.

No component of rlk uses these classes; they use the same parts of `rlk_wrappers` as components.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from rlk.lazy_names import lazy_names

if TYPE_CHECKING:
    from rlk_wrappers.stable_baselines.monitor import Monitor as Monitor
    from rlk_wrappers.stable_baselines.vec_normalize import VecNormalize as VecNormalize
else:
    # On first use: `VecNormalize` imports torch, which a worker that makes a Monitor need not.
    __getattr__, __dir__, __all__ = lazy_names(
        __name__,
        {
            "Monitor": "monitor",
            "VecNormalize": "vec_normalize",
        },
    )
