"""Stable Baselines' object for Ornstein-Uhlenbeck noise, as it is passed from Python."""

from __future__ import annotations

from typing import Any

import attrs
import numpy as np

from rlk.errors import PlanError
from rlk.records import Array
from rlk.settings import PluginText
from rlk_action_scaling import as_numbers, as_setting, common_size, hold_read_only
from rlk_action_scaling.validators import fixed, not_negative
from rlk_ornstein_uhlenbeck_noise.noise import process_step

#: What is done where a setting is set after the construction.
_ON_SET: list[Any] = [fixed, attrs.setters.convert, attrs.setters.validate]


@attrs.define(eq=False)
class OrnsteinUhlenbeckActionNoise:
    """Correlated noise: `TD3(…, action_noise=OrnsteinUhlenbeckActionNoise(np.zeros(2), 0.1))`.

    A run takes its settings, and has a process for each environment. A call of the object advances
    the object's own process.

    Args:
        mean, sigma: numbers, one for all dimensions of an action or one for each; sigma at least 0.
        theta: rate of return to the mean. dt: the time of a step.
        initial_noise: the initial value of the process, one number or one for each; None is 0.
        rng: the generator for calls.

    Raises:
        ValueError: for a sigma below 0, or where two of mean, sigma and initial_noise are for
            different numbers of dimensions.
        AttributeError: if a setting is set afterwards, except in a derived class. Their arrays are
            read-only.
    """

    mean: Array = attrs.field(converter=as_numbers, on_setattr=_ON_SET)
    sigma: Array = attrs.field(converter=as_numbers, validator=not_negative, on_setattr=_ON_SET)
    theta: float = attrs.field(default=0.15, converter=float, on_setattr=_ON_SET)
    dt: float = attrs.field(default=0.01, converter=float, on_setattr=_ON_SET)
    initial_noise: Array | None = attrs.field(
        default=None, converter=attrs.converters.optional(as_numbers), on_setattr=_ON_SET
    )
    rng: np.random.Generator = attrs.field(factory=np.random.default_rng, kw_only=True, repr=False)
    _x: Array = attrs.field(init=False, repr=False)

    def __attrs_post_init__(self) -> None:
        hold_read_only(self)
        self.reset()

    def __call__(self) -> Array:
        """The next value of the process, float64 [D]."""
        return self.sample(self.rng)

    def sample(self, rng: np.random.Generator) -> Array:
        """As a call, drawn from this generator."""
        normal = np.asarray(rng.standard_normal(self._x.shape))
        self._x = process_step(self._x, normal, self.mean, self.sigma, self.theta, self.dt)
        return self._x

    def reset(self) -> None:
        """Restart the process, as at the start of an episode."""
        begin = np.zeros(1) if self.initial_noise is None else self.initial_noise
        numbers = {"mean": self.mean, "sigma": self.sigma, "initial_noise": begin}
        self._x = np.resize(begin, common_size("OrnsteinUhlenbeckActionNoise", numbers))

    def as_setting(self) -> str:
        """The text that stands for it in `--plugin`.

        Raises:
            PlanError: for a class derived from this one, because a plugin cannot have its methods.
        """
        if type(self) is not OrnsteinUhlenbeckActionNoise:
            raise PlanError(
                f"{type(self).__name__} is derived from OrnsteinUhlenbeckActionNoise, and a run "
                "takes the settings alone: it would not call it. Pass it to a model of "
                "rlk_baselines, which does, or write a noise: rlk plugins new NAME --kind noise."
            )
        values = {"mean": self.mean, "sigma": self.sigma}
        if self.initial_noise is not None:
            values["initial_noise"] = self.initial_noise
        lists = {name: as_setting(value) for name, value in values.items()}
        return PluginText.of("ornstein-uhlenbeck-noise", **lists, theta=self.theta, dt=self.dt)
