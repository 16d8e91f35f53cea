"""The options that `run` and `resume` share, and how they and a SPEC.toml become settings."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

from click import Option

from rlk.documents import MAX_TOML_CHARACTERS, parse_toml
from rlk.errors import PlanError
from rlk.files import looking_at
from rlk.planning.parse import parse_setting
from rlk.planning.spec import RunSpec, make_spec
from rlk.registry.kinds import SLOTS

PLUGIN = (
    "Add a plugin, or choose a component, such as a storage; no:NAME leaves one out. Repeatable."
)
SETTING = "Change a setting: gamma=0.98, policy.layers=[256,256], env.gravity=9.0. Repeatable."
SHARED = (
    Option(
        ["--env"],
        metavar="ENV",
        help="The environment: an id, module:Id-v0, module:Class or ./file.py:Class.",
    ),
    Option(["--plugin", "plugins"], multiple=True, metavar="NAME[:k=v,…]", help=PLUGIN),
    Option(["--set", "pairs"], multiple=True, metavar="KEY=VALUE", help=SETTING),
    Option(
        ["--timesteps", "total_timesteps"],
        type=float,
        help="Train until this many timesteps, counted over all environments.",
    ),
    Option(["--seed"], type=int, help="Random seed of the run; drawn for a new run if not given."),
    Option(["--device"], metavar="NAME", help="Where to compute: auto, cpu, cuda, cuda:1, …"),
    Option(
        ["--log-interval"],
        type=int,
        help="Iterations (on-policy) or episodes (off-policy) between rows of metrics.",
    ),
    Option(["--quiet"], is_flag=True, help="Print nothing but errors."),
    Option(["-v", "verbosity"], count=True, help="Print more; -vv prints the plan as well."),
    Option(
        ["--explain", "explained"],
        is_flag=True,
        help="Print the plan, and what chose each part of it, without training.",
    ),
    *(
        Option(
            [f"--{slot.replace('_', '-')}"],
            metavar="NAME",
            help=f"The {slot} (rlk plugins list --kind {kind}).".replace("_", "-"),
        )
        for slot, kind in SLOTS.items()
    ),
)


#: The parts of a SPEC.toml besides settings, which planning checks.
_KINDS = {"algo": str, "preset": str, "out": str, "plugins": list, "settings": dict}
_WORDS = {str: "a name", list: "a list of names", dict: "a table"}


def given(pairs: Iterable[str], **options: Any) -> dict[str, Any]:
    """The settings of a command line; an option overrides the same key after `--set`."""
    used = {key: value for key, value in options.items() if value not in (None, ())}
    return dict(map(parse_setting, pairs)) | used


def read_spec(path: Path) -> RunSpec:
    """A SPEC.toml as a RunSpec.

    Raises:
        PlanError: if the file cannot be read or is not a SPEC.toml.
    """
    with looking_at(path, f"cannot read {path}", PlanError):
        if path.suffix != ".toml" and not path.exists():
            several = "A run has one environment: type rlk run once for each --env."
            raise PlanError(f"cannot read {path}: there is no such file. {several}")
        try:
            with path.open(encoding="utf-8") as file:
                found = parse_toml(file.read(MAX_TOML_CHARACTERS + 1))
        except ValueError as error:
            raise PlanError(f"{path} is not a TOML file: {error}.") from None
    for key, kind in _KINDS.items():
        value = found.get(key, kind())
        items = value if isinstance(value, list) else []
        if not isinstance(value, kind) or not all(isinstance(item, str) for item in items):
            raise PlanError(f"{path}: {key} must be {_WORDS[kind]}, got {value!r:.80}.")
    algo = found.pop("algo", "")
    found |= found.pop("settings", {})
    return make_spec(algo, found, origin=str(path))
