"""A folder of TOML files as a source of presets, for a package that has tuned settings.

The file `<algo>.toml` has a table for each environment, an id or a pattern of ids (`"ALE/*-v5"`),
whose keys are those of `--set` and of a SPEC.toml.
"""

from __future__ import annotations

import importlib.util
import tomllib
from collections.abc import Callable, Collection, Mapping
from fnmatch import fnmatchcase
from importlib.resources.abc import Traversable
from typing import Any

from rlk.planning.draft import leaves_out
from rlk.planning.layers import in_slots, listed
from rlk.planning.parse import parse_plugin
from rlk.registry.kernel import default_kernel

Settings = Mapping[str, Any]


class PresetFolder:
    """The preset source with the settings in a folder (`rlk.protocols.PresetSource`).

    If an entry names a component, in `plugins` or in a slot such as `policy`, that is not
    installed, the entry is not used, because the settings would not be the tuned ones.

    Args:
        folder: a path, or of a package's data `importlib.resources.files("my_package") / "data"`.
        about: keys of an entry that are no settings, such as where its numbers come from.
        installed: whether a component of that name is installed; None asks the default kernel.
    """

    def __init__(
        self,
        folder: Traversable,
        *,
        about: Collection[str] = (),
        installed: Callable[[str], bool] | None = None,
    ) -> None:
        self._folder, self._about = folder, frozenset(about)
        self._installed = installed or is_installed

    def find(self, algo: str, env: str) -> Settings | None:
        """Settings as dotted keys; None if there is no entry or a component is missing.

        Raises:
            ValueError: if the file is not TOML.
        """
        found = self._entry(algo, env)
        return None if found is None or self._missing(algo, found) else found

    def why_not(self, algo: str, env: str) -> str | None:
        """Why `find` skips an entry, as a note for the user; None if it does not."""
        found = self._entry(algo, env)
        missing = [] if found is None else self._missing(algo, found)
        if not missing:
            return None
        names = " and ".join(repr(name) for name in missing)
        return f"the preset of {algo} for {env} is not used: it needs {names}, not installed here"

    def algorithms(self) -> list[str]:
        """The algorithms that have a file."""
        names = (entry.name for entry in self._folder.iterdir())
        return sorted(name.removesuffix(".toml") for name in names if name.endswith(".toml"))

    def entries(self, algo: str) -> dict[str, Settings]:
        """Environment (an id, or a pattern) -> settings; {} if the algorithm has no file."""
        return {
            env: {key: value for key, value in table.items() if key not in self._about}
            for env, table in self.tables(algo).items()
        }

    def tables(self, algo: str) -> dict[str, dict[str, Any]]:
        """The entries as they are in the file, with the keys that are no settings.

        Raises:
            ValueError: if the file is not TOML.
        """
        if algo not in self.algorithms():
            return {}
        text = self._folder.joinpath(f"{algo}.toml").read_text(encoding="utf-8")
        try:
            return tomllib.loads(text)
        except tomllib.TOMLDecodeError as error:
            raise ValueError(f"{algo}.toml is not TOML: {error}") from None

    def _entry(self, algo: str, env: str) -> Settings | None:
        """The entry of that id, or else the first whose pattern it matches.

        The id may follow the module that registers it (`package:Id-v0`).
        """
        entries, names = self.entries(algo), dict.fromkeys((env, env.rpartition(":")[2]))
        exact = [name for name in names if name in entries]
        matching = [key for key in entries if any(fnmatchcase(name, key) for name in names)]
        return next((entries[key] for key in (*exact, *matching)), None)

    def _missing(self, algo: str, settings: Settings) -> list[str]:
        named = components(settings, selecting(algo))
        return [name for name in named if not self._installed(name)]


def components(settings: Settings, selecting: Collection[str] = ()) -> list[str]:
    """The components that settings name, plugins first.

    `none` is no component, and neither is a `no:NAME`, which planning refuses in a preset.

    Args:
        settings: an entry.
        selecting: settings of the algorithm whose values name a plugin, as those of `plugins` do.
    """
    plugins = [*listed(settings.get("plugins")), *(settings.get(key) for key in selecting)]
    names = [parse_plugin(text)[0] for text in plugins if isinstance(text, str)]
    found = (*names, *in_slots(settings))
    return [name for name in found if name != "none" and not leaves_out(name)]


def selecting(algo: str) -> Collection[str]:
    """The settings of an algorithm that name a plugin; none if it is not installed."""
    algorithms = default_kernel().registries.algorithms
    return algorithms.get(algo).component().selects if algo in algorithms else ()


def is_installed(name: str) -> bool:
    """Whether the default kernel has it; for `package.module:Object`, whether Python does."""
    if ":" in name:
        return importlib.util.find_spec(name.partition(":")[0].partition(".")[0]) is not None
    return name in default_kernel().registries
