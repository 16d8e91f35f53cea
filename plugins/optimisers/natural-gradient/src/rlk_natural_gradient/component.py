"""What this distribution offers: `natural-gradient`."""

from __future__ import annotations

from rlk.component import Component
from rlk_natural_gradient.config import NaturalGradientConfig

component = Component(
    name="natural-gradient",
    factory="rlk_natural_gradient.step:NaturalGradient",
    summary="the natural gradient within a trust region: conjugate gradient and a line search",
    config=NaturalGradientConfig,
    reports=("natural_gradient", "trust_region", "line_search"),
)
