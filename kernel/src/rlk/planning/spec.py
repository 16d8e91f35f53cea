"""What was asked for: the RunSpec, and how it is read from keywords and from text.

Every choice and setting has a dotted key in one flat namespace: `n_envs`, `policy`, `gamma` (the
algorithm's), `policy.layers` (the component in a slot), `prioritized-replay.alpha` (a component by
name), `env.gravity` (a keyword of the environment)."""

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
    "collector": "collectors",
    "optimiser": "optimisers",
    "serializer": "serializers",
}
#: Kinds of which any number may be active.
LISTS = ("wrappers", "extensions", "callbacks", "loggers")


def is_group_slot(key: str) -> bool:
    """`vf_optimiser` in an algorithm's defaults: the parameter group `vf` has one of its own."""
    return key.endswith("_optimiser")


@attrs.frozen(kw_only=True)
class RunSettings:
    """The settings of a run itself."""

    #: Environments stepped together; one vector step is n_envs timesteps.
    n_envs: int = attrs.field(default=1, validator=v.ge(1))
    #: Steps of training, over all environments.
    total_timesteps: int = attrs.field(default=100_000, validator=v.ge(0))
    #: Of everything random; None draws one.
    seed: int | None = attrs.field(default=None, validator=v.optional(v.ge(0)))
    device: str = "auto"  #: auto, cpu, cuda, cuda:1, …
    #: Torch's; None decides by the size of the network.
    n_threads: int | None = attrs.field(default=None, validator=v.optional(v.ge(1)))
    #: Iterations (on-policy) or episodes (off-policy) between rows of metrics.
    log_interval: int = attrs.field(default=1, validator=v.ge(1))
    verbose: int = attrs.field(default=0, validator=v.ge(0))  #: 0 prints nothing


RUN_SETTINGS = tuple(attrs.fields_dict(RunSettings))
RUN_KEYS = ("env", "out", "preset", *RUN_SETTINGS)


@attrs.frozen
class RunSpec:
    """What a user asked for. Made by `make_spec`; nothing in it was looked up yet."""

    algo: str
    #: By dotted key: `env` (an id, `module:Class`, a class, a callable or an object), what
    #: `RunSettings` has, the component of a slot (`SLOTS`), `preset` (`auto` takes tuned settings
    #: where there are any, `none` takes none), `out` (the run's folder), and any other setting.
    said: Mapping[str, Any] = attrs.field(factory=dict)
    #: `NAME[:key=value,…]`, `no:NAME`, or objects that implement hooks.
    plugins: tuple[Any, ...] = ()
    origin: Mapping[str, str] = attrs.field(factory=dict)  #: who said a key, if not the caller

    def over(self, lower: RunSpec) -> RunSpec:
        """This spec, and what it leaves unsaid from a lower one; plugins are joined."""
        theirs = {key: who for key, who in lower.origin.items() if key not in self.said}
        return RunSpec(
            self.algo or lower.algo,
            {**lower.said, **self.said},
            (*lower.plugins, *self.plugins),
            {**theirs, **self.origin},
        )


@attrs.frozen
class Patch:
    """What a plugin proposes for settings the user left unset."""

    values: Mapping[str, Any]  # by dotted key; `plugins` is a list to join
    reason: str = ""  # one line, shown by --explain


def make_spec(algo: str, said: Mapping[str, Any], origin: str = "") -> RunSpec:
    """A RunSpec from keywords, tables as dots; None is a value only where it is a setting."""
    unsaid = {"plugins", *RUN_KEYS, *SLOTS}
    keys = {key: v for key, v in flatten(said).items() if v is not None or key not in unsaid}
    if "env.id" in keys:
        keys["env"] = keys.pop("env.id")
    plugins = keys.pop("plugins", ())
    plugins = (plugins,) if isinstance(plugins, str) else tuple(plugins)
    return RunSpec(algo, keys, plugins, dict.fromkeys(keys, origin) if origin else {})


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
    """`NAME[:key=value,…]` as name and settings, which begin at the first `:identifier=`."""
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
