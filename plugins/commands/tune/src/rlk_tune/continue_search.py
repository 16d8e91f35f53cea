"""Continues a search, if the command line agrees with it."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import attrs

from rlk.errors import PlanError
from rlk.planning.parse import parse_plugin
from rlk.planning.spec import RunSpec
from rlk.registry.external import is_code_place
from rlk.restoring.named_code import code_in, texts_in
from rlk.restoring.restored_environment import typed
from rlk_tune.search import Search, read
from rlk_tune.spaces import Ranges


def search_in(folder: Path, spec: RunSpec, ranges: Ranges, fields: Mapping[str, Any]) -> Search:
    """The search in a folder, with the number of trials that is requested now.

    Args:
        folder: that contains a search.
        spec, ranges: the settings and the ranges on the command line, if there are any.
        fields: the other fields of `Search` that were typed.

    Raises:
        PlanError: if anything but the number of trials differs, or the search names code that the
            command line does not name as well.
        BadFile: if the search cannot be read.
    """
    search = read(folder)
    _refuse_code(search, spec)
    before = {
        **attrs.asdict(search, filter=lambda field, _: field.name in ("algo", *fields)),
        **search.given,
        "seed": search.seed,
        "plugins": search.plugins,
        **{f"--search {name}": text for name, text in search.searched.items()},
    }
    now = {
        **fields,
        **({"algo": spec.algo} if spec.algo else {}),
        **spec.given,
        **({"plugins": list(spec.plugins)} if spec.plugins else {}),
        **{f"--search {name}": str(range_) for name, range_ in ranges.items()},
    }
    for name, value in now.items():
        if name in ("trials", "out", "verbose") or before.get(name) == value:
            continue
        if name in before:
            had = f"has {name}={before[name]!r}, not {value!r}"
        else:
            had = f"was begun without {name}={value!r}"
        raise PlanError(
            f"the search in {folder} {had}. Leave that out to continue it, or name another folder."
        )
    return attrs.evolve(search, trials=now.get("trials", search.trials))


def _refuse_code(search: Search, spec: RunSpec) -> None:
    """PlanError for code that the search names, and that is not typed again: see `code_in`."""
    if missing := code_options(search, spec):
        raise PlanError(
            "this search was begun with code, which no file may run by itself. Type it again: "
            f"{' '.join(missing)}"
        )


def code_options(search: Search, spec: RunSpec) -> list[str]:
    """What to type to continue a search, so that it may run the code that it names.

    Args:
        search: that is continued.
        spec: what is typed already; its options are left out.
    """
    settings = {"algo": search.algo, **search.given}
    typed_now = {"algo": spec.algo, **spec.given}
    missing = [
        _option(key, value)
        for key, value in settings.items()
        if typed_now.get(key) != value and any(map(_is_code, texts_in(value)))
    ]
    if list(spec.plugins) != search.plugins and any(map(_is_code, search.plugins)):
        missing += [typed("--plugin", plugin) for plugin in search.plugins]
    return missing


def _is_code(text: str) -> bool:
    """Whether a text, or a setting of the plugin that it stands for, names code."""
    name, values = parse_plugin(text)
    inner = any(map(_is_code, texts_in(values)))
    return inner or is_code_place(name) or code_in(text) is not None


def _option(key: str, value: Any) -> str:
    """What to type for a setting."""
    is_own = key in ("algo", "env")
    return typed(f"--{key}", value) if is_own else typed("--set", f"{key}={value}")
