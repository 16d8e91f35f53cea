"""Adaptive parameter noise for rlk."""

from rlk_adaptive_parameter_noise.spec import AdaptiveParamNoiseSpec

__all__ = ["AdaptiveParamNoiseSpec"]
