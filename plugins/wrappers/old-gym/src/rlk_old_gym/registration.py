"""Converts registrations of the package gym, an environment's `spec`, to Gymnasium's."""

from __future__ import annotations

from typing import Any

from gymnasium.envs.registration import EnvSpec

#: What both packages register about an environment, beside its id.
_FIELDS = ("entry_point", "reward_threshold", "nondeterministic", "max_episode_steps")


def as_gymnasium_spec(spec: Any) -> EnvSpec | None:
    """Gymnasium's registration, with what an environment's `spec` says.

    Gymnasium's wrappers read fields of it that gym's registrations do not have.

    Args:
        spec: of either package, or None; an object without an id has no registration.
    """
    if isinstance(spec, EnvSpec):
        return spec
    name = getattr(spec, "id", None)
    if not isinstance(name, str):
        return None
    return EnvSpec(id=name, **{key: getattr(spec, key) for key in _FIELDS if hasattr(spec, key)})
