"""Finds what is wrong with components, without importing their implementations.

The module of the factory is not imported, so that a listing of everything is fast and does not
import torch: its source is read.
"""

from __future__ import annotations

import ast
import difflib
import importlib.util
import re
from collections import defaultdict
from pathlib import Path

from rlk import required_methods
from rlk.errors import BrokenPlugin, described
from rlk.registry.entry import Entry
from rlk.registry.implementations import HOOKS
from rlk.registry.kinds import misspelt
from rlk.registry.registries import Registries


def problem(entry: Entry) -> str | None:
    """Why a component cannot be used, or None."""
    kind = misspelt(entry.kind)
    if kind:
        return f"nothing reads the entry-point group 'rlk.{entry.kind}'; did you mean 'rlk.{kind}'?"
    try:
        component = entry.component()
        factory, required = (
            component.factory,
            required_methods.methods(entry.kind, component.stages),
        )
        if isinstance(factory, str):
            _check_source(entry.kind, factory, required)
        elif isinstance(factory, type):
            _check_methods(entry.kind, str(factory), required - required_methods.members(factory))
    except BrokenPlugin as error:
        return str(error).removeprefix(f"{entry.title} is broken: ").removesuffix(".")
    except Exception as error:
        return described(error)
    return None


def clashes(registries: Registries) -> dict[str, list[Entry]]:
    """Names that more than one distribution, or more than one kind, uses."""
    named = defaultdict(list)
    for entry in registries.every_entry():
        named[entry.name].append(entry)
    return {name: found for name, found in named.items() if len(found) > 1}


def _check_methods(kind: str, factory: str, missing: set[str]) -> None:
    if missing:
        lacks = ", ".join(sorted(missing))
        raise BrokenPlugin(f"{factory} lacks {lacks}, which all {kind} must have")


def _check_source(kind: str, factory: str, required: set[str]) -> None:
    module, _, name = factory.partition(":")
    spec = importlib.util.find_spec(module)
    if spec is None or spec.origin is None:
        raise BrokenPlugin(f"its factory {factory!r} is in no module that can be found")
    text = Path(spec.origin).read_text(encoding="utf-8")
    classes = {node.name: node for node in ast.parse(text).body if isinstance(node, ast.ClassDef)}
    own = ast.get_source_segment(text, classes[name]) if name in classes else text
    for hook in re.findall(r"@[\w.]*hookimpl(?!.*optionalhook).*\n\s*def (\w+)", own or ""):
        if hook not in HOOKS:
            near = difflib.get_close_matches(hook, HOOKS, n=1, cutoff=0.0)
            raise BrokenPlugin(f"{hook!r} is not a hook; did you mean {near[0]!r}?")
    if name in classes:
        has = _members(classes[name], classes)
        if has is not None:
            _check_methods(kind, factory, required - has)
    elif not re.search(rf"\b{name.partition('.')[0]}\b|import \*", text):
        raise BrokenPlugin(f"{module} has no {name!r}")


def _members(node: ast.ClassDef, classes: dict[str, ast.ClassDef]) -> set[str] | None:
    """The names that a class and its bases in the same file define; None if a base is elsewhere."""
    found = {part.name for part in node.body if isinstance(part, ast.FunctionDef)}
    for part in ast.walk(node):  # including attributes, as in `self.sample = …`
        if isinstance(part, (ast.Name, ast.Attribute)) and isinstance(part.ctx, ast.Store):
            found.add(part.id if isinstance(part, ast.Name) else part.attr)
    for base in node.bases:
        above = classes.get(getattr(base, "id", ""))
        inherited = _members(above, classes) if above else None
        if inherited is None:
            return None
        found |= inherited
    return found
