"""The request for a run, the RunSpec, and how it is made from keywords and tables.

Every choice and setting has a dotted key in one flat namespace: `n_envs` (the run's), `policy` (a
slot's), `gamma` (the algorithm's), `policy.layers` (a setting of the component in a slot),
`prioritized-replay.alpha` (of a component by name), `env.gravity` (a keyword of the environment).
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import attrs

from rlk.errors import PlanError
from rlk.planning.layers import CALLER, Origin, Rank, Setting
from rlk.planning.run_settings import RUN_KEYS
from rlk.registry.kinds import SLOTS, STACKED, option_of

#: The prefix of keys that are keywords of the environment.
ENV_PREFIX = "env."
#: The keys of every run, whatever its components; None leaves them open.
KEYS_OF_RUN = ("plugins", *RUN_KEYS, *SLOTS)


@attrs.frozen
class RunSpec:
    """A user's request. `make_spec` makes it; nothing in it has been looked up yet."""

    algo: str
    #: Values by dotted key: `env` (an id, `module:Class`, a class, a callable or an object), the
    #: fields of `RunSettings`, the component of a slot (`SLOTS`), `preset` (`auto` takes tuned
    #: settings where there are any, `none` takes none), `out` (the run's folder), and any other
    #: setting.
    given: Mapping[str, Any] = attrs.field(factory=dict)
    #: `NAME[:key=value,…]`, `no:NAME`, or objects that implement hooks.
    plugins: tuple[Any, ...] = ()
    #: Who gave a key, where that was not the caller: a file, a recipe. See `plugin_key`.
    origins: Mapping[str, Origin] = attrs.field(factory=dict)
    notes: tuple[str, ...] = ()  #: notes for the user on how it was made
    #: Likewise, on what training had and this run has not, of which `learn` warns: lost settings,
    #: parts that only train, an environment of which only the spaces are there. As text, each is a
    #: sentence.
    learns_without: tuple[object, ...] = ()
    #: Names of components that the file has and this run has not: only the user puts them in again.
    gone: tuple[str, ...] = ()
    #: The lost settings as that file has them, by key; the algorithm's by their names alone.
    lost_values: Mapping[str, Any] = attrs.field(factory=dict)
    #: The distributions that a file was written with, by the names of their components, as pip
    #: installs them: `rlk-dqn==0.1.0`.
    written_with: Mapping[str, str] = attrs.field(factory=dict)

    def over(self, lower: RunSpec) -> RunSpec:
        """This spec, completed from a lower one; plugins and notes are joined."""
        origins = {key: one for key, one in lower.origins.items() if key not in self.given}
        return RunSpec(
            algo=self.algo or lower.algo,
            given={**lower.given, **self.given},
            plugins=(*lower.plugins, *self.plugins),
            origins={**origins, **self.origins},
            notes=(*lower.notes, *self.notes),
            learns_without=(*lower.learns_without, *self.learns_without),
            gone=(*lower.gone, *self.gone),
            lost_values={**lower.lost_values, **self.lost_values},
            written_with={**lower.written_with, **self.written_with},
        )

    def settings(self) -> Iterator[tuple[str, Setting]]:
        """All settings by key: those with an origin count less than the caller's."""
        for key, value in self.given.items():
            yield key, Setting(value, self.origins.get(key, CALLER))

    def asked_plugins(self) -> Iterator[tuple[Any, Origin]]:
        """All plugins, each with who put it in."""
        for plugin in self.plugins:
            yield plugin, self.origins.get(plugin_key(plugin), CALLER)


@attrs.frozen
class Patch:
    """A plugin's proposals for settings that the user left unset."""

    values: Mapping[str, Any]  #: by dotted key; `plugins` is a list to join
    reason: str = ""  #: one line, shown by --explain


def make_spec(
    algo: str, given: Mapping[str, Any], origin: Origin | str = "", *, is_flat: bool = False
) -> RunSpec:
    """A RunSpec from keywords; nested tables become dotted keys.

    None leaves open a setting of the run or the component of a slot (`seed=None`, `policy=None`);
    for any other setting it is a value. The word `none` empties a slot that may be empty.

    Args:
        algo: the algorithm's name.
        given: keywords; `plugins` may be one name or a list.
        origin: who gave them, if it was not the caller; a text names a file.
        is_flat: whether every key is a dotted one already, so that a table is a value.

    Raises:
        PlanError: for invalid plugins or an invalid folder, or a slot that may not be empty.
    """
    values = dict(given) if is_flat else flatten(given)
    for key in KEYS_OF_RUN:
        if key in values and values[key] is None:
            del values[key]
    values |= {slot: _emptied(slot) for slot in SLOTS if _is_the_word_none(values.get(slot))}
    if "env.id" in values:
        values["env"] = values.pop("env.id")
    plugins = plugins_of(values.pop("plugins", None))
    if not isinstance(out := values.get("out", ""), (str, os.PathLike)):
        raise PlanError(f"out is the name of a folder, got {out!r:.80}.")
    if out:
        values["out"] = os.path.expanduser(out)
    by = Origin(origin, Rank.FILE) if isinstance(origin, str) else origin
    origins = dict.fromkeys(values, by) if origin else {}
    return RunSpec(algo, values, plugins, origins)


def plugins_of(given: Iterable[Any] | None, whose: str = "") -> tuple[Any, ...]:
    """The plugins that were given; a text is one plugin.

    PlanError, which begins with `whose`, for what is no list of them.
    """
    if given is None:
        return ()
    if not isinstance(given, Iterable):
        raise PlanError(f"{whose}plugins must be a list of plugins, got {given!r:.80}.")
    return (given,) if isinstance(given, str) else tuple(given)


def _is_the_word_none(value: Any) -> bool:
    """Whether a value is the text `none`; it may be an object with a comparison of its own."""
    return isinstance(value, str) and value == "none"


def _emptied(slot: str) -> tuple[()]:
    """No component in a slot; PlanError for a slot that is never empty."""
    if slot not in STACKED:
        raise PlanError(
            f"{slot}=none: the slot {slot!r} cannot be emptied, only {', '.join(STACKED)} can. "
            f"Leave it out for the algorithm's own, or name another: {option_of(slot)} NAME."
        )
    return ()


def plugin_key(plugin: Any) -> str:
    """The key under which `RunSpec.origins` says who put a plugin in."""
    return f"plugins.{plugin}" if isinstance(plugin, str) else ""


def flatten(tree: Mapping[str, Any], prefix: str = "") -> dict[str, Any]:
    """Nested tables as one with dotted keys.

    A table for an environment's keyword stays whole, and so does an empty one below another key.
    """
    flat: dict[str, Any] = {}
    for key, value in tree.items():
        full = f"{prefix}{key}"
        is_table = isinstance(value, Mapping) and not full.startswith(ENV_PREFIX)
        if is_table and (value or "." not in full):
            flat |= flatten(value, f"{full}.")
        else:
            flat[full] = value
    return flat


def with_key(table: Any, key: str, value: Any) -> dict[str, Any]:
    """A table with a value under a dotted key, which goes into the tables within it.

    What is no table where one is needed is replaced by one.
    """
    before = table if isinstance(table, Mapping) else {}
    name, dot, rest = key.partition(".")
    return {**before, name: with_key(before.get(name), rest, value) if dot else value}
