"""Who wants what in a run: the algorithm's defaults, a preset, plugins that propose, the user."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

import attrs

from rlk import diagnose
from rlk.component import Component
from rlk.errors import BrokenPlugin, PlanError
from rlk.layers import Layers
from rlk.loose import is_path, loose_entry
from rlk.plan import choose
from rlk.plugins import Hooks
from rlk.registry import Entry
from rlk.spec import SLOTS, Patch, RunSpec, flatten, parse_plugin

if TYPE_CHECKING:
    from rlk.kernel import Kernel

#: Kinds that `--plugin` puts into a slot of one, by the slot's name.
SLOT_OF = {kind: slot for slot, kind in SLOTS.items()}
#: Kinds of which any number may be active.
LISTS = ("wrappers", "callbacks", "loggers", "extensions")
#: Who chose what `autostart` put in.
JOINED = "active in every run"
USER = "command line"


@attrs.define
class Asked:
    """A component that somebody asked for."""

    entry: Entry
    by: str
    settings: dict[str, Any] = attrs.field(factory=dict)

    @property
    def decorates(self) -> bool:
        """Whether it is a storage that decorates another."""
        return self.entry.kind == "storages" and bool(self.entry.component().stages)


class Wishes:
    """Collects layers of settings and the plugins that were asked for.

    Attributes:
        layers: settings, weakest first. asked: plugins by name. objects: plugins passed as objects.
        preset: the one that was applied, or "". notes: what the user should be told.
    """

    def __init__(self, kernel: Kernel, spec: RunSpec, algorithm: Entry) -> None:
        self.kernel, self.spec, self.algorithm = kernel, spec, algorithm
        self.layers = Layers()
        self.asked: dict[str, Asked] = {}
        self.objects: dict[str, Any] = {}
        self.preset = ""
        self.notes: list[str] = []
        self._refused: set[str] = set()

    def collect(self, defaults: Mapping[str, Any], terminal: bool, autostart: bool) -> None:
        """Everybody in turn, weakest first; what the user asks for is read first and stays."""
        component, said = self.algorithm.component(), self.spec.values()
        wanted = {key: v for key, v in component.defaults.items() if key != "distribution"}
        self.layers.add("default", defaults)
        self.layers.add(f"algorithm {self.algorithm.name}", wanted)
        self.read_plugins(self.spec.plugins, USER)
        env = said.get("env", self.layers.find("env")[0])
        self._apply_preset(env if isinstance(env, str) else "")
        if autostart:
            self._join(terminal)
        self._apply_patches()
        for key, value in said.items():
            self.layers.add(self.spec.origin.get(key, USER), {key: value})
        self._apply_switches(component)
        for name, asked in self.asked.items():
            own = {f"{name}.{key}": value for key, value in asked.settings.items()}
            self.layers.add(asked.by, own)

    # ---- plugins --------------------------------------------------------------------------------

    def read_plugins(self, plugins: Iterable[Any], by: str) -> None:
        """`NAME[:key=value,…]`, `no:NAME`, or objects that implement hooks."""
        for plugin in plugins:
            if not isinstance(plugin, str):
                self.objects[f"{type(plugin).__name__}-{len(self.objects)}"] = plugin
            elif plugin.startswith("no:"):
                self._refused.add(self.kernel.registries.find(plugin[3:]).name)
            else:
                name, given = parse_plugin(plugin)
                self.ask(name, by, given)

    def ask(self, name: str, by: str, given: Mapping[str, Any] | None = None) -> None:
        """Put a plugin in, unless it was refused."""
        entry = loose_entry(name) if is_path(name) else self.kernel.registries.find(name)
        if entry.kind == "algorithms":
            raise PlanError(
                f"{name!r} is an algorithm; choose it with --algo {name}, not as a plugin."
            )
        if entry.kind in ("commands", "presets", "environments"):
            raise PlanError(f"{entry.title()} is no part of a run and cannot be a plugin of one.")
        if entry.name in self._refused:
            return
        asked = Asked(entry, by)
        if entry.kind in SLOT_OF and not asked.decorates:
            self._check_alone(asked)
        self.asked.setdefault(entry.name, asked).settings.update(given or {})

    def _check_alone(self, new: Asked) -> None:
        for other in self.asked.values():
            same = other.entry.kind == new.entry.kind and not other.decorates
            if same and other.entry.name != new.entry.name and other.by == new.by:
                raise PlanError(
                    f"{other.entry.name!r} and {new.entry.name!r} both fill the slot "
                    f"{SLOT_OF[new.entry.kind]!r}. Ask for one of them."
                )

    def _join(self, terminal: bool) -> None:
        """What is active without being asked for."""
        for kind in LISTS:
            registry = self.kernel.registries[kind]
            for name in registry.names():
                try:
                    component = registry.get(name).component()
                except BrokenPlugin:
                    continue  # nobody asked for it: `rlk plugins list` shows its cause
                wanted = ("run", "terminal") if terminal else ("run",)
                own = name == component.name and name not in self.asked
                if own and component.autostart in wanted:
                    self.ask(name, JOINED)

    def hooks(self) -> Hooks:
        """A plugin manager with all that was asked for, for the hooks of planning."""
        hooks = Hooks()
        for name, asked in self.asked.items():
            if asked.entry.kind in ("extensions", "callbacks"):
                diagnose.require(asked.entry)
                given = {key: (value, asked.by) for key, value in asked.settings.items()}
                hooks.activate(choose(asked.entry, asked.by, given).make(), name, asked.entry.owner)
        for name, plugin in self.objects.items():
            hooks.activate(plugin, name)
        return hooks

    # ---- who else has a say ---------------------------------------------------------------------

    def _apply_preset(self, env: str) -> None:
        wanted = self.spec.preset or "none"
        if wanted == "none":
            return
        sources = self.kernel.registries.presets
        for name in sources.names() if wanted == "auto" else [wanted]:
            source = sources.get(name).component().load()()
            found = source.find(self.algorithm.name, env)
            if found is None:
                why = getattr(source, "why_not", lambda *_: None)(self.algorithm.name, env)
                self.notes += [f"preset {name} left out: {why}"] if why else []
                continue
            self.layers.add(f"preset {name}", flatten(without_plugins(found)))
            mine = dict(self.asked)
            self.read_plugins(found.get("plugins", ()), f"preset {name}")
            self.asked.update(mine)
            self.preset = f"{name}: {self.algorithm.name} on {env}"
            self.notes.append(f"preset {self.preset} (--preset none turns it off)")
            return
        if wanted != "auto":
            why = "; ".join(self.notes) or "it has nothing for them"
            raise PlanError(f"preset {wanted!r} for {self.algorithm.name} on {env}: {why}.")

    def _apply_patches(self) -> None:
        proposals: dict[str, tuple[Any, str]] = {}
        for name, answer in self.hooks().answers("rlk_configure", spec=self.spec):
            for patch in answer if isinstance(answer, list) else [answer]:
                if not isinstance(patch, Patch):
                    raise BrokenPlugin(
                        f"plugin {name!r} answered rlk_configure with {answer!r}, no Patch."
                    )
                source = f"plugin {name}" + (f" ({patch.reason})" if patch.reason else "")
                self.read_plugins(patch.values.get("plugins", ()), source)
                for key, value in without_plugins(patch.values).items():
                    other, whose = proposals.get(key, (value, source))
                    if other != value:
                        raise PlanError(
                            f"{whose} and {source} propose different values for {key!r}: "
                            f"{other!r} and {value!r}. Set it yourself: --set {key}=…"
                        )
                    proposals[key] = (value, source)
        for key, (value, source) in proposals.items():
            self.layers.add(source, {key: value})

    def _apply_switches(self, component: Component) -> None:
        """`prioritized_replay=True` puts the plugin in; the plugin put in makes it True.

        With a kind instead of a plugin, the setting names one of that kind, as after `--plugin`.
        """
        for key, plugin in component.switches.items():
            value, source = self.layers.find(key)
            if plugin in SLOT_OF:
                if isinstance(value, str) and value != "none":
                    self.kernel.registries[plugin].get(parse_plugin(value)[0])
                    self.read_plugins([value], source)
            elif value is True and plugin not in self.asked:
                self.ask(plugin, source)
            elif value is False and plugin in self.asked:
                raise PlanError(
                    f"{key}=false and plugin {plugin!r} contradict each other; drop one of them."
                )
            if plugin in self.asked:
                self.layers.add(self.asked[plugin].by, {key: True})


def without_plugins(values: Mapping[str, Any]) -> dict[str, Any]:
    """Settings without the list of plugins, which is joined and not replaced."""
    return {key: value for key, value in values.items() if key != "plugins"}
