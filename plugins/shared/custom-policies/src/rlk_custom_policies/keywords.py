"""Settings of a policy from a config, and the keywords that a class of policies fixes."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Collection, Mapping
from typing import Any, TypeVar

import attrs
from torch import nn

from rlk.settings import names, structure

Config = TypeVar("Config")


def with_keywords(config: Any, kind: type[Config], keywords: dict[str, Any], whose: str) -> Config:
    """The config with the keywords, which override it.

    Args:
        config: one of that class, or None for its defaults.
        kind: the attrs class.
        keywords: settings by name, and arguments of a function that is `cnn_extractor`.
        whose: the name of the policy class, for messages.

    Raises:
        PlanError: for an unknown keyword, or an invalid value.
    """
    given = {} if config is None else attrs.asdict(config, recurse=False)
    used = with_bound_extractor({**given, **keywords}, names(kind))
    return structure(kind, used, f"policy {whose!r}")


def with_bound_extractor(keywords: Mapping[str, Any], known: Collection[str]) -> dict[str, Any]:
    """The keywords of a policy, those bound to its `cnn_extractor` that are arguments of that.

    In Stable Baselines, all further keywords of a policy are passed to this function.

    Args:
        keywords: by name.
        known: the names of the policy's own settings, which are not passed on.
    """
    found, extractor = dict(keywords), keywords.get("cnn_extractor")
    if extractor is None or isinstance(extractor, nn.Module):
        return found
    own = {key: found.pop(key) for key in keywords if key not in known and _takes(extractor, key)}
    if own:
        bound = functools.partial(extractor, **own)
        found["cnn_extractor"] = functools.update_wrapper(bound, extractor, updated=())
    return found


def _takes(function: Any, key: str) -> bool:
    """Whether a function, or the constructor of a class, has an argument of this name."""
    try:
        inspect.signature(function).bind_partial(**{key: None})
    except (TypeError, ValueError):  # it has no such argument, or no signature at all
        return False
    return True
