"""Settings in layers: every value for a dotted key, who gave it, and whose word counts more."""

from __future__ import annotations

import enum
from collections.abc import Iterator, Mapping
from typing import Any

import attrs

from rlk.errors import PlanError
from rlk.planning.run_settings import RUN_KEYS
from rlk.registry.kinds import STACKED


class Rank(enum.IntEnum):
    """How much a setting counts, by who gave it, the weakest first."""

    DEFAULT = 0  #: of a component that is active in every run
    ALGORITHM = 1  #: the defaults of the chosen algorithm
    PRESET = 2  #: tuned settings
    PATCH = 3  #: what a plugin proposes
    FILE = 4  #: a SPEC.toml, or a saved plan
    USER = 5  #: the command line, or keywords
    FORWARDED = 6  #: what follows from the settings of another component


@attrs.frozen
class Setting:
    """A value for a key, and who gave it."""

    value: Any
    by: str
    rank: Rank

    @property
    def is_set(self) -> bool:
        """Whether anybody gave it."""
        return self.by != ""


#: What `SettingLayers.find` returns for a key that nobody has set.
UNSET = Setting(None, "", Rank.DEFAULT)


def listed(value: Any) -> tuple[Any, ...]:
    """What fills a slot that may hold several: of one component, none, or a list of them."""
    if value is None:
        return ()
    return tuple(value) if isinstance(value, (list, tuple)) else (value,)


@attrs.frozen
class SettingLayers:
    """All settings of a run that is being planned, one layer for each rank."""

    algorithm: str  #: the component that keys without a dot are settings of
    slots: Mapping[str, str]  #: what components fill, with the kind that goes there
    layers: Mapping[Rank, Mapping[str, Setting]] = attrs.field(factory=dict)

    def set(self, key: str, value: Any, by: str, rank: Rank) -> SettingLayers:
        """These layers with one more setting; what fills a slot of `STACKED` is joined.

        Raises:
            PlanError: if another value for that key has the same rank already.
        """
        full, layer = self._full(key), self.layers.get(rank, {})
        if full not in layer:
            return self._with(full, Setting(value, by, rank))
        other = layer[full]
        if other.value == value:
            return self
        if key in STACKED:
            before = listed(other.value)
            new = [one for one in listed(value) if one not in before]
            both = by if by == other.by else f"{other.by} and {by}"
            return self._with(full, Setting((*before, *new), both, rank)) if new else self
        both = f"{other.value!r} and {value!r}"
        if key in self.slots:
            raise PlanError(f"{both} both fill the slot {key!r}. Ask for one of them.")
        differ = f"{other.by} and {by} propose different values for {key!r}"
        raise PlanError(f"{differ}: {both}. Set it yourself: --set {key}=…")

    def _with(self, full: str, setting: Setting) -> SettingLayers:
        layer = {**self.layers.get(setting.rank, {}), full: setting}
        return attrs.evolve(self, layers={**self.layers, setting.rank: layer})

    def find(self, key: str) -> Setting:
        """The setting that counts for a key: that of the highest rank, or UNSET."""
        full = self._full(key)
        for rank in reversed(Rank):
            if full in self.layers.get(rank, {}):
                return self.layers[rank][full]
        return UNSET

    def __iter__(self) -> Iterator[tuple[str, Setting]]:
        """Every key and setting, those of the lowest rank first."""
        for rank in sorted(self.layers):
            yield from self.layers[rank].items()

    def _full(self, key: str) -> str:
        """The dotted form of a key, which has no dot where it belongs to a slot or to the run."""
        if "." in key or key in self.slots or key in RUN_KEYS:
            return key
        return f"{self.algorithm}.{key}"
