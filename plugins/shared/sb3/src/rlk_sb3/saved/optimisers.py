"""The optimiser of a model in a file of Stable-Baselines3, which `policy_kwargs` hold there."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from rlk_baselines.foreign_files.inert_pickle import path_of
from rlk_sb3.optimisers import CLASS, KEYWORDS
from rlk_torch_optim.config import ARGUMENTS

#: Keywords of RMSprop -> the values that A2C of Stable-Baselines3 gives them.
_OF_RMSPROP = {"alpha": 0.99, "weight_decay": 0}
#: The classes whose Adam has another epsilon than torch's.
_ON_POLICY = ("A2C", "PPO", "MaskablePPO", "RecurrentPPO")


class Optimiser(NamedTuple):
    """The optimiser of a saved model."""

    settings: dict[str, Any]  #: constructor arguments: A2C's `use_rms_prop` and `rms_prop_eps`
    policy_kwargs: dict[str, Any]  #: for another optimiser than the model's own, else none
    elsewhere: str | None  #: a description of it if models here do not have it


def optimiser_in(kind: str, policy_kwargs: Mapping[str, Any]) -> Optimiser:
    """The optimiser of a saved model.

    Args:
        kind: the name of the model's class.
        policy_kwargs: as they are in the file, with inert objects.
    """
    name = (path_of(policy_kwargs.get(CLASS)) or "Adam").rpartition(".")[2]
    keywords = dict(policy_kwargs.get(KEYWORDS) or {})
    given = ", ".join(f"{key}={value!r}" for key, value in keywords.items())
    settings: dict[str, Any] = {}
    own: dict[str, Any] = {}
    if kind == "A2C" and name in ("RMSprop", "RMSpropTFLike"):
        epsilon = keywords.pop("eps", 1e-8)
        settings = {"use_rms_prop": True, "rms_prop_eps": epsilon}
        if name == "RMSpropTFLike":
            own = {CLASS: name, KEYWORDS: {"eps": epsilon}}
        is_here = keywords.items() <= _OF_RMSPROP.items()
        if name == "RMSprop" and not is_here:
            own, is_here = _of_torch(name, {"eps": epsilon, **keywords})
    else:
        settings = {"use_rms_prop": False} if kind == "A2C" else {}
        usual = 1e-5 if kind in _ON_POLICY else 1e-8
        is_here = name == "Adam" and keywords.keys() <= {"eps", "betas"}
        if not is_here:
            own, is_here = _of_torch(name, keywords)
        elif keywords not in ({}, {"eps": usual}):
            own = {KEYWORDS: keywords}
    return Optimiser(settings, own, None if is_here else f"{name}({given})")


def _of_torch(name: str, keywords: Mapping[str, Any]) -> tuple[dict[str, Any], bool]:
    """`policy_kwargs` for a class of torch.optim with these keywords, and whether rlk has it."""
    is_here = keywords.keys() <= {*ARGUMENTS.get(name, ())} and name in ARGUMENTS
    return ({CLASS: name, KEYWORDS: dict(keywords)} if is_here else {}), is_here
