"""What was asked for: the RunSpec, and how it is read from keywords and from text.

Every choice and setting has a dotted key in one flat namespace: `n_envs`, `policy`, `gamma` (the
algorithm's), `policy.layers` (the component in a slot), `prioritized-replay.alpha` (a component by
name), `env.gravity` (a keyword of the environment).
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping
from typing import Any

import attrs
from attrs import validators as v

from rlk.errors import PlanError

#: Slots that hold one component, by the option that fills them, and the kind that goes there.
SLOTS = {
    "policy": "policies",
    "distribution": "distributions",
    "noise": "noises",
    "vec_env": "vec_envs",
    "storage": "storages",
    "optimiser": "optimisers",
    "serializer": "serializers",
}
#: Kinds of which any number may be active.
LISTS = ("wrappers", "callbacks", "loggers", "extensions")


def is_group_slot(key: str) -> bool:
    """`vf_optimiser` in an algorithm's defaults: the parameter group `vf` has one of its own."""
    return key.endswith("_optimiser")


@attrs.frozen(kw_only=True)
class RunSettings:
    """The settings of a run itself, as `RunSpec` explains them."""

    n_envs: int = attrs.field(default=1, validator=v.ge(1))
    total_timesteps: int = attrs.field(default=100_000, validator=v.ge(0))
    seed: int | None = attrs.field(default=None, validator=v.optional(v.ge(0)))
    device: str = "auto"
    n_threads: int | None = attrs.field(default=None, validator=v.optional(v.ge(1)))
    log_interval: int = attrs.field(default=1, validator=v.ge(1))
    verbose: int = attrs.field(default=0, validator=v.ge(0))


RUN_KEYS = ("env", *attrs.fields_dict(RunSettings))


def _listed(plugins: Any) -> tuple[Any, ...]:
    return (plugins,) if isinstance(plugins, str) else tuple(plugins)


@attrs.frozen(kw_only=True)
class RunSpec:
    """What a user asked for; None is "not said" and leaves it to plugins, presets and defaults."""

    algo: str
    env: Any = None  # id, module:Id-v0, module:Class, ./file.py:Class, or a class, callable, object
    n_envs: int | None = None  # stepped together; one vector step is n_envs timesteps
    total_timesteps: int | None = None  # steps of training, over all environments
    seed: int | None = None  # of everything random; None draws one
    device: str | None = None  # auto, cpu, cuda, cuda:1, …
    n_threads: int | None = None  # torch's; None decides by the size of the network
    log_interval: int | None = None  # iterations (on-policy) or episodes (off-policy) between rows
    verbose: int | None = None  # 0 prints nothing
    preset: str | None = None  # `auto` takes tuned settings where there are any, `none` takes none
    out: str | None = None  # the run's folder; None writes nothing
    policy: Any = None
    distribution: Any = None
    noise: Any = None
    vec_env: Any = None
    storage: Any = None
    optimiser: Any = None
    serializer: Any = None
    #: `NAME[:key=value,…]`, `no:NAME`, or objects that implement hooks.
    plugins: tuple[Any, ...] = attrs.field(default=(), converter=_listed)
    settings: Mapping[str, Any] = attrs.field(factory=dict)  # everything else, by dotted key
    origin: Mapping[str, str] = attrs.field(factory=dict)  # who said a key, if not the caller

    def values(self) -> dict[str, Any]:
        """All that was said of settings and slots, by dotted key."""
        said = {key: getattr(self, key) for key in (*RUN_KEYS, *SLOTS)}
        return {key: value for key, value in said.items() if value is not None} | {**self.settings}

    def over(self, lower: RunSpec) -> RunSpec:
        """This spec, and what it leaves unsaid from a lower one; plugins are joined."""
        said = {name: getattr(self, name) for name in attrs.fields_dict(RunSpec)}
        mine = {name: value for name, value in said.items() if value is not None}
        mine["algo"] = self.algo or lower.algo
        mine["plugins"] = (*lower.plugins, *self.plugins)
        mine["settings"] = {**lower.settings, **self.settings}
        theirs = {key: who for key, who in lower.origin.items() if key not in self.values()}
        mine["origin"] = {**theirs, **self.origin}
        return attrs.evolve(lower, **mine)


@attrs.frozen
class Patch:
    """What a plugin proposes for settings the user left unset."""

    values: Mapping[str, Any]  # by dotted key; `plugins` is a list to join
    reason: str = ""  # one line, shown by --explain


def make_spec(algo: str, said: Mapping[str, Any], origin: str = "") -> RunSpec:
    """A RunSpec from keywords: its own fields by name, everything else settings, tables as dots."""
    settings = flatten(said)
    if "env.id" in settings:
        settings["env"] = settings.pop("env.id")
    fields = attrs.fields_dict(RunSpec).keys() - {"algo", "settings", "origin"}
    own = {name: settings.pop(name) for name in fields if name in settings}
    spec = RunSpec(algo=algo, settings=settings, **own)
    return attrs.evolve(spec, origin=dict.fromkeys(spec.values(), origin)) if origin else spec


def flatten(tree: Mapping[str, Any], prefix: str = "") -> dict[str, Any]:
    """Nested tables to dotted keys."""
    flat: dict[str, Any] = {}
    for key, value in tree.items():
        is_table = isinstance(value, Mapping)
        flat |= flatten(value, f"{prefix}{key}.") if is_table else {f"{prefix}{key}": value}
    return flat


def parse_value(text: str) -> Any:
    """A value as TOML has it where it parses (`1e-3`, `[64, 64]`, `true`), else the text itself."""
    if text in ("none", "None", "null"):
        return None
    try:
        return tomllib.loads(f"value = {text}")["value"]
    except tomllib.TOMLDecodeError:
        return text


def parse_setting(pair: str) -> tuple[str, Any]:
    """`key=value` as a dotted key and its value."""
    key, found, value = pair.partition("=")
    if not found or not key.strip():
        raise PlanError(f"a setting is key=value, as in --set gamma=0.98; got {pair!r}.")
    return key.strip(), parse_value(value.strip())


def parse_plugin(text: str) -> tuple[str, dict[str, Any]]:
    """`NAME[:key=value,…]`; arguments begin at the first `:identifier=`.

    >>> parse_plugin("evaluation:every=5000,seeds=[1,2]")
    ('evaluation', {'every': 5000, 'seeds': [1, 2]})
    """
    name, *arguments = re.split(r":(?=[A-Za-z_][\w.]*=)", text, maxsplit=1)
    return name, dict(map(parse_setting, _split(arguments[0]))) if arguments else {}


def _split(text: str) -> list[str]:
    """At commas that stand in no bracket and no quotes."""
    parts, depth = [""], 0
    for token in re.findall(r"\"[^\"]*\"?|'[^']*'?|.", text):
        depth += (token in "[{(") - (token in "]})")
        if token == "," and depth == 0:
            parts.append("")
        else:
            parts[-1] += token
    return parts
