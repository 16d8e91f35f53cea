"""The natural gradient for rlk: `NaturalGradientConfig` has its settings."""

from rlk_natural_gradient.config import NaturalGradientConfig

__all__ = ["NaturalGradientConfig"]
