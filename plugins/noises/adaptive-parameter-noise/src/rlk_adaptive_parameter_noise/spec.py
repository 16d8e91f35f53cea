"""Stable Baselines' object for parameter noise, as it is passed from Python."""

from __future__ import annotations

import attrs

from rlk.settings import PluginText, above
from rlk_adaptive_parameter_noise.distance import adapted


@attrs.define
class AdaptiveParamNoiseSpec:
    """Parameter noise that adapts: `DDPG(…, param_noise=AdaptiveParamNoiseSpec(0.1, 0.1))`.

    A run takes its three settings; the run's metrics have the current strength of its noise.

    Args:
        initial_stddev: of the noise, above 0.
        desired_action_stddev: the desired distance, above 0, for actions in -1 to 1.
        adoption_coefficient: factor of a change, above 1.

    Attributes:
        current_stddev: of the noise, as `adapt` has left it.
    """

    initial_stddev: float = attrs.field(default=0.1, converter=float, validator=above(0.0))
    desired_action_stddev: float = attrs.field(default=0.1, converter=float, validator=above(0.0))
    adoption_coefficient: float = attrs.field(default=1.01, converter=float, validator=above(1.0))
    current_stddev: float = attrs.field(init=False)

    def __attrs_post_init__(self) -> None:
        self.current_stddev = self.initial_stddev

    def adapt(self, distance: float) -> None:
        """Change the standard deviation, after noise with it has led to this distance."""
        self.current_stddev = adapted(
            self.current_stddev, distance, self.desired_action_stddev, self.adoption_coefficient
        )

    def get_stats(self) -> dict[str, float]:
        """The current standard deviation, as `param_noise_stddev`."""
        return {"param_noise_stddev": self.current_stddev}

    def as_setting(self) -> str:
        """The text that stands for it in `--plugin`."""
        names = ("initial_stddev", "desired_action_stddev", "adoption_coefficient")
        values = {name: getattr(self, name) for name in names}
        return PluginText.of("adaptive-parameter-noise", **values)
