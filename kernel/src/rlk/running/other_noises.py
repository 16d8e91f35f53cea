"""Explains why what a collector saved does not fit: the run has another noise, or other settings.

A checkpoint that was taken within episodes holds what its noise keeps from step to step, in the
carry of the collector's actor.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Mapping
from typing import Any

from rlk import settings
from rlk.errors import BadFile
from rlk.planning.parse import typed_value
from rlk.planning.plan import Plan

_ANY = "a model (model.zip), which begins new episodes, takes any."


@contextlib.contextmanager
def naming_other_noises(plan: Plan, saved: Mapping[str, Any]) -> Iterator[None]:
    """Let a collector's state that does not fit say so if the noise is not the saved one.

    Args:
        plan: of this run.
        saved: the plan in the file.
    """
    try:
        yield
    except BadFile as error:
        before = [one for one in saved["components"] if one.get("kind") == "noises"]
        names = [one["name"] for one in before], [choice.name for choice in plan.noises]
        if names[0] != names[1]:
            raise BadFile(_other_names(*names)) from error
        changed = [
            change
            for one, choice in zip(before, plan.noises, strict=True)
            for change in _changes(choice.name, one, settings.unstructure(choice.config))
        ]
        if not changed:
            raise
        raise BadFile(_other_settings(names[1], changed, error)) from error


def _other_names(saved: list[str], now: list[str]) -> str:
    return (
        f"the checkpoint was taken within episodes, with {_noises(saved)}, and this run has "
        f"{_noises(now)}. Resume it without changing its noise; {_ANY}"
    )


def _noises(names: list[str]) -> str:
    if not names:
        return "no noise"
    return f"the noise{'s' * (len(names) > 1)} {' and '.join(map(repr, names))}"


def _changes(name: str, saved: Mapping[str, Any], now: Mapping[str, Any]) -> list[tuple[str, str]]:
    """(in the file, here), as `NOISE.KEY=VALUE`, of every setting with another value."""
    before = saved.get("settings", {})
    return [
        (f"{name}.{key}={typed_value(before[key])}", f"{name}.{key}={typed_value(now[key])}")
        for key in now
        if key in before and before[key] != now[key]
    ]


def _other_settings(names: list[str], changed: list[tuple[str, str]], error: BadFile) -> str:
    saved, now = zip(*changed, strict=True)
    typed = " ".join(f"--set {setting}" for setting in saved)
    return (
        f"the checkpoint was taken within episodes, with {_noises(names)} and "
        f"{', '.join(saved)}, and this run has {', '.join(now)}: what it keeps from step to step "
        f"does not fit. Resume it with {typed}; {_ANY} (Here, {error})"
    )
