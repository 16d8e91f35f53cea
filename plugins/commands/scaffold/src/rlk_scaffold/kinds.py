"""The kinds of plugin that a package can be made for: one folder of templates each."""

from __future__ import annotations

import tomllib
from importlib.resources import files
from typing import Any

import attrs

from rlk.errors import PlanError
from rlk.registry.kinds import singular
from rlk_scaffold import templates

#: Further examples, each an option of `rlk plugins new` -> the kind that has it.
VARIANTS = {"decorating": "storages", "off-policy": "algorithms"}


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


def example(kind: str, variant: str = "") -> Example:
    """The example of a kind, or another one of it.

    Args:
        variant: a key of `VARIANTS`, or "" for the example that every kind has.

    Raises:
        PlanError: if the variant is one of another kind.
    """
    if variant and VARIANTS[variant] != kind:
        raise PlanError(
            f"--{variant} is for {VARIANTS[variant]}; there is no such {singular(kind)}. "
            f"Use --kind {singular(VARIANTS[variant])}, or leave --{variant} out."
        )
    folder = f"{singular(kind)}-{variant}" if variant else singular(kind)
    data: dict[str, Any] = tomllib.loads(
        files(templates).joinpath(folder, "example.toml").read_text(encoding="utf-8")
    )
    return Example(kind=kind, folder=folder, **data)
