"""Makes environments by their ids, including old ids that Gymnasium has replaced."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Mapping
from typing import Any

import gymnasium
from gymnasium.envs.registration import load_env_creator, parse_env_id

from rlk.errors import PlanError
from rlk.planning.environment import choose_environment
from rlk.program_warnings import warn_program
from rlk.registry.kernel import default_kernel

_VERSION = re.compile(r"-v\d+$")


def make_by_id(name: str, **keywords: Any) -> Any:
    """Make the environment of an id with Gymnasium.

    As with gym, frames can be rendered at any time: `render_mode` is `rgb_array` unless it is
    passed, or the environment does not support it.

    Args:
        name: the id.
        keywords: keyword arguments of the environment.

    Raises:
        PlanError: if the id is unknown, or its package is not installed.
    """
    known = current_id(name)
    made = choose_environment(known, default_kernel().registries, {})
    if "render_mode" in keywords or "rgb_array" not in _render_modes(known):
        return made.make(**keywords)
    try:
        return made.make(render_mode="rgb_array", **keywords)
    except (PlanError, TypeError, gymnasium.error.Error):  # it does not support rgb_array
        return made.make(**keywords)


def make_by(maker: str | Callable[..., Any], keywords: Mapping[str, Any]) -> Any:
    """Make an environment by its id, or by a class or a function that makes it."""
    return make_by_id(maker, **keywords) if isinstance(maker, str) else maker(**keywords)


def _render_modes(name: str) -> Collection[str]:
    """The render modes in the metadata of an id; without metadata, `rgb_array` is assumed."""
    creator = getattr(gymnasium.registry.get(name), "entry_point", None)
    if isinstance(creator, str):
        try:
            creator = load_env_creator(creator)
        except (ImportError, AttributeError, gymnasium.error.Error):
            creator = None  # the error of making it names what is missing
    metadata = getattr(creator, "metadata", None)
    said = metadata.get("render_modes") if isinstance(metadata, dict) else None
    return ("rgb_array",) if said is None else said


def current_id(name: str) -> str:
    """The id itself, or the next later version, if Gymnasium can no longer make this one.

    `Pendulum-v0` becomes `Pendulum-v1`, and `Reacher-v2` becomes `Reacher-v4`, with a warning,
    because returns may differ.
    """
    if (name in gymnasium.registry and not _is_gone(gymnasium.registry[name])) or ":" in name:
        return name
    try:
        namespace, base, version = parse_env_id(name)
    except gymnasium.error.Error:
        return name
    later = [
        spec.version
        for spec in gymnasium.registry.values()
        if (spec.namespace, spec.name) == (namespace, base)
        and spec.version is not None
        and not _is_gone(spec)
    ]
    if version is None or not later or version > max(later):
        return name
    newest = _VERSION.sub(f"-v{min(found for found in later if found > version)}", name)
    warn_program(f"there is no {name} any more: made {newest}, whose episodes may differ from it.")
    return newest


def _is_gone(spec: Any) -> bool:
    """Whether Gymnasium registers an id only to report its removal: MuJoCo's -v2 and -v3."""
    return getattr(spec.entry_point, "__module__", None) == "gymnasium.envs"
