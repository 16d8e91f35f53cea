"""Who wants what in a run: all that is said, by dotted key in one list, and who is asked for."""

from __future__ import annotations

import contextlib
from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

import attrs

from rlk import settings
from rlk.errors import BrokenPlugin, PlanError
from rlk.planning.plan import Choice
from rlk.planning.spec import (
    LISTS,
    RUN_KEYS,
    SLOTS,
    Patch,
    RunSpec,
    flatten,
    is_group_slot,
    parse_plugin,
)
from rlk.registry.external import PASSED, hooks_entry, is_place, loose_entry
from rlk.registry.hooks import Hooks, activated
from rlk.registry.kernel import Entry

if TYPE_CHECKING:
    from rlk.registry.kernel import Kernel

#: Precedence, weakest first. What is FORWARDED follows from the settings of another component.
DEFAULT, ALGORITHM, PRESET, PATCH, FILE, USER, FORWARDED = range(7)
JOINED, CALLER = "active in every run", "command line"


class Said(NamedTuple):
    """A value, who wants it, and how much their word counts."""

    value: Any
    by: str
    rank: int


class Wishes:
    """What everybody in turn has said."""

    def __init__(self, kernel: Kernel, spec: RunSpec) -> None:
        self.kernel, self.spec = kernel, spec
        algorithm = self.entry(spec.algo, "algorithms")
        self.algorithm = Choice.of(algorithm, "algorithm", CALLER)
        defaults = self.algorithm.component.defaults
        self.slots = SLOTS | dict.fromkeys(filter(is_group_slot, defaults), "optimisers")
        self.plugins: dict[str, Choice] = {}  # what fills no slot, by name
        self.preset = ""  # the one that was applied
        self.notes: list[str] = []  # what the user should be told
        self._ranks: list[dict[str, Said]] = [{} for _ in range(FORWARDED + 1)]
        self._refused: list[str] = []

    def collect(self, terminal: bool, autostart: bool) -> None:
        """Hear everybody."""
        algorithm = self.algorithm
        self.say(algorithm.component.defaults, f"algorithm {algorithm.name}", ALGORITHM)
        for key, value in self.spec.said.items():
            origin = self.spec.origin.get(key)
            self.say({key: value}, origin or CALLER, FILE if origin else USER)
        self._ask(self.spec.plugins, CALLER, USER)
        if (preset := self.spec.said.get("preset", "none")) != "none":
            self._apply_preset(preset)
        joining = ("always", "run", "terminal")
        self._join(joining[: 1 + autostart + (autostart and terminal)])
        self._apply_patches()
        self._apply_switches()

    def say(self, values: Mapping[str, Any], by: str, rank: int) -> None:
        """Settings by dotted key; nobody of the same rank may contradict. Plugins are joined."""
        for key, value in values.items():
            if key == "plugins":
                self._ask(value, by, rank)
                continue
            other = self._ranks[rank].setdefault(self._full(key), Said(value, by, rank))
            both = f"{other.value!r} and {value!r}"
            if other.value == value:
                continue
            if key in self.slots:
                raise PlanError(f"{both} both fill the slot {key!r}. Ask for one of them.")
            differ = f"{other.by} and {by} propose different values for {key!r}"
            raise PlanError(f"{differ}: {both}. Set it yourself: --set {key}=…")

    def find(self, key: str) -> Said:
        """What counts for a key; by "" if nobody said anything."""
        found = [said[self._full(key)] for said in self._ranks if self._full(key) in said]
        return found[-1] if found else Said(None, "", DEFAULT)

    def __iter__(self) -> Iterator[tuple[str, Said]]:
        """(key, what was said) of everything, weakest first."""
        return (item for said in self._ranks for item in said.items())

    def _full(self, key: str) -> str:
        """A key without a dot is of a slot, of the run, or else of the algorithm."""
        own = "." not in key and key not in self.slots and key not in RUN_KEYS
        return f"{self.algorithm.name}.{key}" if own else key

    def entry(self, asked: Any, kind: str | None = None) -> Entry:
        """A component by name, at a place or as an object."""
        registries = self.kernel.registries
        if not isinstance(asked, str) or is_place(asked):
            return loose_entry(asked, kind, registries)
        return registries[kind].get(asked) if kind else registries.find(asked)

    def filling(self, slot: str, action_space: str = "") -> list[Choice]:
        """The component in a slot, if there is one; a distribution may depend on the space."""
        value, by, _ = self.find(slot)
        value = value.get(action_space) if isinstance(value, Mapping) else value
        if value is None or value in self._refused:
            return []
        choice = Choice.of(self.entry(value, self.slots[slot]), slot, by)
        if choice.component.stages:
            wrong = f"{choice.title} decorates a storage and is none by itself"
            raise PlanError(f"{wrong}. Say --plugin {choice.name}.")
        return [choice]

    def active(self) -> list[Choice]:
        """All that goes into the run but the distribution."""
        slots = [one for slot in self.slots if slot != "distribution" for one in self.filling(slot)]
        # A wrapper of every run (a monitor) sees what the environment gives, not what others make.
        first = ("wrappers", JOINED)
        return slots + sorted(self.plugins.values(), key=lambda one: (one.slot, one.by) != first)

    def configured(self, choice: Choice) -> Choice:
        """A component with the settings that were said under its name or its slot."""
        component, given = choice.component, dict[str, Said]()
        known = settings.names(component.config)
        for key, said in self:
            head, _, setting = key.partition(".")
            # A storage's keys may be those of any in the stack, and what an algorithm or a preset
            # wishes of its usual policy is no demand on another one.
            demand = said.rank >= FILE and choice.slot != "storage"
            ours = head == choice.slot and (demand or setting in known)
            if setting and (ours or head in (choice.name, choice.alias)):
                given[setting] = said
        values = {**component.own, **{key: said.value for key, said in given.items()}}
        others = (*RUN_KEYS, *self.slots) if choice.slot == "algorithm" else ()
        config = settings.structure(component.config, values, choice.title, others)
        by = {key: said.by for key, said in given.items()}
        return attrs.evolve(choice, config=config, sources=by)

    def forward(self, active: Iterable[Choice]) -> None:
        """Settings of the algorithm that other components use: one setting under several keys."""
        places = {choice.name: choice.slot for choice in active}
        usual = self.configured(self.algorithm).config
        for key, target in self.algorithm.component.forwards.items():
            name, _, setting = target.partition(".")
            if name not in places:
                continue
            keys = (key, target, f"{places[name]}.{setting}")
            ends = {end: said for end in keys if (said := self.find(end)).by}
            if not ends:
                self.say({target: getattr(usual, key)}, f"{self.algorithm.name} {key}", FORWARDED)
                continue
            value, by, rank = max(ends.values(), key=lambda said: said.rank)
            top = [(end, said) for end, said in ends.items() if said.rank == rank]
            if any(said.value != value for _, said in top):
                both = " and ".join(f"{end}={said.value!r} ({said.by})" for end, said in top)
                raise PlanError(f"{both} are one setting with two values. Set one of them.")
            self.say({key: value, target: value}, by, FORWARDED)

    def _ask(self, plugins: Iterable[Any], by: str, rank: int) -> None:
        """`NAME[:key=value,…]`, `no:NAME`, or objects that implement hooks."""
        for plugin in plugins:
            if not isinstance(plugin, str):
                others = sum(one.dist == PASSED for one in self.plugins.values())
                self._put_in(hooks_entry(plugin, others), by, rank)
            elif plugin.startswith("no:"):
                self._refused.append(self.kernel.registries.find(plugin[3:]).name)
            else:
                name, given = parse_plugin(plugin)
                entry = self.entry(name)
                if entry.name not in self._refused:
                    own = self._put_in(entry, by, rank, name).name
                    self.say({f"{own}.{key}": v for key, v in given.items()}, by, rank)

    def _put_in(self, entry: Entry, by: str, rank: int, name: str = "") -> Choice:
        slot = next((slot for slot, kind in SLOTS.items() if kind == entry.kind), None)
        choice = Choice.of(entry, slot or entry.kind, by)
        if entry.kind in LISTS or choice.component.stages:
            self.plugins.setdefault(choice.name, choice)
        elif slot:
            self.say({slot: name}, by, rank)
        else:
            hint = f"; choose it with --algo {name}" if entry.kind == "algorithms" else ""
            raise PlanError(f"{entry.title} is no part of a run that --plugin puts in{hint}.")
        return choice

    def _join(self, wanted: tuple[str, ...]) -> None:
        """What is active without being asked for, but for what is broken."""
        for entry in (entry for kind in LISTS for entry in self.kernel.registries[kind]):
            with contextlib.suppress(BrokenPlugin):  # `rlk plugins list` shows its cause
                component = entry.component()
                if component.autostart in wanted and component.name == entry.name:
                    Hooks().activate(entry.load(), entry.name, entry.owner)
                    self._ask([entry.name], JOINED, DEFAULT)

    def _apply_preset(self, wanted: str) -> None:
        sources = self.kernel.registries.presets
        algo, env = self.algorithm.name, self.find("env").value
        for name in sources.names() if wanted == "auto" else [wanted]:
            source = sources.get(name).load()()
            found = source.find(algo, env if isinstance(env, str) else "")
            if found is not None:
                self.say(flatten(found), f"preset {name}", PRESET)
                self.preset = f"{name}: {algo} on {env}"
                self.notes.append(f"preset {self.preset} (--preset none turns it off)")
                return
            why = getattr(source, "why_not", lambda *_: None)(algo, env)
            self.notes += [f"preset {name} left out: {why}"] if why else []
        if wanted != "auto":
            why = "; ".join(self.notes) or "it has nothing for them"
            raise PlanError(f"preset {wanted!r} for {algo} on {env}: {why}.")

    def _apply_patches(self) -> None:
        hooks = activated(map(self.configured, self.plugins.values()))
        for name, answer in hooks.answers("rlk_configure", spec=self.spec):
            for patch in answer if isinstance(answer, list) else [answer]:
                if not isinstance(patch, Patch):
                    raise BrokenPlugin(f"plugin {name!r} gave rlk_configure {patch!r}, no Patch.")
                reason = f" ({patch.reason})" if patch.reason else ""
                self.say(patch.values, f"plugin {name}{reason}", PATCH)

    def _apply_switches(self) -> None:
        """`prioritized_replay=True` puts the plugin in; the plugin put in makes it True.
        `action_noise="normal-noise:sigma=0.1"` names a plugin of its kind, as after `--plugin`."""
        for key, kind in self.algorithm.component.selects.items():
            said = self.find(key)
            if said.value not in (None, "none"):
                self.kernel.registries[kind].get(parse_plugin(said.value)[0])
                self._ask([said.value], said.by, said.rank)
        for key, plugin in self.algorithm.component.activates.items():
            said = self.find(key)
            if said.value is True:
                self._ask([plugin], said.by, said.rank)
            found = next((one for one in self.active() if one.name == plugin), None)
            if found and said.value is False:
                both = f"{key}=false and plugin {plugin!r}"
                raise PlanError(f"{both} contradict each other; drop one of them.")
            if found:
                self.say({key: True}, found.by, FORWARDED)
