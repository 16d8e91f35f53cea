"""Finds tuned settings in `data/<algo>.toml`.

A file has a table for each environment, an id or a pattern of ids (`"ALE/*-v5"`), whose keys are
those of `--set` and of a SPEC.toml. If an entry names a component, in `plugins` or in a slot such
as `policy`, that is not installed, the entry is not used, because the settings would not be the
tuned ones. The keys about its source are not settings; `promises.py` reads them.
"""

from __future__ import annotations

import importlib.util
import tomllib
from collections.abc import Callable, Mapping
from fnmatch import fnmatchcase
from importlib.resources import files
from typing import Any

from rlk.planning.parse import parse_plugin
from rlk.registry.kinds import SLOTS

Settings = Mapping[str, Any]
#: Keys of an entry that are not settings.
ABOUT = ("source", "least", "measure")
#: Settings of algorithms whose values name a plugin, as those of `plugins` do.
NAMING = ("action_noise", "param_noise", "memory_policy")


class Zoo:
    """The preset source.

    Args:
        installed: whether a component of that name is installed; None asks the default kernel.
    """

    def __init__(self, installed: Callable[[str], bool] | None = None) -> None:
        self._installed = installed or is_installed

    def find(self, algo: str, env: str) -> Settings | None:
        """Settings as dotted keys; None if there is no entry or a component is missing."""
        found = self._entry(algo, env)
        return None if found is None or self._missing(found) else found

    def why_not(self, algo: str, env: str) -> str | None:
        """Why `find` skips an entry, as a note for the user; None if it does not."""
        found = self._entry(algo, env)
        missing = [] if found is None else self._missing(found)
        if not missing:
            return None
        names = " and ".join(repr(name) for name in missing)
        return f"the preset of {algo} for {env} is not used: it needs {names}, not installed here"

    def _entry(self, algo: str, env: str) -> Settings | None:
        tables = entries(algo)
        if env in tables:
            return tables[env]
        matching = (table for pattern, table in tables.items() if fnmatchcase(env, pattern))
        return next(matching, None)

    def _missing(self, settings: Settings) -> list[str]:
        return [name for name in components(settings) if not self._installed(name)]


def algorithms() -> list[str]:
    """The algorithms that have presets."""
    folder = files("rlk_presets").joinpath("data")
    names = (entry.name for entry in folder.iterdir())
    return sorted(name.removesuffix(".toml") for name in names if name.endswith(".toml"))


def entries(algo: str) -> dict[str, Settings]:
    """Environment (an id, or a pattern) -> settings; {} if there are none for the algorithm."""
    return {
        env: {key: value for key, value in table.items() if key not in ABOUT}
        for env, table in tables(algo).items()
    }


def tables(algo: str) -> dict[str, dict[str, Any]]:
    """The entries as they are in the file, including the keys about their source."""
    if algo not in algorithms():
        return {}
    text = files("rlk_presets").joinpath("data", f"{algo}.toml").read_text(encoding="utf-8")
    return tomllib.loads(text)


def components(settings: Settings) -> list[str]:
    """The components that settings name, plugins first."""
    named = [settings[key] for key in NAMING if isinstance(settings.get(key), str)]
    plugins = [parse_plugin(text)[0] for text in (*settings.get("plugins", ()), *named)]
    return [*plugins, *(settings[slot] for slot in SLOTS if isinstance(settings.get(slot), str))]


def is_installed(name: str) -> bool:
    """Whether the default kernel has it; for `package.module:Object`, whether Python does."""
    if ":" in name:
        return importlib.util.find_spec(name.partition(":")[0].partition(".")[0]) is not None
    from rlk.registry.kernel import default_kernel

    return name in default_kernel().registries
