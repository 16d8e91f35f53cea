"""From a RunSpec to a Plan: who fills each slot, with which settings, and whether it fits."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import chain
from typing import TYPE_CHECKING, Any

import attrs

from rlk import check, diagnose
from rlk.component import Component
from rlk.environment import EnvChoice, choose_environment
from rlk.errors import PlanError, UnknownName
from rlk.layers import Said, is_users
from rlk.loose import is_path, loose_entry
from rlk.plan import Choice, Plan, choose
from rlk.registry import Entry
from rlk.spec import RUN_KEYS, SLOTS, RunSpec
from rlk.wishes import JOINED, LISTS, USER, Asked, Wishes

if TYPE_CHECKING:
    from rlk.kernel import Kernel

RUN_DEFAULTS: dict[str, Any] = {
    "env": "CartPole-v1",
    "n_envs": 1,
    "total_timesteps": 100_000,
    "seed": None,
    "device": "auto",
    "n_threads": None,
    "log_interval": 1,
    "verbose": 0,
}


def resolve(
    kernel: Kernel, spec: RunSpec, *, terminal: bool = False, autostart: bool = True
) -> Plan:
    """The plan for a spec.

    Args:
        terminal: whether a person watches; components with `autostart="terminal"` join then.
        autostart: whether any join unasked, in a run that writes to a folder.

    Raises:
        PlanError: for whatever does not exist or does not fit, before anything is built or written.
    """
    if not spec.algo:
        names = ", ".join(kernel.registries.algorithms.names()) or "none"
        raise PlanError(f"no algorithm. Say --algo NAME; installed: {names}.")
    algorithm = _entry(kernel, spec.algo, "algorithms")
    wishes = Wishes(kernel, spec, algorithm)
    wishes.collect(RUN_DEFAULTS, terminal, autostart and spec.out is not None)
    return _Resolver(kernel, spec, wishes).plan()


def _entry(kernel: Kernel, asked: Any, kind: str) -> Entry:
    """An installed component by name, or one at a path or passed as an object."""
    if not isinstance(asked, str) or is_path(asked):
        return loose_entry(asked, kind)
    return kernel.registries[kind].get(asked)


class _Resolver:
    """One resolution: slots, then configs, then checks."""

    def __init__(self, kernel: Kernel, spec: RunSpec, wishes: Wishes) -> None:
        self.kernel, self.spec, self.wishes, self.layers = kernel, spec, wishes, wishes.layers
        self.algorithm = wishes.algorithm
        self.component: Component = self.algorithm.component()

    def plan(self) -> Plan:
        self._check_plain_keys()
        run = {key: self.layers.find(key) for key in RUN_KEYS}
        env = self._environment(run["env"][0])
        env.check()
        run["n_envs"] = check.vector_size(env, *run["n_envs"])
        slots = {slot: self._slot(slot) for slot in SLOTS if slot != "distribution"}
        asked = list(self.wishes.asked.values())
        decorators = [a for a in asked if a.decorates]
        lists = {kind: [a for a in asked if a.entry.kind == kind] for kind in LISTS}
        # What joins every run (a monitor) sees what the environment gives, not what others make
        # of it.
        lists["wrappers"].sort(key=lambda a: a.by != JOINED)
        active = [a for a in (*slots.values(), *decorators, *chain(*lists.values())) if a]
        self._check_dotted_keys(active)
        for entry in (self.algorithm, *(a.entry for a in active)):
            diagnose.require(entry)
        fed = self._feeds({a.entry.name: a.entry for a in active})
        made = {a.entry.name: self._configured(a, _slot_of(a, slots), fed) for a in active}
        algorithm = choose(self.algorithm, self.spec.origin.get("algo", USER), self._own_settings())
        wrappers = tuple(made[a.entry.name] for a in lists["wrappers"])
        observation_space, action_space = check.probe(env, wrappers)
        check.spaces_fit(algorithm, made, slots, observation_space, action_space)
        filled: dict[str, Any] = {s: made[a.entry.name] for s, a in slots.items() if a is not None}
        check.slots_filled(algorithm, filled)
        storages = (filled.pop("storage"), *check.stacked([made[d.entry.name] for d in decorators]))
        filled |= {kind: tuple(made[a.entry.name] for a in lists[kind]) for kind in LISTS}
        filled |= {key: check.run_setting(key, run[key][0]) for key in RUN_KEYS if key != "env"}
        plan = Plan(
            algorithm=algorithm,
            **filled,
            distribution=self._distribution(action_space, fed),
            storages=storages,
            objects=self.wishes.objects,
            env=env,
            observation_space=observation_space,
            action_space=action_space,
            out=self.spec.out or None,
            preset=self.wishes.preset,
            sources={key: source for key, (_, source) in run.items()},
            notes=tuple(self.wishes.notes),
        )
        check.capabilities(plan)
        hooks = self.wishes.hooks()
        check.hooks(plan, hooks)
        return hooks.first("rlk_settle_plan", plan=plan) or plan

    # ---- what fills a slot ----------------------------------------------------------------------

    def _environment(self, asked: Any) -> EnvChoice:
        kwargs = {key: value for key, (value, _) in self.layers.under("env").items()}
        modules: list[str] = []
        if isinstance(asked, str):
            for entry in self.kernel.registries.environments:
                modules += entry.component().load()(asked) or ()
        return choose_environment(asked, kwargs, tuple(modules))

    def _slot(self, slot: str) -> Asked | None:
        """A plugin of that kind, else what the layers say."""
        kind = SLOTS[slot]
        value, source = self.layers.find(slot)
        asked = self.wishes.asked.values()
        plugins = [a for a in asked if a.entry.kind == kind and not a.decorates]
        for plugin in plugins:
            if source == plugin.by == USER and value != plugin.entry.name:
                raise PlanError(
                    f"--{slot.replace('_', '-')} {value} and --plugin {plugin.entry.name} both "
                    f"fill the slot {slot!r}. Ask for one of them."
                )
        if plugins:
            return max(plugins, key=lambda plugin: plugin.by == USER)
        if value is None:
            return None
        found = Asked(_entry(self.kernel, value, kind), source)
        if found.decorates:
            raise PlanError(
                f"{found.entry.title()} decorates a storage and is none by itself. "
                f"Say --plugin {found.entry.name}."
            )
        return found

    def _distribution(self, action_space: Any, fed: Mapping[str, Said]) -> Choice | None:
        wanted, by = self._wanted_distribution()
        if isinstance(wanted, Mapping):
            wanted = wanted.get(type(action_space).__name__)
        if wanted is None:
            return None
        entry = _entry(self.kernel, wanted, "distributions")
        return self._configured(Asked(entry, by), "distribution", fed)

    def _wanted_distribution(self) -> Said:
        """A name, or one per action space, or None."""
        wanted, by = self.layers.find("distribution")
        if wanted is not None:
            return wanted, by
        return self.component.defaults.get("distribution"), f"algorithm {self.algorithm.name}"

    # ---- settings -------------------------------------------------------------------------------

    def _check_plain_keys(self) -> None:
        """A key without a dot belongs to the run or to the algorithm."""
        known = _fields(self.component) | set(RUN_KEYS) | set(SLOTS)
        for key, _, _ in self.layers:
            if "." not in key and key not in known:
                hint = f"See: rlk plugins show {self.algorithm.name}"
                whose = f"setting of {self.algorithm.title()} or of a run:"
                raise UnknownName(whose, key, known, hint)
        choose(self.algorithm, USER, self._own_settings())

    def _check_dotted_keys(self, active: list[Asked]) -> None:
        """A key with a dot belongs to something in the plan."""
        wanted = self._wanted_distribution()[0] or {}
        names = {wanted} if not isinstance(wanted, Mapping) else set(wanted.values())
        known = {self.algorithm.name, "env", *SLOTS, *names, *(a.entry.name for a in active)}
        stack = [a.entry.component() for a in active if a.entry.kind == "storages"]
        of_storage = set().union(*(_fields(component) for component in stack))
        for key, _, source in self.layers:
            head, dot, rest = key.partition(".")
            if dot and head not in known:
                hint = f"In the setting {key!r} ({source})."
                raise UnknownName("component in this run", head, known, hint)
            if head == "storage" and dot and rest not in of_storage:
                raise UnknownName("setting of this run's storages:", rest, of_storage)

    def _own_settings(self) -> dict[str, Said]:
        """The algorithm's: keys without a dot, and `<algo>.key`."""
        given: dict[str, Said] = {}
        for key, value, source in self.layers:
            own = key.removeprefix(f"{self.algorithm.name}.")
            if "." not in own and own not in RUN_KEYS and own not in SLOTS:
                given[own] = (value, source)
        return given

    def _configured(self, asked: Asked, slot: str, fed: Mapping[str, Said]) -> Choice:
        """A component with what was said under its name, under its slot, or fed to it."""
        name, known = asked.entry.name, _fields(asked.entry.component())
        given = {k.partition(".")[2]: v for k, v in fed.items() if k.startswith(f"{name}.")}
        for key, value, source in self.layers:
            head, dot, setting = key.partition(".")
            # A storage's keys may be those of any in the stack, and what an algorithm or a preset
            # wishes of its usual policy is no demand on another one.
            wish = slot == "storage" or not is_users(source)
            if dot and (head == name or (head == slot and (setting in known or not wish))):
                given[setting] = (value, source)
        return choose(asked.entry, asked.by, given)

    def _feeds(self, entries: Mapping[str, Entry]) -> dict[str, Said]:
        """`name.key` -> value, for settings of the algorithm that another component uses."""
        fed: dict[str, Said] = {}
        if self.component.config is None:
            return fed
        config = choose(self.algorithm, USER, self._own_settings()).config
        for key, target in self.component.feeds.items():
            name, _, setting = target.partition(".")
            if name not in entries:
                continue
            mine, theirs = self.layers.find(key), self.layers.find(target)
            if not theirs[1] and entries[name].kind == "storages":
                theirs = self.layers.find(f"storage.{setting}")
            if mine[1] and theirs[1] and mine[0] != theirs[0]:
                theirs = self._whose_counts(key, mine, target, theirs)
            if theirs[1]:
                self.layers.add(theirs[1], {key: theirs[0], target: theirs[0]})
            by = mine[1] or f"{self.algorithm.name} {key}"
            fed[target] = theirs if theirs[1] else (getattr(config, key), by)
        return fed

    def _whose_counts(self, key: str, mine: Said, target: str, theirs: Said) -> Said:
        """What a user says at either end wins over what a preset says at the other."""
        if is_users(mine[1]) == is_users(theirs[1]):
            raise PlanError(
                f"{key}={mine[0]!r} ({mine[1]}) and {target}={theirs[0]!r} ({theirs[1]}) are one "
                "setting with two values. Set one of them."
            )
        return mine if is_users(mine[1]) else theirs


def _fields(component: Component) -> set[str]:
    """The names of a component's settings."""
    return {field.name for field in attrs.fields(component.config)} if component.config else set()


def _slot_of(asked: Asked, slots: Mapping[str, Asked | None]) -> str:
    """The slot whose settings a component takes; decorating storages share the base's."""
    if asked.entry.kind == "storages":
        return "storage"
    return next((slot for slot, other in slots.items() if other is asked), "")
