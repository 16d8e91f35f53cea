"""Finds what an environment's id does not include, so that the id cannot make it again."""

from __future__ import annotations

from typing import Any

import gymnasium

from rlk_old_gym.interface import layers

#: Packages, and those of their wrappers that change no observation, action, reward or episode end.
_PACKAGES = ("gymnasium", "rlk_baselines", "rlk_wrappers")
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


def beyond_id(env: Any, spec: Any) -> list[str]:
    """What an environment has beyond its id: wrappers, and keyword arguments that differ.

    Args:
        env: the environment.
        spec: its registration, or None.

    Returns:
        Class names of wrappers, the outermost first, and then `key=value` of keyword arguments.
    """
    registered = None if spec is None else gymnasium.registry.get(spec.id)
    if registered is None:
        return []  # there is no id
    by_id = {one.name for one in registered.additional_wrappers}
    wrappers = [
        type(layer).__name__
        for layer in list(layers(env))[:-1]
        if not (only_watches(layer) or type(layer).__name__ in by_id)
        or _limit(layer) not in (None, registered.max_episode_steps)
    ]
    keywords = [
        f"{key}={value!r}"
        for key, value in getattr(spec, "kwargs", {}).items()
        if key != "render_mode" and repr(registered.kwargs.get(key)) != repr(value)
    ]
    return [*wrappers, *keywords]


def only_watches(wrapper: Any) -> bool:
    """Whether a wrapper changes nothing that the model learns from."""
    kind = type(wrapper)
    return kind.__module__.partition(".")[0] in _PACKAGES and kind.__name__ in _WATCHING


def _limit(layer: Any) -> Any:
    """The time limit of a wrapper in steps, or None."""
    return vars(layer).get("_max_episode_steps") if hasattr(layer, "__dict__") else None
