"""The options that `run` and `resume` share, and how they and a SPEC.toml become settings."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import attrs
import click
from click import Option

from rlk.command_line import command_line, path_word, pip_install
from rlk.documents import MAX_TOML_CHARACTERS, parse_toml
from rlk.errors import PlanError
from rlk.files import looking_at
from rlk.planning.layers import in_slots
from rlk.planning.parse import parse_plugin, parse_setting
from rlk.planning.run_settings import RUN_KEYS
from rlk.planning.spec import ENV_PREFIX, RunSpec, flatten, make_spec
from rlk.registry.kernel import default_kernel
from rlk.registry.kinds import SLOTS, option_of
from rlk_cli import completion
from rlk_cli.words_of_the_zoos import IMPORT, SPEC


def one_value(context: click.Context, param: click.Parameter, values: tuple[str, ...]) -> Any:
    """The callback of a repeatable option that takes one value; None if it was not given.

    Click would take the last of several.

    Raises:
        UsageError: for several different values.
    """
    if len(set(values)) > 1:
        given = " and ".join(f"{param.opts[0]} {value}" for value in values)
        what = {"env": "environment", "algo": "algorithm"}.get(str(param.name), "value")
        raise click.UsageError(f"{given}: give one {what}, or type a command for each.", context)
    return values[0] if values else None


#: The options `--env`, `--plugin` and `--set` of every command, each with a help text of its own.
ENV: Mapping[str, Any] = {
    "metavar": "ENV",
    "multiple": True,
    "callback": one_value,
    "shell_complete": completion.files,
}
PLUGINS: Mapping[str, Any] = {
    "metavar": "NAME[:k=v,…]",
    "multiple": True,
    "shell_complete": completion.plugins,
}
SETTINGS: Mapping[str, Any] = {"metavar": "KEY=VALUE", "multiple": True}

DEVICE = Option(["--device"], metavar="NAME", help="Where to compute: auto, cpu, cuda, cuda:1, …")
SHARED = (
    Option(
        ["--env"],
        **ENV,
        help="The environment: an id, module:Id-v0, module:Class or ./file.py:Class.",
    ),
    Option(
        ["--plugin", "plugins"],
        **PLUGINS,
        help="Add a plugin, or choose a component, such as a storage; no:NAME leaves one out. "
        "Repeatable.",
    ),
    Option(
        ["--set", "pairs"],
        **SETTINGS,
        help="Change a setting: gamma=0.98, policy.layers=[256,256], env.gravity=9.0. Repeatable.",
    ),
    Option(
        ["--timesteps", "total_timesteps"],
        type=float,
        help="Train until this many timesteps, counted over all environments; --explain prints how "
        "many it is if not given.",
    ),
    Option(["--seed"], type=int, help="Random seed of the run; drawn for a new run if not given."),
    DEVICE,
    Option(
        ["--log-interval"],
        type=int,
        help="Iterations (on-policy) or episodes (off-policy) between rows of metrics; no row "
        "waits for an episode of more than 10,000 steps.",
    ),
    Option(["--quiet"], is_flag=True, help="Print nothing but errors."),
    Option(["-v", "verbosity"], count=True, help="Print the plan as well."),
    Option(
        ["--explain", "explained"],
        is_flag=True,
        help="Print the plan, and what chose each part of it, without training.",
    ),
    *(
        Option(
            [option_of(slot)],
            metavar="NAME",
            shell_complete=completion.names_of(kind),
            help=f"The {slot} (rlk plugins list --kind {kind}).".replace("_", "-"),
        )
        for slot, kind in SLOTS.items()
    ),
)


#: The table of a SPEC.toml with the distribution of each component, as pip installs it:
#: `rlk-dqn==0.1.0`. Only errors name them, for what is not installed here or has another version; a
#: file may lack the table, and a distribution its version.
PACKAGES = "packages"
#: The parts of a SPEC.toml besides settings, which planning checks.
_KINDS = {
    "algo": str,
    "preset": str,
    "out": str,
    "plugins": list,
    "settings": dict,
    PACKAGES: dict,
}
_WORDS = {str: "a name", list: "a list of names", dict: "a table"}
#: What the table `settings` is easily called.
_NOT_SETTINGS = ("set", "setting", "hyperparams", "hyperparameters")


#: Settings for which `none` is a word with a meaning of its own, not the absence of a value.
_NONE_IS_A_WORD = ("preset", *SLOTS)


def given(pairs: Iterable[str], **options: Any) -> dict[str, Any]:
    """The settings of a command line.

    Args:
        pairs: those of `--set`, KEY=VALUE.
        options: those with options of their own; None and () mean that one was not given.

    Raises:
        PlanError: for a pair without `=`, or one that contradicts another or an option.
    """
    found: dict[str, Any] = {}
    for key, value in map(parse_setting, pairs):
        new = as_typed(key, value)
        if key in found:
            _refuse_another(key, found[key], new, "--set")
        found[key] = new
    for key, value in options.items():
        if value not in (None, ()):
            new = list(value) if isinstance(value, tuple) else value
            if key in found:
                _refuse_another(key, found[key], new, "an option")
            found[key] = new
    return found


def as_typed(key: str, value: Any) -> Any:
    """The value of a setting that was typed as text: `none` stays a word where it means something.

    Args:
        key: the setting.
        value: what `parse_value` makes of the text.
    """
    return "none" if value is None and key in _NONE_IS_A_WORD else value


def _refuse_another(key: str, before: Any, value: Any, how: str) -> None:
    """PlanError for a second value of a setting."""
    if before != value:
        both = f"{key}={before!r} (--set) and {key}={value!r} ({how})"
        raise PlanError(f"{both} are one setting with two values. Set one of them.")


def typed_verbosity(quiet: bool, more: int) -> int | None:
    """The setting `verbose` for `--quiet` and a number of `-v`; None if neither was typed."""
    if quiet:
        return 0
    return 1 + more if more else None


def over_file(spec: RunSpec, file: str | None) -> RunSpec:
    """The spec, completed from a SPEC.toml if one was typed.

    Raises:
        PlanError: if the file cannot be read or is not a SPEC.toml; for the name of an algorithm or
            an environment in its place, with the option to type; for components that are not
            installed, and whose distributions the file names.
    """
    if file is None:
        return spec
    from rlk.planning.connect import connect  # not at the top: --help plans nothing

    if file.endswith((".yml", ".yaml")):
        asked = {"algo": spec.algo or "NAME", "env": spec.given.get("env") or "ID"}
        typed = IMPORT.format(value=command_line([path_word(file)]), **asked)
        raise PlanError(f"{file} is not a TOML file. {SPEC}. One of the zoo becomes it by: {typed}")
    registries = default_kernel().registries
    connect(spec, registries)  # the file may be missing for one rank alone
    path = Path(file)
    with looking_at(path, f"cannot read {file}", PlanError):
        if path.suffix != ".toml" and not path.exists():
            raise PlanError(f"cannot read {file}: there is no such file.{_option_for(file, spec)}")
    lower, packages = read_spec(path)
    versions = {name: one for name, one in packages.items() if "==" in one}
    whole = spec.over(attrs.evolve(lower, written_with=versions))
    connect(whole, registries)  # and so may what it names
    _refuse_absent(whole, packages, path)
    return whole


def _refuse_absent(spec: RunSpec, packages: Mapping[str, str], path: Path) -> None:
    """PlanError that names the distributions of all components that are asked for and absent."""
    plugins = (parse_plugin(one)[0] for one in spec.plugins if isinstance(one, str))
    asked = {spec.algo, *in_slots(spec.given), *plugins}
    registries = default_kernel().registries
    absent = [name for name in packages if name in asked and name not in registries]
    if absent:
        names, verb = " and ".join(map(repr, absent)), "is" if len(absent) == 1 else "are"
        install = pip_install(packages[one] for one in absent)
        raise PlanError(f"{path} has {names}, which {verb} not installed. Type: {install}")


def _option_for(text: str, spec: RunSpec) -> str:
    """What to type for a text that names no file but an algorithm, a recipe or an environment."""
    registries = default_kernel().registries
    if text in registries.algorithms or text in registries.recipes:
        return " A run has one algorithm." if spec.algo else f" Type: --algo {text}"
    if next(registries.environments.answers(text), None) is None:
        return ""
    if "env" in spec.given:
        return " A run has one environment: type rlk run once for each --env."
    return f" Type: --env {text}"


def read_spec(path: Path) -> tuple[RunSpec, dict[str, str]]:
    """A SPEC.toml as a RunSpec, and its distributions by the names of their components, if any.

    `none` means what it means behind --set.

    Raises:
        PlanError: if the file cannot be read or is not a SPEC.toml.
    """
    with looking_at(path, f"cannot read {path}", PlanError):
        try:
            with path.open(encoding="utf-8-sig") as file:
                found = parse_toml(file.read(MAX_TOML_CHARACTERS + 1))
        except ValueError as error:
            raise PlanError(f"{path} is not a TOML file: {error}.") from None
    for key in _NOT_SETTINGS:
        if isinstance(found.get(key), dict):
            raise PlanError(f"{path}: settings are in the table [settings], not [{key}].")
    for key, kind in _KINDS.items():
        value = found.get(key, kind())
        items = value if isinstance(value, list) else []
        if not isinstance(value, kind) or not all(isinstance(item, str) for item in items):
            raise PlanError(f"{path}: {key} must be {_WORDS[kind]}, got {value!r:.80}.")
    packages = {name: str(dist) for name, dist in found.pop(PACKAGES, {}).items()}
    algo = found.pop("algo", "")
    # Flat before they are joined: a slot in [settings] has a table of its settings beside it.
    settings = flatten(found.pop("settings", {}))
    flat = {**flatten(found), **settings}
    given = {key: _without_none(key, value) for key, value in flat.items()}
    return make_spec(algo, given, origin=str(path), is_flat=True), packages


def _without_none(key: str, value: Any) -> Any:
    """The value of a setting in a file; the run's own and the environment's may be that word."""
    is_word = key in RUN_KEYS or key.startswith(ENV_PREFIX) or value != "none"
    return value if is_word else as_typed(key, None)
