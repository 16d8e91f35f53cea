"""Converts `optimizer_class` and `optimizer_kwargs` of `policy_kwargs` to rlk's optimisers."""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from typing import Any

import torch
from torch.optim import Adam

from rlk.errors import either
from rlk_baselines.refusals import Refused
from rlk_torch_optim.config import ARGUMENTS

CLASS, KEYWORDS = "optimizer_class", "optimizer_kwargs"
#: The epsilon of PyTorch's Adam.
_EPSILON = 1e-8


def optimiser_settings(kwargs: Mapping[str, Any], own: Any, epsilon: float) -> dict[str, Any]:
    """The settings of rlk for the optimiser that `policy_kwargs` ask for.

    Args:
        kwargs: `policy_kwargs`. As in Stable-Baselines3, `optimizer_kwargs` without `eps` mean
            PyTorch's epsilon.
        own: the class of the model's optimiser, where they have no other.
        epsilon: its own epsilon.

    Raises:
        Refused: for a class that rlk does not have, or a keyword that the class does not take.
    """
    kind, given = _class_in(kwargs) or own, kwargs.get(KEYWORDS)
    if is_other(kwargs, own, epsilon):
        return _of_torch(kind, given or {})
    if kind is not Adam or given is None:
        return {}
    asked = {"eps": _EPSILON, **given}
    return {} if asked == {"eps": epsilon} else {f"adam.{key}": asked[key] for key in asked}


def is_other(kwargs: Mapping[str, Any], own: Any, epsilon: float) -> bool:
    """Whether they ask for another optimiser than the model's own; arguments as above."""
    kind, given = _class_in(kwargs) or own, kwargs.get(KEYWORDS) or {}
    if kind is Adam is own:
        return bool(given.keys() - {"eps", "betas"})
    return kind is not own or given not in ({}, {"eps": epsilon})


def held(kwargs: Mapping[str, Any]) -> dict[str, Any]:
    """`policy_kwargs` for a file: the class of an optimiser by its name, without Adam."""
    rest = {key: value for key, value in kwargs.items() if key != CLASS}
    kind = _class_in(kwargs)
    return rest if kind in (None, Adam) else {**rest, CLASS: name_of(kind)}


def name_of(kind: Any) -> str:
    """The name of a class, which may be given by it."""
    return str(getattr(kind, "__name__", kind))


def _class_in(kwargs: Mapping[str, Any]) -> Any:
    """The class that they name, which files hold by its name; None if they name none."""
    asked = kwargs.get(CLASS)
    return getattr(torch.optim, asked, asked) if isinstance(asked, str) else asked


def _of_torch(kind: Any, given: Mapping[str, Any]) -> dict[str, Any]:
    """`torch-optim` for a class of torch.optim, with all its arguments."""
    name = name_of(kind)
    of_torch: Any = getattr(torch.optim, name, None)
    if kind is not of_torch or name not in ARGUMENTS:
        asked = f"{CLASS}={name} with {', '.join(given) or 'no keywords'}"
        raise Refused(
            f"policy_kwargs has {asked}, and models here learn by a class of torch.optim "
            f"({either([*ARGUMENTS])}), or A2C by RMSpropTFLike with an eps. Others are plugins of "
            "rlk: rlk.make(…, optimiser=NAME)."
        )
    taken = ARGUMENTS[name]
    if unknown := sorted(given.keys() - {*taken}):
        raise Refused(
            f"policy_kwargs has {KEYWORDS} with {unknown[0]}, and {name} takes "
            f"{', '.join(taken)} here. Leave it out."
        )
    usual = inspect.signature(of_torch).parameters
    arguments = {**{key: usual[key].default for key in taken}, **given}
    return {
        "optimiser": "torch-optim",
        "torch-optim.kind": name,
        "torch-optim.arguments": arguments,
    }
