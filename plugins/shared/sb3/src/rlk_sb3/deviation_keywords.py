"""Converts `policy_kwargs` about standard deviations of actions to settings of distributions."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from gymnasium import spaces

from rlk_baselines.refusals import Refused
from rlk_baselines.without_effect import warn_without_effect

if TYPE_CHECKING:
    from rlk_sb3.policy_keywords import PolicyFacts

#: Keywords that only state-dependent exploration uses, with Stable-Baselines3's defaults.
_OF_SDE = {"full_std": True, "use_expln": False, "squash_output": False, "clip_mean": 2.0}
_LOG_STD = "log_std_init"
#: All keywords that this module converts.
KEYWORDS = (_LOG_STD, *_OF_SDE)


def deviation_settings(kwargs: Mapping[str, Any], facts: PolicyFacts) -> dict[str, Any]:
    """The settings for these keywords of `policy_kwargs`, by dotted keys.

    A warning names those that have no effect, because `use_sde` is off or actions are not a Box.

    Args:
        kwargs: `policy_kwargs`.
        facts: about the model. Off-policy, `log_std_init` needs `use_sde`.

    Raises:
        Refused: for `squash_output` without `use_sde`.
    """
    given = {key: kwargs[key] for key in KEYWORDS if key in kwargs}
    if given.get("squash_output") and not facts.use_sde:
        raise Refused("policy_kwargs has squash_output=True, which needs use_sde=True.")
    if given.get("clip_mean", math.inf) <= 0:
        given["clip_mean"] = None  # there, 0 and negative numbers do not clip
    if facts.use_sde:
        return {f"gsde.{key}": value for key, value in given.items()}
    found: dict[str, Any] = {}
    is_box = isinstance(facts.action_space, spaces.Box)
    if is_box and not facts.is_off_policy and _LOG_STD in given:
        found["diag-gaussian.log_std_init"] = given.pop(_LOG_STD)
    for key, value in given.items():
        if value != _OF_SDE.get(key):
            needed = "use_sde=True" if is_box else "actions of a Box"
            warn_without_effect(f"policy_kwargs: {key}", value, needed)
    return found
