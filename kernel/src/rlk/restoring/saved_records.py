"""A plan in files, as records whose types are checked before they are used."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import attrs

from rlk.command_line import pip_install
from rlk.component import is_name
from rlk.errors import BrokenPlugin
from rlk.planning.choice import prefix_of
from rlk.registry.external import PASSED, is_code_place, is_external
from rlk.registry.kinds import KINDS, REPLACEABLE, SLOTS, STACKED, is_group_slot, singular

if TYPE_CHECKING:
    from rlk.registry.entry import Entry
    from rlk.registry.registries import Registries

_ROLES = ("algorithm", "decorator", *SLOTS, *map(singular, KINDS))


def _is_role(_: object, attribute: attrs.Attribute[Any], value: str) -> None:
    if value not in _ROLES and not (is_group_slot(value) and value.isidentifier()):
        raise ValueError(f"{attribute.name} {value!r} is not a part of a run")


def _is_name(_: object, attribute: attrs.Attribute[Any], value: str) -> None:
    is_name(_, attribute, value)
    if is_code_place(value) or value.partition(".")[0] == "env":
        raise ValueError(f"{attribute.name} {value!r} is not the name of a component")


def _fit_together(_: object, attribute: attrs.Attribute[Any], value: list[SavedComponent]) -> None:
    of_one = [one.role for one in value if one.role == "algorithm" or one.fills_slot]
    of_one = [slot for slot in of_one if slot not in STACKED]
    if "algorithm" not in of_one or len(of_one) != len(set(of_one)):
        raise ValueError(f"{attribute.name} has no algorithm, or two components in one slot")


@attrs.frozen(kw_only=True)
class SavedEnvironment:
    """The environment, as it was named or passed."""

    name: str
    kwargs: dict[str, Any]
    source: str  #: the component that resolved the name; empty for an object
    passed_as_object: bool
    again: str | None  #: the text to type again for `--env`: "", a place; None: no text will do
    observation_space: str
    action_space: str
    #: Both with their bounds, by these names; None for one that files do not hold (`saved_spaces`).
    spaces: dict[str, dict[str, Any] | None]
    #: Likewise those inside the wrappers of the vector, if they are others.
    spaces_inside: dict[str, dict[str, Any] | None]
    tuples: list[list[Any]]  #: where `kwargs` had tuples


@attrs.frozen(kw_only=True)
class SavedRun:
    """The settings of the run itself (`RunSettings`); planning checks their ranges."""

    n_envs: int
    total_timesteps: int
    seed: int | None
    device: str
    n_threads: int | None
    log_interval: int
    preset: str  #: the one that had been applied, or ""

    def given(self) -> dict[str, Any]:
        """The settings in the form of a spec."""
        return attrs.asdict(self, filter=attrs.filters.exclude("preset"))


@attrs.frozen(kw_only=True)
class SavedComponent:
    """One component with all of its settings."""

    kind: str
    name: str = attrs.field(validator=_is_name)
    dist: str
    version: str
    settings: dict[str, Any]
    #: What it was in its run, as `Choice.role` says.
    role: str = attrs.field(validator=_is_role)
    chosen_by: str
    joined: bool  #: whether it had joined by itself
    set_by: dict[str, str]
    only_trains: bool  #: as its `Component` says

    @property
    def is_for_training(self) -> bool:
        """Whether training alone needs it, by what it says or by the slot that it fills."""
        of_slot = self.role in (*REPLACEABLE, *STACKED, "decorator") or is_group_slot(self.role)
        return self.only_trains or of_slot

    @property
    def only_watches(self) -> bool:
        """Whether it only watches a run, as any object that was passed may."""
        is_object = self.role == "extension" and self.dist == PASSED
        return self.role in ("callback", "logger") or is_object

    @property
    def may_change_actions(self) -> bool:
        """Whether the actions of the model may be others without it."""
        return not (self.is_for_training or self.only_watches)

    @property
    def fills_slot(self) -> bool:
        """Whether it fills a slot instead of being in a list."""
        return self.role in SLOTS or is_group_slot(self.role)

    @property
    def is_external(self) -> bool:
        """Whether it came from a place or was passed as an object."""
        return is_external(self.dist)

    @property
    def owner(self) -> str:
        """The distribution that it came from; a component from a program has no version."""
        return f"{self.dist} {self.version}".strip()

    @property
    def requirement(self) -> str:
        """What pip installs it by, with this version; only if it has a version."""
        return f"{self.dist}=={self.version}"

    @property
    def title(self) -> str:
        """What messages call it: its role, its name and where it came from."""
        return f"{self.role} {self.name!r} ({self.owner})"

    @property
    def prefix(self) -> str:
        """The prefix of the keys of its settings; no key of the run itself has one."""
        return prefix_of(self.role, self.name)

    def entry(self, registries: Registries) -> Entry | None:
        """What is installed under its name and kind, or None; BrokenPlugin if that is several."""
        known = (one for one in registries if one.kind == self.kind and self.name in one)
        registry = next(known, None)
        return None if registry is None else registry.get(self.name)

    def absence(self, registries: Registries) -> str | None:
        """Why what is installed under its name cannot be used, or None if it can."""
        try:
            entry = self.entry(registries)
            if entry is None:
                return "it is not installed here"
            entry.load()
        except BrokenPlugin as error:
            return str(error)
        return None


def how_to_get(missing: Sequence[SavedComponent]) -> str:
    """What to do where components are not there, such as the versions that the file is from."""
    requirements = [saved.requirement for saved in missing if saved.version]
    of_programs = [repr(saved.name) for saved in missing if not saved.version]
    ways = [pip_install(requirements)] if requirements else []
    if of_programs:
        ways.append(f"register {' and '.join(of_programs)} as that program did")
    return " and ".join(ways)


@attrs.frozen(kw_only=True)
class SavedPlan:
    """All of a plan, as `saved_plan.as_json` writes it."""

    env: SavedEnvironment
    run: SavedRun
    components: list[SavedComponent] = attrs.field(validator=_fit_together)
    set_by: dict[str, str]
    left_out: list[str]

    @property
    def algorithm(self) -> SavedComponent:
        """The algorithm among the components."""
        return next(one for one in self.components if one.role == "algorithm")
