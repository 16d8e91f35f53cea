"""Signatures of Stable-Baselines3 and sb3-contrib: parameters and defaults are the same here."""

from __future__ import annotations

import importlib
import inspect
from collections.abc import Iterator
from inspect import Parameter
from typing import Any

from against_peers.test_names import PAIRS, public_names

from rlk_baselines.policies.classes import BasePolicy
from rlk_sb3.policy_view import PolicyView

_NOT_CONSTRUCTED = "models are constructed from the classes below it alone"
_STANDS_FOR = "stands for a part of rlk, and is not called"
_ALWAYS_FLOAT64 = "samples are float64, and there is an rng for calls"

#: Name -> why its parameters differ; docs/stable-baselines.md says what differs. Policy classes are
#: not among them: they only describe networks, and nobody calls them but rlk.
INTENDED = {
    "AtariWrapper": "the constructor has the same; __new__ hands on whatever it is given",
    "BaseAlgorithm": _NOT_CONSTRUCTED,
    "BitFlippingEnv": "rlk's images have channels last; its goals may be random",
    "DDPG": "stats_window_size, which all other models have there, too",
    "HerReplayBuffer": _STANDS_FOR,
    "NormalActionNoise": _ALWAYS_FLOAT64,
    "OffPolicyAlgorithm": _NOT_CONSTRUCTED,
    "OnPolicyAlgorithm": _NOT_CONSTRUCTED,
    "OrnsteinUhlenbeckActionNoise": _ALWAYS_FLOAT64,
    "ProgressBarCallback": "verbose, which all other callbacks have there, too",
    "RMSpropTFLike": _STANDS_FOR,
    "filter_excluded_keys": "it also takes several names of formats",
    "tile_images": "the only parameter has the name of Stable Baselines 2.10",
}

_STARS = {Parameter.VAR_POSITIONAL: "*", Parameter.VAR_KEYWORD: "**"}


def test_parameters_and_defaults_are_the_same_but_for_those_that_are_listed() -> None:
    compared = [*pairs()]
    assert len(compared) > 100
    different = {name for name, there, here in compared if parameters(there) != parameters(here)}
    assert different == {*INTENDED}


def pairs() -> Iterator[tuple[str, Any, Any]]:
    """Name, theirs and ours, of every public class and function that is here, except policies."""
    for module, path in PAIRS:
        for name in sorted(public_names(module)):
            there = getattr(module, name)
            if not _has_signature(there):
                continue
            try:
                here = getattr(importlib.import_module(path), name)
            except ImportError:  # an error that says what to write instead: see test_names
                continue
            if not (inspect.isclass(here) and issubclass(here, (BasePolicy, PolicyView))):
                yield name, there, here


def _has_signature(value: Any) -> bool:
    """Whether this is a class or function with a signature of its own."""
    own = getattr(value, "__module__", "").startswith(("stable_baselines3", "sb3_contrib"))
    is_error = inspect.isclass(value) and value.__init__ is Exception.__init__
    return own and not is_error and (inspect.isclass(value) or inspect.isfunction(value))


def parameters(value: Any) -> list[tuple[str, bool, object]]:
    """Name, whether it must be a keyword, and default of each parameter."""
    return [
        (_STARS.get(one.kind, one.name), one.kind is Parameter.KEYWORD_ONLY, _plain(one.default))
        for one in inspect.signature(value).parameters.values()
    ]


def _plain(default: object) -> object:
    """A default as it can be compared: classes of both packages have the same names."""
    return default.__name__ if inspect.isclass(default) else default
