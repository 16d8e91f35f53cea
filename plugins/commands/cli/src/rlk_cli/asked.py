"""What a command line asks for: the options that commands share, `--set`, and a SPEC.toml."""

from __future__ import annotations

import tomllib
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from click import Option

from rlk.errors import PlanError
from rlk.planning.parse import parse_setting
from rlk.planning.spec import RunSpec, make_spec

IN_SLOT = "Put a component in its slot, or activate it; no:NAME takes one out."
SETTING = "A setting: gamma=0.98, policy.layers=[256,256], env.gravity=9.0."
SHARED = (
    Option(["--env"], metavar="ENV", help="Id, module:Id-v0, module:Class or ./file.py:Class."),
    Option(["--plugin", "plugins"], multiple=True, metavar="NAME[:k=v,…]", help=IN_SLOT),
    Option(["--set", "pairs"], multiple=True, metavar="KEY=VALUE", help=SETTING),
    Option(["--timesteps", "total_timesteps"], type=float, help="Where to end, of all envs."),
    Option(["--seed"], type=int, help="Of everything random; drawn if not given."),
    Option(["--device"], metavar="D", help="auto, cpu, cuda, cuda:1, …"),
    Option(["--quiet"], is_flag=True, help="Print nothing but errors."),
)


def said(pairs: Iterable[str], **options: Any) -> dict[str, Any]:
    """What a command line says, without what it leaves unsaid; an option wins over `--set`."""
    given = {key: value for key, value in options.items() if value not in (None, ())}
    return dict(map(parse_setting, pairs)) | given


def read_spec(path: Path) -> RunSpec:
    """A SPEC.toml as a RunSpec.

    Raises:
        PlanError: if it cannot be read, or is none.
    """
    try:
        found = tomllib.loads(path.read_text())
    except OSError as error:
        raise PlanError(f"cannot read {path}: {error.strerror}.") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise PlanError(f"{path} is no TOML file: {error}.") from None
    algo = found.pop("algo", "")
    if not isinstance(algo, str):
        raise PlanError(f"{path}: algo must be a name, got {algo!r}.")
    found |= found.pop("settings", {})
    return make_spec(algo, found, origin=str(path))
