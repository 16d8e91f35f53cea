"""Settings of a policy from a config, and the keywords that a class of policies fixes."""

from __future__ import annotations

from typing import Any, TypeVar

import attrs

from rlk.settings import structure

Config = TypeVar("Config")


def with_keywords(config: Any, kind: type[Config], keywords: dict[str, Any], whose: str) -> Config:
    """The config with the keywords, which override it.

    Args:
        config: one of that class, or None for its defaults.
        kind: the attrs class.
        keywords: settings by name.
        whose: the name of the policy class, for messages.

    Raises:
        PlanError: for an unknown keyword, or an invalid value.
    """
    given = {} if config is None else attrs.asdict(config, recurse=False)
    found: Config = structure(kind, {**given, **keywords}, f"policy {whose!r}")
    return found
