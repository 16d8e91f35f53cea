"""What is wrong with components, found without importing their implementations.

The factory's source is parsed, so that a listing of everything stays quick and starts no torch.
"""

from __future__ import annotations

import ast
import difflib
import importlib.util
import re
from pathlib import Path

from rlk import protocols
from rlk.component import Component
from rlk.errors import BrokenPlugin
from rlk.registry.entry import Entry
from rlk.registry.hooks import HOOKS
from rlk.registry.registries import Registries


def problem(entry: Entry) -> str | None:
    """Why a component cannot be used, or None."""
    try:
        component = entry.component()
        factory = component.factory
        if isinstance(factory, str):
            _check_source(entry.kind, component, *factory.split(":"))
        elif isinstance(factory, type):
            _check_methods(entry.kind, component, protocols.members(factory))
    except Exception as error:
        cause = error.__cause__ or error
        known = isinstance(cause, BrokenPlugin)
        return str(cause) if known else f"{type(cause).__name__}: {cause}"
    return None


def clashes(registries: Registries) -> dict[str, list[Entry]]:
    """Names that more than one distribution, or more than one kind, gives."""
    entries = [entry for registry in registries for entry in registry]
    named = {one.name: [two for two in entries if two.name == one.name] for one in entries}
    return {name: found for name, found in named.items() if len(found) > 1}


def _check_methods(kind: str, component: Component, has: set[str]) -> None:
    missing = protocols.methods(kind, component.stages) - has
    if missing:
        lacks = ", ".join(sorted(missing))
        raise BrokenPlugin(f"{component.factory} lacks {lacks}, which every one of {kind} has")


def _check_source(kind: str, component: Component, module: str, name: str) -> None:
    spec = importlib.util.find_spec(module)
    if spec is None or spec.origin is None:
        raise BrokenPlugin(f"its factory {component.factory!r} is in no module that can be found")
    text = Path(spec.origin).read_text()
    classes = {node.name: node for node in ast.parse(text).body if isinstance(node, ast.ClassDef)}
    own = ast.get_source_segment(text, classes[name]) if name in classes else text
    for hook in re.findall(r"@[\w.]*hookimpl(?!.*optionalhook).*\n\s*def (\w+)", own or ""):
        if hook not in HOOKS:
            near = difflib.get_close_matches(hook, HOOKS, n=1, cutoff=0.0)
            raise BrokenPlugin(f"{hook!r} is no hook; did you mean {near[0]!r}?")
    if name in classes:
        has = _members(classes[name], classes)
        if has is not None:
            _check_methods(kind, component, has)
    elif not re.search(rf"\b{name.partition('.')[0]}\b|import \*", text):
        raise BrokenPlugin(f"{module} has no {name!r}")


def _members(node: ast.ClassDef, classes: dict[str, ast.ClassDef]) -> set[str] | None:
    """What a class and its bases of the same file define; None if a base is from elsewhere."""
    found = {part.name for part in node.body if isinstance(part, ast.FunctionDef)}
    for part in ast.walk(node):  # attributes too, as `self.sample = …`
        if isinstance(part, (ast.Name, ast.Attribute)) and isinstance(part.ctx, ast.Store):
            found.add(part.id if isinstance(part, ast.Name) else part.attr)
    for base in node.bases:
        above = classes.get(getattr(base, "id", ""))
        inherited = _members(above, classes) if above else None
        if inherited is None:
            return None
        found |= inherited
    return found
