"""Stable Baselines' object for Gaussian noise, as it is passed from Python."""

from __future__ import annotations

import attrs
import numpy as np

from rlk.records import Array
from rlk.settings import PluginText
from rlk_action_scaling import as_numbers, as_setting


@attrs.define(eq=False)
class NormalActionNoise:
    """Gaussian noise: `TD3(…, action_noise=NormalActionNoise(np.zeros(2), 0.1 * np.ones(2)))`.

    A run takes its settings. Called, the object gives a sample of its own.

    Args:
        mean, sigma: numbers, one for all dimensions of an action or one for each; sigma at least 0.
        rng: what calls draw from.
    """

    mean: Array = attrs.field(converter=as_numbers)
    sigma: Array = attrs.field(converter=as_numbers)
    rng: np.random.Generator = attrs.field(factory=np.random.default_rng, kw_only=True, repr=False)

    def __call__(self) -> Array:
        """A sample, float64 [D]."""
        return self.rng.normal(self.mean, self.sigma)

    def reset(self) -> None:
        """Nothing: a sample depends on no other; it is called where an episode starts."""

    def as_setting(self) -> str:
        """The plugin that it stands for, as `--plugin` takes it."""
        mean, sigma = as_setting(self.mean), as_setting(self.sigma)
        return PluginText.of("normal-noise", mean=mean, sigma=sigma)
