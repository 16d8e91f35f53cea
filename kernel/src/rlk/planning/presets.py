"""Tuned settings for an algorithm in an environment, from the sources that are installed."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import attrs

from rlk.abilities import ExplainsAbsence, offers
from rlk.errors import BrokenPlugin, PlanError, RlkError, described
from rlk.planning.draft import Draft
from rlk.planning.layers import Origin, Rank
from rlk.planning.spec import flatten
from rlk.registry.entry import Entry


def with_preset(draft: Draft, wanted: Any) -> Draft:
    """With tuned settings, and a note on where they come from.

    Args:
        draft: with the algorithm and the environment.
        wanted: a source by its name, `auto` for the first that has some, or `none`.

    Raises:
        PlanError: if that source has no settings for it, or does not exist.
    """
    if wanted == "none":
        return draft
    sources = draft.registries.presets
    if not isinstance(wanted, str):
        raise PlanError(
            f"preset is {wanted!r}; it is a name ({', '.join(sources.names())}), 'auto' or 'none'."
        )
    algo, env = draft.algorithm.name, draft.layers.find("env").value
    env_id = env if isinstance(env, str) else ""
    reasons: list[str] = []
    for name in sources.names() if wanted == "auto" else [wanted]:
        try:
            found, why = _found(sources.get(name), algo, env_id)
        except BrokenPlugin as error:
            if wanted != "auto":
                raise
            found, why = None, str(error)
        if found is not None:
            return _with_tuned(draft.with_notes(*reasons), name, found, f"{algo} on {env}")
        if why:
            reasons.append(f"preset {name} left out: {why}")
    if wanted != "auto":
        why = "; ".join(reasons) or "it has nothing for them"
        on = env_id or f"{env!r:.80}, which is not an id"
        raise PlanError(f"preset {wanted!r} for {algo} on {on}: {why}.")
    return draft.with_notes(*reasons)


def _with_tuned(draft: Draft, source: str, tuned: Mapping[str, Any], what: str) -> Draft:
    """With the settings of one source for an algorithm in an environment."""
    preset = f"{source}: {what}"
    try:
        draft = draft.with_settings(flatten(tuned), Origin(f"preset {source}", Rank.PRESET))
    except PlanError as error:
        error.args = (f"{error}\nProposed by preset {source}. --preset none turns it off.",)
        raise
    draft = draft.with_notes(f"preset {preset} (--preset none turns it off)")
    return attrs.evolve(draft, preset=preset)


def _found(entry: Entry, algo: str, env_id: str) -> tuple[Mapping[str, Any] | None, str | None]:
    """The settings that a source has, or None and why it withholds some, if it says so.

    Raises:
        BrokenPlugin: if it raises an exception, or returns no mapping.
    """
    make = entry.load()
    try:
        source = make()
        found = source.find(algo, env_id)
        explains = found is None and offers(source, ExplainsAbsence)
        why = source.why_not(algo, env_id) if explains else None
    except RlkError:
        raise
    except Exception as error:
        raise entry.broken(described(error)) from error
    if found is not None and not isinstance(found, Mapping):
        raise entry.broken(f"find returned {type(found).__name__}, and not a mapping of settings")
    if found is not None and isinstance(found.get("plugins"), Mapping):
        raise entry.broken("its plugins are a table, and not a list such as ['normalize']")
    return found, why
