"""Finds out whether an environment can be made again by its id."""

from __future__ import annotations

from typing import Any

import gymnasium

from rlk_old_gym.interface import layers

#: Gymnasium's package and rlk's, and those of their wrappers that change no observation, action,
#: reward or episode end.
_PACKAGES = ("gymnasium.", "rlk_")
_WATCHING = {
    "Adopted",
    "GymView",
    "HumanRendering",
    "Monitor",
    "OrderEnforcing",
    "PassiveEnvChecker",
    "RecordEpisodeStatistics",
    "RecordVideo",
    "RenderCollection",
    "ShownEnv",
    "TimeLimit",  # with the registered limit
    "VecCheckNan",
    "VecMonitor",
    "VecVideoRecorder",
}


def made_by_id(env: Any, spec: Any) -> bool:
    """Whether an environment has nothing that its id does not include.

    That is wrappers, and keyword arguments that differ from those of its registration.

    Args:
        env: the environment.
        spec: its registration, or None.
    """
    registered = None if spec is None else gymnasium.registry.get(spec.id)
    if registered is None:
        return True  # there is nothing to compare it with
    by_id = {one.name for one in registered.additional_wrappers}
    has_other_wrappers = any(
        not (only_watches(layer) or type(layer).__name__ in by_id)
        or _limit(layer) not in (None, registered.max_episode_steps)
        for layer in list(layers(env))[:-1]
    )
    has_other_keywords = any(
        key != "render_mode" and repr(registered.kwargs.get(key)) != repr(value)
        for key, value in getattr(spec, "kwargs", {}).items()
    )
    return not (has_other_wrappers or has_other_keywords)


def only_watches(wrapper: Any) -> bool:
    """Whether a wrapper changes nothing that the model learns from."""
    kind = type(wrapper)
    return kind.__module__.startswith(_PACKAGES) and kind.__name__ in _WATCHING


def _limit(layer: Any) -> Any:
    """The time limit of a wrapper in steps, or None."""
    return vars(layer).get("_max_episode_steps") if hasattr(layer, "__dict__") else None
