"""Converts a model's noise arguments to noise objects, as Stable Baselines has them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import attrs
import numpy as np

from rlk import hookimpl
from rlk.planning.parse import parse_plugin
from rlk.records import Array
from rlk.registry.kernel import default_kernel
from rlk.settings import structure
from rlk_adaptive_parameter_noise import AdaptiveParamNoiseSpec
from rlk_adaptive_parameter_noise.noise import AdaptiveParameterNoise
from rlk_baselines.common.own_noise import drawn
from rlk_baselines.refusals import Refused
from rlk_normal_noise import NormalActionNoise
from rlk_ornstein_uhlenbeck_noise import OrnsteinUhlenbeckActionNoise

if TYPE_CHECKING:
    from rlk.running.run import Run

#: Noise of rlk -> the class of its objects.
_CLASSES: dict[str, Any] = {
    "normal-noise": NormalActionNoise,
    "ornstein-uhlenbeck-noise": OrnsteinUhlenbeckActionNoise,
    "adaptive-parameter-noise": AdaptiveParamNoiseSpec,
}
#: Arguments of models that are noises.
_ARGUMENTS = ("action_noise", "param_noise")


def with_objects(given: dict[str, Any]) -> dict[str, Any]:
    """The arguments of a model, with objects in place of strings that name noises of rlk."""
    found = {name: as_object(given[name]) for name in _ARGUMENTS if name in given}
    return {**given, **found}


def as_object(noise: Any) -> Any:
    """The object for a string such as `normal-noise:sigma=0.1`; anything else is returned as it is.

    A string is also returned as it is if no object can express it.
    """
    noises = default_kernel().registries.noises
    name, settings = parse_plugin(noise) if isinstance(noise, str) else ("", {})
    if name not in noises:
        return noise
    component = noises.get(name).component()
    kind = _CLASSES.get(component.name)
    if kind is None or settings.keys() - attrs.fields_dict(kind).keys():
        return noise
    config = attrs.asdict(structure(component.config, settings, f"noise {name!r}"))
    return kind(**{key: value for key, value in config.items() if key in _arguments(kind)})


def _arguments(kind: Any) -> set[str]:
    return {one.name for one in attrs.fields(kind) if one.init}


def samples(action_noise: Any, rng: np.random.Generator, n: int) -> Array:
    """The samples of an action noise in n calls, float32 [n, D] or [n, 1].

    Args:
        action_noise: the object.
        rng: the generator for noises of rlk (see `drawn`); those of a program do as they like.
        n: the number of samples.

    Raises:
        Refused: for a string, which stands for a noise without an object.
    """
    if isinstance(action_noise, str):
        raise Refused(
            f"predict(deterministic=False) cannot draw from the noise {action_noise!r}: pass an "
            "object of rlk_baselines.common.noise to the model, or predict deterministically."
        )
    return np.stack([drawn(action_noise, rng) for _ in range(n)])


def parameter_noise(run: Any) -> AdaptiveParameterNoise | None:
    """The run's adaptive parameter noise, or None."""
    found = (one for one in run.noises.values() if isinstance(one, AdaptiveParameterNoise))
    return next(found, None)


def show_strength(param_noise: Any, run: Any) -> None:
    """Write the strength of a run's noise to the model's `param_noise`, if that is such an object.

    Stable Baselines 2.10 adapts the object itself, where callbacks read it.
    """
    if isinstance(param_noise, AdaptiveParamNoiseSpec):
        noise = parameter_noise(run)
        assert noise is not None
        param_noise.current_stddev = noise.actor.latest["stddev"]


class ShownStrength:
    """A plugin that calls `show_strength` after every step, before callbacks.

    Args:
        param_noise: the object.
    """

    def __init__(self, param_noise: AdaptiveParamNoiseSpec) -> None:
        self._param_noise = param_noise

    @hookimpl(tryfirst=True)
    def rlk_step(self, run: Run) -> None:
        show_strength(self._param_noise, run)
