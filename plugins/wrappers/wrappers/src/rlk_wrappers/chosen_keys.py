"""Which parts of observations are normalised: `norm_obs_keys`, for every class that has it."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from gymnasium import spaces

from rlk.errors import PlanError
from rlk.spaces import describe, kind

_OWNER = "normalize (rlk-wrappers)"


def chosen(space: spaces.Space[Any], keys: tuple[str, ...] | None) -> spaces.Space[Any]:
    """The space that `normalize` acts on: those keys of a Dict, or all for None.

    Raises:
        PlanError: for keys if the space is not a Dict, and for a key that is missing or not a Box.
            Images do not count as a Box, because policies scale them by themselves.
    """
    if keys is None:
        return space
    return spaces.Dict(parts_named(space, keys, _is_no_image, "a Box and no image", _OWNER))


def _is_no_image(part: spaces.Space[Any]) -> bool:
    return kind(part) == "Box"


def parts_named(
    space: spaces.Space[Any],
    keys: Iterable[str],
    is_usable: Callable[[spaces.Space[Any]], bool],
    usable: str,
    owner: str,
) -> dict[str, spaces.Space[Any]]:
    """The parts of a Dict that these keys name; each must be usable.

    Args:
        space: of one environment's observations.
        keys: `norm_obs_keys`.
        is_usable: whether a part can be normalised.
        usable: a description of the usable parts, for the error.
        owner: what the keys are a setting of, for the error.

    Raises:
        PlanError: for keys if the space is not a Dict, and for a key that is missing or not usable.
    """
    keys = list(keys)
    if not isinstance(space, spaces.Dict):
        raise PlanError(
            f"{owner}: norm_obs_keys={keys} names keys of a Dict, but observations are "
            f"{describe(space)}. Leave norm_obs_keys out."
        )
    may_be = [key for key, part in space.spaces.items() if is_usable(part)]
    for key in keys:
        if key not in may_be:
            found = describe(space[key]) if key in space.spaces else "not there"
            raise PlanError(
                f"{owner}: norm_obs_keys names {key!r}, which is {found}. It takes keys that are "
                f"{usable}: {', '.join(may_be) or 'there are none'}."
            )
    return {key: space[key] for key in keys}
