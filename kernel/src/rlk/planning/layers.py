"""Settings in layers: every value for a dotted key, who gave it, and which one counts."""

from __future__ import annotations

import enum
from collections.abc import Iterator, Mapping
from typing import Any

import attrs

from rlk.errors import PlanError
from rlk.planning.run_settings import RUN_KEYS
from rlk.registry.kinds import SLOTS, STACKED, is_group_slot


class Rank(enum.IntEnum):
    """How much a setting counts, by who gave it, the weakest first.

    A setting ranked below `FILE` is a *proposal*, which gives way where it does not fit. All others
    are *demands*, which are met or refused (`Setting.is_demand`).
    """

    DEFAULT = 0  #: nobody asked for it: a config's own default, a component that joins by itself
    ALGORITHM = 1  #: the defaults of the chosen algorithm
    CONFIG = 2  #: the defaults of its config that put in a plugin
    PRESET = 3  #: tuned settings
    PATCH = 4  #: what a plugin proposes
    FILE = 5  #: a SPEC.toml, or a recipe
    SAVED = 6  #: a saved plan, which has every setting of its run, not only those asked for
    USER = 7  #: the command line, or keywords
    #: Derived by planning from all others, so that every key of one setting has the same value:
    #: after the user's `buffer_size=7`, `replay.buffer_size` is 7 even if a preset sets it.
    DERIVED = 8


@attrs.frozen
class Origin:
    """Who gave a setting or chose a component, and how much that counts."""

    by: str  #: as users see it: `user`, `spec.toml`, `preset zoo`, `algorithm dqn`, …
    rank: Rank

    def __str__(self) -> str:
        return self.by


CALLER = Origin("user", Rank.USER)
SAVED = Origin("saved plan", Rank.SAVED)
#: Of a component that joined by itself.
JOINED = Origin("active in every run", Rank.DEFAULT)


@attrs.frozen
class Setting:
    """A value for a key, and who gave it."""

    value: Any
    origin: Origin
    #: That of its origin, unless planning gives it another one.
    rank: Rank = attrs.field(default=attrs.Factory(lambda self: self.origin.rank, takes_self=True))
    #: How it was asked for, to name it in an error: `ppo2.gamma=0.9`, `plugin 'watches:size=3'`.
    asked: str = attrs.field(default="", eq=False)

    @property
    def is_set(self) -> bool:
        """Whether it was given, by the user or anything else."""
        return self.origin.by != ""

    @property
    def is_demand(self) -> bool:
        """Whether the user or a file asked for it, so that it is not a proposal."""
        return self.rank >= Rank.FILE


#: The setting of a key that nobody has set.
UNSET = Setting(None, Origin("", Rank.DEFAULT))


def listed(value: Any) -> tuple[Any, ...]:
    """The components asked for in a slot of `STACKED`: `"a"` means one, None means none."""
    if value is None:
        return ()
    return tuple(value) if isinstance(value, (list, tuple)) else (value,)


def in_slots(given: Mapping[str, Any]) -> Iterator[str]:
    """The names of components that settings, or a component's `defaults`, put in slots of a run."""
    for slot, value in given.items():
        if slot in SLOTS or is_group_slot(slot):
            found = value.values() if isinstance(value, Mapping) else listed(value)
            yield from (one for one in found if isinstance(one, str))


@attrs.frozen
class SettingLayers:
    """All settings of a run that is being planned, one layer for each rank."""

    algorithm: str  #: the component whose settings have keys without a dot
    slots: Mapping[str, str]  #: the slots, each with the kind of its component
    by_rank: Mapping[Rank, Mapping[str, Setting]] = attrs.field(factory=dict)
    #: What settings of a file were written with (`RunSpec.written_with`).
    written_with: Mapping[str, str] = attrs.field(factory=dict)

    def with_setting(
        self, key: str, value: Any, origin: Origin, rank: Rank | None = None, asked: str = ""
    ) -> SettingLayers:
        """These layers with one more setting; components of a slot of `STACKED` are joined.

        The rank is that of its origin, unless another one is given.

        Raises:
            PlanError: if another value for that key has the same rank already, and none a higher
                one, which would count anyway.
        """
        shown = "none" if key in STACKED and not listed(value) else f"{value!r:.80}"
        rank = origin.rank if rank is None else rank
        setting = Setting(value, origin, rank, asked or f"{key}={shown}")
        before = self.at(rank, key)
        if not before.is_set:
            return self._put(key, setting)
        if before.value == value:
            return self
        if key not in STACKED:
            if self.find(key).rank > rank:
                return self
            raise self._contradiction(key, before, setting)
        if bool(listed(before.value)) != bool(listed(value)):
            raise one_setting_twice(before, setting)
        more = [one for one in listed(value) if one not in listed(before.value)]
        if not more:
            return self
        if origin != before.origin:
            origin = Origin(f"{before.origin} and {origin}", rank)
        return self._put(key, Setting((*listed(before.value), *more), origin, rank))

    def _put(self, key: str, setting: Setting) -> SettingLayers:
        layer = {**self.by_rank.get(setting.rank, {}), self._full(key): setting}
        return attrs.evolve(self, by_rank={**self.by_rank, setting.rank: layer})

    def _contradiction(self, key: str, before: Setting, now: Setting) -> PlanError:
        both = f"{before.value!r} and {now.value!r}"
        if key in self.slots:
            return PlanError(f"{both} both fill the slot {key!r}. Ask for one of them.")
        if before.rank == Rank.USER:
            return one_setting_twice(before, now)
        differ = f"{before.origin} and {now.origin} propose different values for {key!r}"
        return PlanError(f"{differ}: {both}. Set it yourself: --set {key}=…")

    def at(self, rank: Rank, key: str) -> Setting:
        """The setting of a key with that rank, or UNSET."""
        return self.by_rank.get(rank, {}).get(self._full(key), UNSET)

    def find(self, key: str) -> Setting:
        """The setting that counts for a key: the one with the highest rank, or UNSET."""
        found = (self.at(rank, key) for rank in reversed(Rank))
        return next((setting for setting in found if setting.is_set), UNSET)

    def __iter__(self) -> Iterator[tuple[str, Setting]]:
        """Every key and setting, those of the lowest rank first."""
        for rank in sorted(self.by_rank):
            yield from self.by_rank[rank].items()

    def _full(self, key: str) -> str:
        """The full key: one without a dot that is a setting of the algorithm gets its prefix."""
        if "." in key or key in self.slots or key in RUN_KEYS:
            return key
        return f"{self.algorithm}.{key}"


def one_setting_twice(before: Setting, now: Setting) -> PlanError:
    """The error for two values of one rank, where a further one would be a third."""
    both = f"{before.asked} ({before.origin}) and {now.asked} ({now.origin})"
    return PlanError(f"{both} are one setting with two values. Set one of them.")
