"""The kinds of plugin packages that can be made: one folder of templates for each.

A package that declares a kind of its own brings the templates of an example, by an entry point in
the group `GROUP`: `search_spaces = "rlk_tune.new_search_space"` is a kind and a package whose data
is the folder.
"""

from __future__ import annotations

import tomllib
from functools import cache
from importlib.metadata import entry_points
from importlib.resources import files
from importlib.resources.abc import Traversable
from typing import Any

import attrs

from rlk.errors import PlanError
from rlk.registry.kinds import KINDS, singular
from rlk_scaffold import templates

#: The entry-point group of examples of plugins' own kinds.
GROUP = "rlk_scaffold.examples"
#: Further examples, each an option of `rlk plugins new` -> the kind that has it.
VARIANTS = {"decorating": "storages", "off-policy": "algorithms", "recurrent": "policies"}


@attrs.frozen(kw_only=True)
class Example:
    """An example of a kind, made from its folder of templates.

    Attributes:
        kind: the name in entry-point groups (`storages`).
        folder: its templates.
        summary: what the example does, one sentence.
        suites: the module with the contract suite of the kind.
        contract: the class in it that checks the example.
        dependencies: requirement strings, besides the kernel. One without a bound (`rlk-networks`)
            gets the minor version that is installed.
        test: requirement strings for its tests, likewise.
        try_it: the command lines that run it.
        factory: `module:name` in its package, for the `component.py` that most examples share;
            "" for one that has a template of its own, or is no component.
        declared: further lines of the component in that file, which has the settings by itself.
        tried: further lines of the contract suite's class.
        group: the entry-point group; by default `rlk.` and the kind.
        point: the object that the entry point names.
    """

    kind: str
    folder: Traversable
    summary: str
    suites: str = "rlk_testing"
    contract: str
    dependencies: tuple[str, ...] = attrs.field(converter=tuple)
    test: tuple[str, ...] = attrs.field(default=(), converter=tuple)
    try_it: tuple[str, ...] = attrs.field(converter=tuple)
    factory: str = ""
    declared: str = ""
    tried: str = ""
    group: str = attrs.field(
        default=attrs.Factory(lambda self: f"rlk.{self.kind}", takes_self=True)
    )
    point: str = "$module.component:component"


def kinds() -> tuple[str, ...]:
    """Every kind that has an example: the kernel's, and plugins' own that bring one."""
    return (*KINDS, *sorted(entry_points(group=GROUP).names))


@cache
def groups() -> frozenset[str]:
    """The entry-point group of every such kind."""
    return frozenset(example(kind).group for kind in kinds())


def example(kind: str, variant: str = "") -> Example:
    """The default example of a kind, or a variant of it.

    Args:
        variant: a key of `VARIANTS`, or "" for the default example.

    Raises:
        PlanError: if the variant is one of another kind, or a plugin's own kind has no example.
    """
    if kind not in kinds():
        known = ", ".join(map(singular, kinds()))
        raise PlanError(f"there is no example of a {singular(kind)}. Kinds with one: {known}.")
    if variant and VARIANTS[variant] != kind:
        raise PlanError(
            f"--{variant} is for {VARIANTS[variant]}; there is no such {singular(kind)}. "
            f"Use --kind {singular(VARIANTS[variant])}, or leave --{variant} out."
        )
    folder = _folder(kind, variant)
    text = folder.joinpath("example.toml").read_text(encoding="utf-8")
    data: dict[str, Any] = tomllib.loads(text)
    return Example(kind=kind, folder=folder, **data)


def _folder(kind: str, variant: str) -> Traversable:
    """The templates of an example."""
    if kind in KINDS:
        return templates.HERE / (f"{singular(kind)}-{variant}" if variant else singular(kind))
    (point, *_) = entry_points(group=GROUP, name=kind)
    return files(point.value)
