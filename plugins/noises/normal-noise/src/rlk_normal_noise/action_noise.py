"""Stable Baselines' object for Gaussian noise, as it is passed from Python."""

from __future__ import annotations

from typing import Any

import attrs
import numpy as np

from rlk.errors import PlanError
from rlk.records import Array
from rlk.settings import PluginText
from rlk_action_scaling import as_numbers, as_setting, common_size, hold_read_only
from rlk_action_scaling.validators import fixed, not_negative

#: What is done where a setting is set after the construction.
_ON_SET: list[Any] = [fixed, attrs.setters.convert, attrs.setters.validate]


@attrs.define(eq=False)
class NormalActionNoise:
    """Gaussian noise: `TD3(…, action_noise=NormalActionNoise(np.zeros(2), 0.1 * np.ones(2)))`.

    A run takes its settings. A call of the object returns a separate sample.

    Args:
        mean, sigma: numbers, one for all dimensions of an action or one for each; sigma at least 0.
        rng: the generator for calls.

    Raises:
        ValueError: for a sigma below 0, or a different number of sigmas and means.
        AttributeError: if mean or sigma is set afterwards, except in a derived class. Their arrays
            are read-only.
    """

    mean: Array = attrs.field(converter=as_numbers, on_setattr=_ON_SET)
    sigma: Array = attrs.field(converter=as_numbers, validator=not_negative, on_setattr=_ON_SET)
    rng: np.random.Generator = attrs.field(factory=np.random.default_rng, kw_only=True, repr=False)

    def __attrs_post_init__(self) -> None:
        hold_read_only(self)
        common_size("NormalActionNoise", {"mean": self.mean, "sigma": self.sigma})

    def __call__(self) -> Array:
        """A sample, float64 [D]."""
        return self.sample(self.rng)

    def sample(self, rng: np.random.Generator) -> Array:
        """As a call, drawn from this generator."""
        return np.asarray(rng.normal(self.mean, self.sigma))

    def reset(self) -> None:
        """Nothing, because samples are independent; called at the start of an episode."""

    def as_setting(self) -> str:
        """The text that stands for it in `--plugin`.

        Raises:
            PlanError: for a class derived from this one, because a plugin cannot have its methods.
        """
        if type(self) is not NormalActionNoise:
            raise PlanError(
                f"{type(self).__name__} is derived from NormalActionNoise, and a run takes "
                "the settings alone: it would not call it. Pass it to a model of rlk_baselines, "
                "which does, or write a noise: rlk plugins new NAME --kind noise."
            )
        mean, sigma = as_setting(self.mean), as_setting(self.sigma)
        return PluginText.of("normal-noise", mean=mean, sigma=sigma)
