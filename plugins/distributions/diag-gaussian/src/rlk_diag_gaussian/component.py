"""What this distribution package offers: `diag-gaussian`."""

from __future__ import annotations

from rlk.component import Component
from rlk_diag_gaussian.config import DiagGaussianConfig

component = Component(
    name="diag-gaussian",
    factory="rlk_diag_gaussian.distribution:DiagGaussian",
    summary="independent Gaussian actions with a learnt, state-independent standard deviation",
    config=DiagGaussianConfig,
    action_spaces=("Box",),
)
