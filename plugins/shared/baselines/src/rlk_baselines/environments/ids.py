"""Environments by their ids, also by those that Gymnasium has replaced since Stable Baselines."""

from __future__ import annotations

import re
import warnings
from typing import Any

import gymnasium
from gymnasium.envs.registration import parse_env_id

from rlk.errors import PlanError
from rlk.planning.environment import choose_environment
from rlk.registry.kernel import default_kernel

_VERSION = re.compile(r"-v\d+$")


def make_by_id(name: str, **keywords: Any) -> Any:
    """The environment of an id, made by Gymnasium.

    Frames can be asked for at any time (`render_mode="rgb_array"` unless told otherwise), as from
    an environment of gym's.

    Raises:
        PlanError: if nothing answers to the id, or its package is not installed.
    """
    made = choose_environment(current_id(name), default_kernel().registries, {})
    if "render_mode" in keywords:
        return made.make(**keywords)
    try:
        return made.make(render_mode="rgb_array", **keywords)
    except (PlanError, TypeError, gymnasium.error.Error):  # it cannot render like that
        return made.make(**keywords)


def current_id(name: str) -> str:
    """The id, or the next version of it that Gymnasium makes where it no longer makes this one.

    `Pendulum-v0` is `Pendulum-v1`, and `Reacher-v2` is `Reacher-v4`. A program is warned, because
    returns may differ.
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
    warnings.warn(
        f"there is no {name} any more: made {newest}, whose episodes may differ from it.",
        stacklevel=3,
    )
    return newest


def _is_gone(spec: Any) -> bool:
    """Whether Gymnasium has an id only to say that it makes it no more: MuJoCo's -v2 and -v3."""
    return getattr(spec.entry_point, "__module__", None) == "gymnasium.envs"
