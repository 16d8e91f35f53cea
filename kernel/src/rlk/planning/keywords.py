"""The keywords of `rlk.make` and `rlk.load`, as one table of settings."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from rlk.errors import PlanError
from rlk.planning.spec import KEYS_OF_RUN, flatten


def given_keywords(
    arguments: Mapping[str, Any], settings: Mapping[str, Any], hyperparameters: Mapping[str, Any]
) -> dict[str, Any]:
    """All settings of a call by dotted key, without keywords of the run that are None.

    Args:
        arguments: the arguments of the call by name, of which those of `KEYS_OF_RUN` are taken.
        settings: settings by dotted key.
        hyperparameters: all other keywords.

    Raises:
        PlanError: if `settings` is no table, or has a key that is given as a keyword, too.
    """
    if not isinstance(settings, Mapping):
        raise PlanError(
            "settings are a table by dotted key, settings={'policy.layers': [64]}, got "
            f"{settings!r:.80}."
        )
    of_run = {key: arguments[key] for key in KEYS_OF_RUN if arguments[key] is not None}
    keywords, table = flatten({**of_run, **hyperparameters}), flatten(settings)
    if twice := sorted(keywords.keys() & table.keys()):
        raise PlanError(
            f"{twice[0]} is given twice: as a keyword, and in settings={{…}}. Leave out one of "
            "them."
        )
    return {**keywords, **table}
