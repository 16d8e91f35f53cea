"""What was asked for: the RunSpec, the patches of plugins, and how both are read from text.

Every choice and setting has a dotted key in one flat namespace: `n_envs`, `policy`, `gamma` (the
algorithm's), `policy.layers` (the component in a slot), `prioritized-replay.alpha` (a component by
name), `env.gravity` (a keyword of the environment). Layers of such mappings are what `plan.py`
resolves.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import attrs

from rlk.errors import PlanError

#: Slots that hold one component, by the option that fills them.
SLOTS = {
    "policy": "policies",
    "distribution": "distributions",
    "noise": "noises",
    "vec_env": "vec_envs",
    "storage": "storages",
    "optimiser": "optimisers",
    "serializer": "serializers",
}
#: Settings of the run itself.
RUN_KEYS = (
    "env",
    "n_envs",
    "total_timesteps",
    "seed",
    "device",
    "n_threads",
    "log_interval",
    "verbose",
)
_ARGUMENTS = re.compile(r":(?=[A-Za-z_][\w.]*=)")


@attrs.frozen(kw_only=True)
class RunSpec:
    """What a user asked for.

    None is "not said", and leaves the choice to plugins, presets and defaults.

    Attributes:
        algo: the algorithm's name.
        env: an id, `module:Id-v0`, `module:Class`, `./file.py:Class`, a class, a callable that
            makes one, an environment or a vector environment.
        n_envs: environments stepped together; one vector step is `n_envs` timesteps.
        total_timesteps: environment steps of training, over all environments.
        seed: of everything random; None draws one.
        device: `auto`, `cpu`, `cuda`, `cuda:1`, ….
        n_threads: torch's threads; None decides by the size of the network.
        log_interval: iterations (on-policy) or episodes (off-policy) between rows of metrics.
        verbose: 0 prints nothing.
        preset: `auto` takes tuned settings where there are any, `none` takes none.
        out: the run's folder; None writes nothing.
        policy, distribution, noise, vec_env, storage, optimiser, serializer: the component in that
            slot.
        plugins: `NAME[:key=value,…]`, `no:NAME`, or objects that implement hooks.
        settings: everything else, by dotted key.
        origin: who said a key, where it was not the command line or the caller.
    """

    algo: str
    env: Any = None
    n_envs: int | None = None
    total_timesteps: int | None = None
    seed: int | None = None
    device: str | None = None
    n_threads: int | None = None
    log_interval: int | None = None
    verbose: int | None = None
    preset: str | None = None
    out: str | None = None
    policy: Any = None
    distribution: Any = None
    noise: Any = None
    vec_env: Any = None
    storage: Any = None
    optimiser: Any = None
    serializer: Any = None
    plugins: tuple[Any, ...] = attrs.field(default=(), converter=tuple)
    settings: Mapping[str, Any] = attrs.field(factory=dict)
    origin: Mapping[str, str] = attrs.field(factory=dict)

    def values(self) -> dict[str, Any]:
        """All that was said, by dotted key."""
        said = {key: getattr(self, key) for key in (*RUN_KEYS, *SLOTS)}
        return {key: value for key, value in said.items() if value is not None} | dict(
            self.settings
        )

    def over(self, lower: RunSpec) -> RunSpec:
        """This spec on top of another.

        What this one leaves unsaid comes from `lower`, plugins are joined.
        """
        fields: dict[str, Any] = {}
        for field in attrs.fields(RunSpec):
            mine, theirs = getattr(self, field.name), getattr(lower, field.name)
            if field.name in ("settings", "origin"):
                fields[field.name] = {**theirs, **mine}
            elif field.name == "plugins":
                fields[field.name] = (*theirs, *mine)
            else:
                fields[field.name] = mine if mine is not None and mine != "" else theirs
        mine_said = set(self.values())
        fields["origin"] = {
            key: who for key, who in fields["origin"].items() if key not in mine_said
        } | dict(self.origin)
        return RunSpec(**fields)


@attrs.frozen
class Patch:
    """What a plugin proposes for settings the user left unset.

    Attributes:
        values: by dotted key; `plugins` is a list to join.
        reason: one line, shown by `--explain`.
    """

    values: Mapping[str, Any]
    reason: str = ""


def make_spec(algo: str, said: Mapping[str, Any], origin: str = "") -> RunSpec:
    """A RunSpec from keywords: its own fields by name, everything else settings.

    Nested tables are flattened.
    """
    own = {field.name for field in attrs.fields(RunSpec)} - {"settings", "origin", "algo"}
    fields = {key: value for key, value in said.items() if key in own}
    rest = flatten({key: value for key, value in said.items() if key not in own})
    if isinstance(fields.get("env"), Mapping):
        table = dict(fields.pop("env"))
        if "id" in table:
            fields["env"] = table.pop("id")
        rest |= flatten({"env": table})
    if isinstance(fields.get("plugins"), str):
        fields["plugins"] = (fields["plugins"],)
    rest |= {
        k: fields.pop(k) for k in list(fields) if k in SLOTS and isinstance(fields[k], Mapping)
    }
    spec = RunSpec(algo=algo, settings=flatten(rest), **fields)
    return attrs.evolve(spec, origin=dict.fromkeys(spec.values(), origin)) if origin else spec


def read_spec(path: Path) -> RunSpec:
    """A SPEC.toml as a RunSpec.

    Raises:
        PlanError: if it cannot be read, is no TOML, or names no algorithm.
    """
    try:
        said = tomllib.loads(path.read_text())
    except OSError as error:
        raise PlanError(f"cannot read {path}: {error.strerror}.") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise PlanError(f"{path} is no TOML file: {error}.") from None
    algo = said.pop("algo", "")
    if not isinstance(algo, str):
        raise PlanError(f"{path}: algo must be a name, got {algo!r}.")
    said |= said.pop("settings", {})
    return make_spec(algo, said, origin=str(path))


def flatten(tree: Mapping[str, Any], prefix: str = "") -> dict[str, Any]:
    """Nested tables to dotted keys."""
    flat: dict[str, Any] = {}
    for key, value in tree.items():
        if isinstance(value, Mapping) and value:
            flat |= flatten(value, f"{prefix}{key}.")
        elif not isinstance(value, Mapping):
            flat[f"{prefix}{key}"] = value
    return flat


def parse_value(text: str) -> Any:
    """A value as TOML has it where it parses (`1e-3`, `[64, 64]`, `true`), else the text itself."""
    if text in ("none", "None", "null"):
        return None
    try:
        return tomllib.loads(f"value = {text}")["value"]
    except tomllib.TOMLDecodeError:
        return text


def parse_settings(pairs: Iterable[str]) -> dict[str, Any]:
    """`--set key=value …` as settings.

    Raises:
        PlanError: for a text without `=`.
    """
    settings = {}
    for pair in pairs:
        key, found, value = pair.partition("=")
        if not found or not key.strip():
            raise PlanError(f"--set takes key=value, got {pair!r}. For example: --set gamma=0.98")
        settings[key.strip()] = parse_value(value.strip())
    return settings


def parse_plugin(text: str) -> tuple[str, dict[str, Any]]:
    """`NAME[:key=value,…]`.

    Arguments begin at the first `:identifier=`, commas in brackets do not split.

    >>> parse_plugin("evaluation:every=5000,seeds=[1,2]")
    ('evaluation', {'every': 5000, 'seeds': [1, 2]})
    """
    found = _ARGUMENTS.search(text)
    if found is None:
        return text, {}
    return text[: found.start()], parse_settings(_split(text[found.end() :]))


def _split(text: str) -> list[str]:
    """At commas that stand in no bracket and no quotes."""
    parts, depth, quote, start = [], 0, "", 0
    for position, letter in enumerate(text):
        if quote:
            quote = "" if letter == quote else quote
        elif letter in "\"'":
            quote = letter
        elif letter in "[{(":
            depth += 1
        elif letter in "]})":
            depth -= 1
        elif letter == "," and depth == 0:
            parts.append(text[start:position])
            start = position + 1
    return [*parts, text[start:]]
