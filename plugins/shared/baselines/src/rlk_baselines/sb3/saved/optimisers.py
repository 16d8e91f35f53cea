"""The optimiser of a model in a file of Stable-Baselines3, which `policy_kwargs` hold there."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from rlk_baselines.tensorflow.inert_pickle import path_of

#: Keywords of RMSprop -> the values that A2C of Stable-Baselines3 gives them.
_OF_RMSPROP = {"alpha": 0.99, "weight_decay": 0}


def optimiser_in(kind: str, policy_kwargs: Mapping[str, Any]) -> tuple[dict[str, Any], str | None]:
    """The optimiser of a saved model.

    Args:
        kind: the name of the model's class.
        policy_kwargs: as they are in the file, with inert objects.

    Returns:
        Constructor arguments of the model (A2C's `use_rms_prop` and `rms_prop_eps`), and a
        description of the optimiser if models here do not have it, otherwise None.
    """
    name = (path_of(policy_kwargs.get("optimizer_class")) or "Adam").rpartition(".")[2]
    keywords = dict(policy_kwargs.get("optimizer_kwargs") or {})
    given = ", ".join(f"{key}={value!r}" for key, value in keywords.items())
    if kind == "A2C" and name in ("RMSprop", "RMSpropTFLike"):
        found = {"use_rms_prop": True, "rms_prop_eps": keywords.pop("eps", 1e-8)}
        is_here = name == "RMSprop" and keywords.items() <= _OF_RMSPROP.items()
    else:
        found = {"use_rms_prop": False} if kind == "A2C" else {}
        usual = 1e-5 if kind in ("A2C", "PPO") else 1e-8
        is_here = name == "Adam" and keywords in ({}, {"eps": usual})
    return found, None if is_here else f"{name}({given})"
