"""Which parts of observations `normalize` and `VecNormalize` take: `norm_obs_keys`."""

from __future__ import annotations

from typing import Any

from gymnasium import spaces

from rlk.errors import PlanError
from rlk.spaces import describe, kind


def chosen(space: spaces.Space[Any], keys: tuple[str, ...] | None) -> spaces.Space[Any]:
    """The space of what is normalised: of a Dict those keys, all of them for None.

    Raises:
        PlanError: for keys of another space, and for one that is not there or no Box; an image is
            none, because policies scale it themselves.
    """
    if keys is None:
        return space
    if not isinstance(space, spaces.Dict):
        raise PlanError(
            f"normalize (rlk-wrappers): norm_obs_keys={list(keys)} names keys of a Dict, but "
            f"observations are {describe(space)}. Leave norm_obs_keys out."
        )
    usable = [key for key, part in space.spaces.items() if kind(part) == "Box"]
    for key in keys:
        if key not in usable:
            found = describe(space[key]) if key in space.spaces else "not there"
            raise PlanError(
                f"normalize (rlk-wrappers): norm_obs_keys names {key!r}, which is {found}. It "
                f"takes keys that are a Box and no image: {', '.join(usable) or 'there are none'}."
            )
    return spaces.Dict({key: space[key] for key in keys})
