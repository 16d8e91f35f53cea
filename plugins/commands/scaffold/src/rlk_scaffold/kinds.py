"""The kinds of plugin that a package can be made for: one folder of templates each."""

from __future__ import annotations

import tomllib
from importlib.resources import files
from typing import Any

import attrs

from rlk.errors import PlanError
from rlk.registry.kinds import singular
from rlk_scaffold import templates


@attrs.frozen(kw_only=True)
class Example:
    """What a kind's folder of templates makes.

    Attributes:
        kind: as entry-point groups have it (`storages`).
        folder: of its templates.
        summary: what the example does, one sentence.
        suites: the module that has its contract suite.
        contract: the class in it that checks the example.
        dependencies: requirement strings, beside the kernel's.
        test: requirement strings of what its tests run it with.
        try_it: the command lines to see it work.
        tried: further lines of the contract suite's class: what it is tried with.
    """

    kind: str
    folder: str
    summary: str
    suites: str = "rlk_testing"
    contract: str
    dependencies: tuple[str, ...] = attrs.field(converter=tuple)
    test: tuple[str, ...] = attrs.field(default=(), converter=tuple)
    try_it: tuple[str, ...] = attrs.field(converter=tuple)
    tried: str = ""


def example(kind: str, *, decorating: bool = False) -> Example:
    """The example of a kind.

    Raises:
        PlanError: if a decorating one is asked for that is no storage.
    """
    if decorating and kind != "storages":
        raise PlanError(f"--decorating is for storages; a {singular(kind)} decorates nothing.")
    folder = singular(kind) + ("-decorating" if decorating else "")
    data: dict[str, Any] = tomllib.loads(
        files(templates).joinpath(folder, "example.toml").read_text(encoding="utf-8")
    )
    return Example(kind=kind, folder=folder, **data)
