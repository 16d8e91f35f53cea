"""Classes of Stable Baselines 2.10 for users who wrap environments themselves.

No component of rlk uses these classes; they use the same parts of `rlk_wrappers` as components.
"""

from __future__ import annotations

from rlk_wrappers.stable_baselines.monitor import Monitor
from rlk_wrappers.stable_baselines.vec_normalize import VecNormalize

__all__ = ["Monitor", "VecNormalize"]
