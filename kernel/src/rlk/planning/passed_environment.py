"""How to find an environment that a program passed as an object without that program."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from typing import Any

from rlk.planning.saved_keywords import plain_keywords, tuples_in, with_tuples


def code_place_of(made: Any) -> str | None:
    """The place of a class or a function, for `--env`; None if only its program has it."""
    module, name = getattr(made, "__module__", None), getattr(made, "__qualname__", None)
    if module is None or name is None or module == "__main__" or not name.isidentifier():
        return None
    return f"{module}:{name}" if getattr(sys.modules.get(module), name, None) is made else None


def registered_as(env: Any) -> tuple[str, Mapping[str, Any]] | None:
    """The id and the keywords with which Gymnasium makes an environment that was passed, if it can.

    It cannot if the environment is in further wrappers, is a vector of environments, or was made
    with keywords that no file can hold.
    """
    import gymnasium as gym  # not at the top: planning begins without it

    spec = None if hasattr(env, "num_envs") else getattr(env, "spec", None)
    known = gym.registry.get(getattr(spec, "id", ""))
    if spec is None or known is None or spec.additional_wrappers != known.additional_wrappers:
        return None
    keywords = {key: value for key, value in spec.kwargs.items() if key != "render_mode"}
    if spec.max_episode_steps != known.max_episode_steps:
        keywords["max_episode_steps"] = spec.max_episode_steps
    held = with_tuples(plain_keywords(keywords), list(tuples_in(keywords)))
    return (spec.id, keywords) if held == keywords else None
