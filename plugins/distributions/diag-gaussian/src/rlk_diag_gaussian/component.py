"""What this distribution package offers: `diag-gaussian`."""

from __future__ import annotations

from rlk.component import Component
from rlk_diag_gaussian.config import DiagGaussianConfig

component = Component(
    name="diag-gaussian",
    factory="rlk_diag_gaussian.distribution:DiagGaussian",
    summary="continuous actions, independent, with a spread that is learnt for all states alike",
    config=DiagGaussianConfig,
    action_spaces=("Box",),
)
