"""The columns of a monitor file beyond return, length and time, and error messages about them."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np


def env_id(env: Any) -> str | None:
    """The registered id of an environment, or of the first one of a vector."""
    spec = env.spec
    if spec is None and hasattr(env, "get_attr"):
        spec = next(iter(env.get_attr("spec")), None)
    return None if spec is None else str(spec.id)


def plain(value: Any) -> Any:
    """A value that a row can hold: a number, or one line of text.

    csv would write numpy's numbers with the name of their type, and large arrays on several lines.
    """
    if isinstance(value, np.generic):
        value = value.item()
    if value is None or isinstance(value, bool | int | float):
        return value
    return " ".join(str(value).split())


def early_reset_message(what: str) -> str:
    """The message about a reset in the middle of an episode, if that is not allowed."""
    return f"{what} was reset in the middle of an episode, which allow_early_resets=False forbids."


def missing_info_message(key: str, known: Iterable[str]) -> str:
    """The message about a key of `info_keywords` that is missing from the info."""
    names = sorted(map(str, known))
    has = f"only {names}" if names else "nothing"
    return (
        f"monitor: info_keywords names {key!r}, but the info that the episode ended with has "
        f"{has}. Let the environment put it there, or leave it out."
    )
