"""What this distribution offers: `natural-gradient`."""

from __future__ import annotations

from rlk.component import Component
from rlk_natural_gradient.config import NaturalGradientConfig

component = Component(
    name="natural-gradient",
    factory="rlk_natural_gradient.step:NaturalGradient",
    summary="the natural gradient within a trust region: conjugate gradient and a line search",
    config=NaturalGradientConfig,
    instead_of={
        "line_search_max_iter": "line_search_steps={value}",
        "line_search_shrinking_factor": "line_search_factor={value}",
    },
    reports=("natural_gradient", "trust_region", "line_search"),
)
