"""From a RunSpec to a Plan.

Layers of settings, plugins into slots, everything checked before it is built.
"""

from __future__ import annotations

from collections.abc import Mapping
from itertools import chain
from typing import TYPE_CHECKING, Any

import attrs

from rlk import check, settings
from rlk.component import STAGES, Component
from rlk.environment import EnvChoice, choose_environment
from rlk.errors import BrokenPlugin, PlanError, UnknownName
from rlk.loose import loose_entry
from rlk.plan import Choice, Plan
from rlk.plugins import Hooks
from rlk.registry import Entry
from rlk.spec import RUN_KEYS, SLOTS, Patch, RunSpec, flatten, parse_plugin

if TYPE_CHECKING:
    from rlk.kernel import Kernel

#: Kinds that `--plugin` puts into a slot of one, by the slot's name.
SLOT_OF = {kind: slot for slot, kind in SLOTS.items()}
#: Kinds of which any number may be active.
LISTS = ("wrappers", "callbacks", "loggers", "extensions")
DEFAULT_ENV = "CartPole-v1"
#: Who chose what `autostart` put in.
JOINED = "active in every run"
RUN_DEFAULTS: dict[str, Any] = {
    "env": DEFAULT_ENV,
    "n_envs": 1,
    "total_timesteps": 100_000,
    "seed": None,
    "device": "auto",
    "n_threads": None,
    "log_interval": 1,
    "verbose": 0,
}


@attrs.define
class _Asked:
    """A plugin that somebody asked for."""

    entry: Entry
    by: str
    settings: dict[str, Any]


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
    return _Resolver(kernel, spec, terminal, autostart).plan()


class _Resolver:
    """One resolution: layers, then slots, then configs, then checks."""

    def __init__(self, kernel: Kernel, spec: RunSpec, terminal: bool, autostart: bool) -> None:
        self.kernel, self.spec, self.terminal = kernel, spec, terminal
        self.autostart = autostart and spec.out is not None
        self.notes: list[str] = []
        self.layers: list[tuple[str, dict[str, Any]]] = [("default", dict(RUN_DEFAULTS))]
        if not spec.algo:
            names = kernel.registries.algorithms.names()
            raise PlanError(
                f"no algorithm. Say --algo NAME; installed: {', '.join(names) or 'none'}."
            )
        algorithms = kernel.registries.algorithms
        loose = ":" in spec.algo or spec.algo.endswith(".py")
        self.algorithm = (
            loose_entry(spec.algo, "algorithms") if loose else algorithms.get(spec.algo)
        )
        self.asked: dict[str, _Asked] = {}
        self.refused: dict[str, str] = {}
        self.objects: dict[str, Any] = {}
        self.preset = ""

    # ---- the stages of a resolution, in order ---------------------------------------------------

    def plan(self) -> Plan:
        algorithm = self.algorithm.component()
        by_algorithm = f"algorithm {self.algorithm.name}"
        self._layer(
            by_algorithm, {k: v for k, v in algorithm.defaults.items() if k != "distribution"}
        )
        said = self.spec.values()
        self._read_plugins(self.spec.plugins, "command line")
        self._apply_preset(
            str(said.get("env", self._peek("env"))) if not callable(said.get("env")) else ""
        )
        self._autostart()
        self._apply_patches()
        for key, value in said.items():
            self._layer(self.spec.origin.get(key, "command line"), {key: value})
        for name, asked in list(self.asked.items()):
            self._layer(asked.by, {f"{name}.{key}": value for key, value in asked.settings.items()})
        self._apply_switches(algorithm)
        return self._assemble(algorithm)

    def _layer(self, source: str, values: Mapping[str, Any]) -> None:
        self.layers.append((source, dict(values)))

    def _peek(self, key: str) -> Any:
        return self._find(key)[0]

    def _find(self, key: str) -> tuple[Any, str]:
        """The value that wins for a key, and who said it; (None, "") if nobody did."""
        for source, values in reversed(self.layers):
            if key in values:
                return values[key], source
        return None, ""

    def _read_plugins(self, plugins: Any, by: str) -> None:
        for plugin in plugins:
            if not isinstance(plugin, str):
                name = f"{type(plugin).__name__}-{len(self.objects)}"
                self.objects[name] = plugin
                continue
            if plugin.startswith("no:"):
                self.kernel.registries.find(plugin[3:])
                self.refused[plugin[3:]] = by
                continue
            name, given = parse_plugin(plugin)
            self._ask(name, by, given)

    def _ask(self, name: str, by: str, given: Mapping[str, Any] | None = None) -> None:
        loose = ":" in name or name.endswith(".py")
        entry = loose_entry(name) if loose else self.kernel.registries.find(name)
        if entry.kind == "algorithms":
            raise PlanError(
                f"{name!r} is an algorithm; choose it with --algo {name}, not as a plugin."
            )
        if entry.kind in ("commands", "presets", "environments"):
            raise PlanError(f"{entry.title()} is no part of a run and cannot be a plugin of one.")
        component = entry.component()
        if entry.name in self.refused:
            return
        if entry.kind in SLOT_OF and not component.stages:
            self._check_slot(entry, by)
        known = self.asked.get(entry.name)
        if known is not None:
            known.settings.update(given or {})
        else:
            self.asked[entry.name] = _Asked(entry, by, dict(given or {}))

    def _check_slot(self, entry: Entry, by: str) -> None:
        for other in self.asked.values():
            same = other.entry.kind == entry.kind and not other.entry.component().stages
            if same and other.entry.name != entry.name and other.by == by:
                slot = SLOT_OF[entry.kind]
                raise PlanError(
                    f"{other.entry.name!r} and {entry.name!r} both fill the slot {slot!r}. Ask "
                    "for one of them."
                )

    def _apply_preset(self, env: str) -> None:
        wanted = self.spec.preset or "none"
        if wanted == "none":
            return
        sources = self.kernel.registries.presets
        names = sources.names() if wanted == "auto" else [wanted]
        for name in names:
            source_of = sources.get(name).component().load()()
            found = source_of.find(self.algorithm.name, env)
            if found is None:
                why = getattr(source_of, "why_not", lambda *_: None)(self.algorithm.name, env)
                self.notes += [f"preset {name} left out: {why}"] if why else []
                continue
            self.preset = f"{name}: {self.algorithm.name} on {env}"
            source = f"preset {name}"
            values = flatten({k: v for k, v in found.items() if k != "plugins"})
            self._layer(source, values)
            mine = dict(self.asked)
            self._read_plugins(found.get("plugins", ()), source)
            self.asked.update(mine)
            self.notes.append(f"preset {self.preset} (--preset none turns it off)")
            return
        if wanted != "auto":
            why = "; ".join(self.notes) or "it has nothing for them"
            raise PlanError(f"preset {wanted!r} for {self.algorithm.name} on {env}: {why}.")

    def _autostart(self) -> None:
        """What runs without being asked for, in runs that write to a folder."""
        if not self.autostart:
            return
        for registry in (self.kernel.registries[kind] for kind in LISTS):
            for name in registry.names():
                try:
                    component = registry.get(name).component()
                except BrokenPlugin:
                    continue  # nobody asked for it: `rlk plugins list` shows its cause
                watched = component.autostart == "terminal" and self.terminal
                own = name == component.name and name not in self.asked
                if own and (component.autostart == "run" or watched):
                    self._ask(name, JOINED)

    def _apply_patches(self) -> None:
        hooks = self._activate_for_planning()
        proposals: dict[str, tuple[Any, str]] = {}
        for name, answer in hooks.answers("rlk_configure", spec=self.spec):
            for patch in answer if isinstance(answer, list) else [answer]:
                if not isinstance(patch, Patch):
                    raise BrokenPlugin(
                        f"plugin {name!r} answered rlk_configure with {answer!r}, no Patch."
                    )
                source = f"plugin {name}" + (f" ({patch.reason})" if patch.reason else "")
                self._read_plugins(patch.values.get("plugins", ()), source)
                for key, value in patch.values.items():
                    other = proposals.get(key)
                    if key != "plugins" and other is not None and other[0] != value:
                        raise PlanError(
                            f"{other[1]} and {source} propose different values for {key!r}: "
                            f"{other[0]!r} and "
                            f"{value!r}. Set it yourself: --set {key}=…"
                        )
                    proposals[key] = (value, source)
        for key, (value, source) in proposals.items():
            if key != "plugins":
                self._layer(source, {key: value})

    def _activate_for_planning(self) -> Hooks:
        hooks = Hooks()
        for asked in self.asked.values():
            if asked.entry.kind in ("extensions", "callbacks"):
                choice = self._choice(asked.entry, asked.by, asked.settings, {})
                hooks.activate(choice.make(), asked.entry.name, asked.entry.owner)
        for name, plugin in self.objects.items():
            hooks.activate(plugin, name)
        return hooks

    def _apply_switches(self, algorithm: Component) -> None:
        """`prioritized_replay=True` puts the plugin in; the plugin put in makes it True."""
        for key, plugin in algorithm.switches.items():
            value, source = self._find(key)
            if value is True and plugin not in self.asked:
                self._ask(plugin, source)
            elif (
                value is False
                and plugin in self.asked
                and source != f"algorithm {self.algorithm.name}"
            ):
                raise PlanError(
                    f"{key}=false and plugin {plugin!r} contradict each other; drop one of them."
                )
            if plugin in self.asked:
                self._layer(self.asked[plugin].by, {key: True})

    # ---- slots and configs ----------------------------------------------------------------------

    def _assemble(self, algorithm: Component) -> Plan:
        self._check_plain_keys(algorithm)
        run = {key: self._find(key) for key in RUN_KEYS}
        env = self._environment(run["env"][0])
        env.check()
        slots = {slot: self._slot(slot) for slot in SLOTS if slot != "distribution"}
        decorators = [
            a for a in self.asked.values() if a.entry.kind == "storages" and self._stages(a)
        ]
        lists = {kind: [a for a in self.asked.values() if a.entry.kind == kind] for kind in LISTS}
        # What joins every run (a monitor) sees what the environment gives, not what others make of it.
        lists["wrappers"].sort(key=lambda asked: asked.by != JOINED)
        used = {self.algorithm.name, "env", *SLOTS}
        named = [
            a for a in (*slots.values(), *decorators, *chain(*lists.values())) if a is not None
        ]
        used |= {asked.entry.name for asked in named} | self._distributions(algorithm)
        self._check_dotted_keys(used)
        fed = self._feeds(algorithm, {asked.entry.name: asked.entry for asked in named})
        made = {a.entry.name: self._configured(a, self._slot_name(a, slots), fed) for a in named}
        wrappers = tuple(made[a.entry.name] for a in lists["wrappers"])
        observation_space, action_space = check.probe(env, wrappers)
        chosen = Choice(
            kind="algorithms",
            name=self.algorithm.name,
            dist=self.algorithm.dist,
            version=self.algorithm.version,
            by=self.spec.origin.get("algo", "command line"),
            component=algorithm,
            **self._own_config(self.algorithm, fed),
        )
        check.spaces_fit(chosen, made, slots, observation_space, action_space)
        distribution = self._distribution(algorithm, action_space, used, fed)
        missing = [
            slot
            for slot in ("policy", "vec_env", "storage", "optimiser", "serializer")
            if slots[slot] is None
        ]
        if missing:
            raise PlanError(
                f"nothing fills the slot {missing[0]!r}: {chosen.title} names no default. Say "
                f"--{missing[0]} NAME."
            )

        def of(slot: str) -> Any:
            asked = slots[slot]
            return None if asked is None else made[asked.entry.name]

        plan = Plan(
            algorithm=chosen,
            policy=of("policy"),
            distribution=distribution,
            noise=of("noise"),
            vec_env=of("vec_env"),
            optimiser=of("optimiser"),
            serializer=of("serializer"),
            storages=(of("storage"), *check.stacked([made[d.entry.name] for d in decorators])),
            wrappers=wrappers,
            callbacks=tuple(made[a.entry.name] for a in lists["callbacks"]),
            loggers=tuple(made[a.entry.name] for a in lists["loggers"]),
            extensions=tuple(made[a.entry.name] for a in lists["extensions"]),
            objects=self.objects,
            env=env,
            observation_space=observation_space,
            action_space=action_space,
            out=self.spec.out or None,
            preset=self.preset,
            sources={key: source for key, (_, source) in run.items()},
            notes=tuple(self.notes),
            **{
                key: check.run_setting(key, value)
                for key, (value, _) in run.items()
                if key != "env"
            },
        )
        check.capabilities(plan)
        check.hooks(plan, self._activate_for_planning())
        return plan

    def _distributions(self, algorithm: Component) -> set[str]:
        """Names that the distribution may have: which it is depends on the action space."""
        wanted = self._find("distribution")[0] or algorithm.defaults.get("distribution") or {}
        return set(wanted.values()) if isinstance(wanted, Mapping) else {wanted}

    def _stages(self, asked: _Asked) -> tuple[str, ...]:
        return tuple(asked.entry.component().stages)

    def _environment(self, asked: Any) -> EnvChoice:
        kwargs: dict[str, Any] = {}
        for _, values in self.layers:
            kwargs |= {key[4:]: value for key, value in values.items() if key.startswith("env.")}
        modules = []
        if isinstance(asked, str):
            for entry in self.kernel.registries.environments:
                modules += list(entry.component().load()(asked) or ())
        return choose_environment(asked, kwargs, tuple(modules))

    def _slot(self, slot: str) -> _Asked | None:
        """What fills a slot: a plugin of that kind, else what the layers say."""
        kind = SLOTS[slot]
        value, source = self._find(slot)
        plugins = [a for a in self.asked.values() if a.entry.kind == kind and not self._stages(a)]
        named = value if isinstance(value, str) else ""
        for asked in plugins:
            if source == "command line" and asked.by == source and named != asked.entry.name:
                raise PlanError(
                    f"--{slot.replace('_', '-')} {named} and --plugin {asked.entry.name} both "
                    "fill the slot "
                    f"{slot!r}. Ask for one of them."
                )
        if plugins:
            return max(plugins, key=lambda asked: asked.by == "command line")
        if value is None:
            return None
        if not isinstance(value, str):
            return _Asked(loose_entry(value, kind), source, {})
        loose = ":" in value or value.endswith(".py")
        entry = loose_entry(value, kind) if loose else self.kernel.registries[kind].get(value)
        if slot == "storage" and entry.component().stages:
            raise PlanError(
                f"{entry.title()} decorates a storage and is none by itself. Say --plugin "
                f"{entry.name}."
            )
        return _Asked(entry, source, {})

    def _slot_name(self, asked: _Asked, slots: Mapping[str, _Asked | None]) -> str:
        if asked.entry.kind == "storages":
            return "storage"
        return next((slot for slot, other in slots.items() if other is asked), "")

    def _check_plain_keys(self, algorithm: Component) -> None:
        """A key without a dot belongs to the run or to the algorithm."""
        own = (
            {field.name for field in attrs.fields(algorithm.config)} if algorithm.config else set()
        )
        known = own | set(RUN_KEYS) | set(SLOTS)
        for _, values in self.layers:
            for key in values:
                if "." not in key and key not in known:
                    whose = f"setting of {self.algorithm.title()} or of a run:"
                    raise UnknownName(
                        whose, key, known, f"See: rlk plugins show {self.algorithm.name}"
                    )
        self._own_config(self.algorithm, {})

    def _check_dotted_keys(self, used: set[str]) -> None:
        """A key with a dot belongs to something in the plan."""
        for source, values in self.layers:
            for key in values:
                head, dot, _ = key.partition(".")
                if dot and head not in used:
                    raise UnknownName(
                        "component in this run", head, used, f"In the setting {key!r} ({source})."
                    )

    def _feeds(
        self, algorithm: Component, entries: Mapping[str, Entry]
    ) -> dict[str, tuple[Any, str]]:
        """`name.key` -> value, for settings of the algorithm that another component uses."""
        if algorithm.config is None:
            return {}
        config = self._own_config(self.algorithm, {})["config"]
        fed: dict[str, tuple[Any, str]] = {}
        for key, target in algorithm.feeds.items():
            name, _, setting = target.partition(".")
            if name not in entries:
                continue
            mine, mine_by = self._find(key)
            theirs, theirs_by = self._find(target)
            slot_value, slot_by = self._find(f"storage.{setting}")
            if not theirs_by and slot_by and entries[name].kind == "storages":
                theirs, theirs_by = slot_value, slot_by
            if (
                mine_by
                and theirs_by
                and mine != theirs
                and _is_users(mine_by) != _is_users(theirs_by)
            ):
                # What a user says at either end wins over what a preset says at the other.
                mine, mine_by, theirs, theirs_by = (
                    (mine, mine_by, mine, mine_by)
                    if _is_users(mine_by)
                    else (theirs, theirs_by, theirs, theirs_by)
                )
            if mine_by and theirs_by and mine != theirs:
                raise PlanError(
                    f"{key}={mine!r} ({mine_by}) and {target}={theirs!r} ({theirs_by}) are one "
                    "setting with two "
                    "values. Set one of them."
                )
            if theirs_by:
                self._layer(theirs_by, {key: theirs})
            fed[target] = (getattr(config, key), mine_by or f"{self.algorithm.name} {key}")
            if theirs_by:
                fed[target] = (theirs, theirs_by)
        return fed

    def _own_config(self, entry: Entry, fed: Mapping[str, Any]) -> dict[str, Any]:
        """The algorithm's config: keys without a dot, and `<algo>.key`."""
        component = entry.component()
        given: dict[str, tuple[Any, str]] = {}
        for source, values in self.layers:
            for key, value in values.items():
                own = key.removeprefix(f"{entry.name}.")
                if "." not in own and own not in RUN_KEYS and own not in SLOTS:
                    given[own] = (value, source)
        return self._structured(entry, component, given)

    def _configured(self, asked: _Asked, slot: str, fed: Mapping[str, tuple[Any, str]]) -> Choice:
        entry, component = asked.entry, asked.entry.component()
        known = (
            {field.name for field in attrs.fields(component.config)} if component.config else set()
        )
        given: dict[str, tuple[Any, str]] = {}
        for target, found in fed.items():
            if target.startswith(f"{entry.name}."):
                given[target.removeprefix(f"{entry.name}.")] = found
        for source, values in self.layers:
            for key, value in values.items():
                if key.startswith(f"{entry.name}."):
                    given[key.removeprefix(f"{entry.name}.")] = (value, source)
                elif slot and key.startswith(f"{slot}."):
                    setting = key.removeprefix(f"{slot}.")
                    # A storage's keys may be those of any in the stack, and what an algorithm or a
                    # preset wishes of its usual policy is no demand on another one.
                    wish = source.startswith((f"algorithm {self.algorithm.name}", "preset "))
                    wish = wish or slot == "storage"
                    if setting in known or not wish:
                        given[setting] = (value, source)
        return self._choice(entry, asked.by, {}, given)

    def _choice(
        self, entry: Entry, by: str, plain: Mapping[str, Any], given: Mapping[str, tuple[Any, str]]
    ) -> Choice:
        component = entry.component()
        values = {key: (value, by) for key, value in plain.items()} | dict(given)
        return Choice(
            kind=entry.kind,
            name=component.name,
            dist=entry.dist,
            version=entry.version,
            by=by,
            component=component,
            **self._structured(entry, component, values),
        )

    def _structured(
        self, entry: Entry, component: Component, given: Mapping[str, tuple[Any, str]]
    ) -> dict[str, Any]:
        if component.config is None:
            if given:
                raise PlanError(f"{entry.title()} has no settings, got {', '.join(sorted(given))}.")
            return {}
        values = dict(component.own) | {key: value for key, (value, _) in given.items()}
        config = settings.structure(component.config, values, entry.title())
        return {"config": config, "sources": {key: source for key, (_, source) in given.items()}}

    def _distribution(
        self, algorithm: Component, action_space: Any, used: set[str], fed: Mapping[str, Any]
    ) -> Choice | None:
        wanted, by = self._find("distribution")
        if wanted is None:
            wanted = algorithm.defaults.get("distribution")
            by = f"algorithm {self.algorithm.name}"
        if isinstance(wanted, Mapping):
            wanted = wanted.get(type(action_space).__name__)
        if wanted is None:
            return None
        entry = self.kernel.registries.distributions.get(wanted)
        return self._configured(_Asked(entry, by, {}), "distribution", fed)


def _is_users(source: str) -> bool:
    """Whether a setting was said by the user, not proposed by a preset, a plugin or a default."""
    return not source.startswith(("preset ", "plugin ", "algorithm ", "default"))


def stage_order(choice: Choice) -> int:
    """Where a decorating storage stands in the stack."""
    return min(STAGES.index(stage) for stage in choice.component.stages)
