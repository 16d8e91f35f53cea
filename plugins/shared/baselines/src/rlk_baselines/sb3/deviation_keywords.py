"""`policy_kwargs` that say how far actions are from their mean, as settings of distributions."""

from __future__ import annotations

from collections.abc import MutableMapping
from typing import Any

from gymnasium import spaces

from rlk_baselines.refusals import Refused

#: What only state-dependent exploration takes.
_OF_SDE = ("full_std", "use_expln", "squash_output", "clip_mean")
_LOG_STD = "log_std_init"


def deviation_settings(
    kwargs: MutableMapping[str, Any], action_space: Any, *, use_sde: bool, is_off_policy: bool
) -> dict[str, Any]:
    """Take them out of `policy_kwargs`: settings by rlk's dotted keys.

    Without `use_sde`, and for actions that are no Box, those without effect there have none here.

    Raises:
        Refused: for `squash_output` without `use_sde`.
    """
    given = {key: kwargs.pop(key) for key in (_LOG_STD, *_OF_SDE) if key in kwargs}
    if not isinstance(action_space, spaces.Box):
        return {}
    if use_sde:
        return {f"gsde.{key}": value for key, value in given.items()}
    if given.get("squash_output"):
        raise Refused("policy_kwargs has squash_output=True, which needs use_sde=True.")
    if _LOG_STD in given and not is_off_policy:
        return {"diag-gaussian.log_std_init": given[_LOG_STD]}
    return {}
