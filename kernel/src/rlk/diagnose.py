"""What is wrong with an installed component, found without running its implementation.

The factory's source is parsed, not imported, so that a listing of everything stays quick and starts
no torch.
"""

from __future__ import annotations

import ast
import difflib
import importlib.util
from pathlib import Path
from typing import Any

from rlk import hookspecs, protocols
from rlk.component import Component
from rlk.errors import BrokenPlugin
from rlk.registry import Entry

PROTOCOLS: dict[str, type] = {
    "algorithms": protocols.Algorithm,
    "policies": protocols.Architecture,
    "distributions": protocols.Distribution,
    "noises": protocols.Noise,
    "storages": protocols.Storage,
    "serializers": protocols.Serializer,
    "optimisers": protocols.OptimiserStep,
    "loggers": protocols.Logger,
    "presets": protocols.PresetSource,
}
HOOKS = sorted(name for name in vars(hookspecs) if name.startswith("rlk_"))


def problem(entry: Entry) -> str | None:
    """Why a component cannot be used, or None."""
    try:
        component = entry.component()
    except BrokenPlugin as error:
        return str(
            (error.__cause__ and f"{type(error.__cause__).__name__}: {error.__cause__}") or error
        )
    if not isinstance(component.factory, str):
        return _lacks(entry.kind, component, set(dir(component.factory)))
    return _static(entry.kind, component, component.factory)


def require(entry: Entry) -> None:
    """Raises BrokenPlugin, with distribution, version and cause, if it cannot be used."""
    found = problem(entry)
    if found:
        raise BrokenPlugin(f"{entry.title()} is broken: {found}.")


def methods(protocol: type) -> set[str]:
    """The methods that a protocol asks for, those of protocols it extends included."""
    members = {name: value for base in protocol.__mro__ for name, value in vars(base).items()}
    named = {name for name, value in members.items() if callable(value)}
    return {name for name in named if not name.startswith("_") or name == "__len__"} - {"mro"}


def methods_of(kind: str, component: Component) -> set[str]:
    """What an object of this kind must be able to do."""
    protocol = protocols.Decorator if component.stages else PROTOCOLS.get(kind)
    return (methods(protocol) if protocol else set()) | set(component.stages)


def _lacks(kind: str, component: Component, has: set[str]) -> str | None:
    missing = sorted(methods_of(kind, component) - has)
    if not missing or not isinstance(component.factory, (str, type)):
        return None
    return f"{component.factory} lacks {', '.join(missing)}, which every one of {kind} has"


def _static(kind: str, component: Component, factory: str) -> str | None:
    module, _, name = factory.partition(":")
    try:
        spec = importlib.util.find_spec(module)
    except Exception as error:
        return f"{type(error).__name__}: {error}"
    if spec is None or spec.origin is None:
        return f"its factory {factory!r} is in no module that can be found"
    try:
        tree = ast.parse(Path(spec.origin).read_text())
    except (SyntaxError, OSError, ValueError) as error:
        return f"{type(error).__name__}: {error}"
    classes = {node.name: node for node in tree.body if isinstance(node, ast.ClassDef)}
    misspelt = _misspelt(classes.get(name, tree))
    if misspelt:
        return misspelt
    if name in classes:
        has = _methods(classes[name], classes)
        return None if has is None else _lacks(kind, component, has)
    defined = {getattr(node, "name", "") for node in tree.body} | {
        target.id
        for node in ast.walk(tree)
        if isinstance(node, (ast.Assign, ast.AnnAssign))
        for target in (node.targets if isinstance(node, ast.Assign) else [node.target])
        if isinstance(target, ast.Name)
    }
    imported = any(
        isinstance(node, (ast.Import, ast.ImportFrom))
        and any((alias.asname or alias.name) in (name, "*") for alias in node.names)
        for node in tree.body
    )
    return None if name in defined or imported or "." in name else f"{module} has no {name!r}"


def _methods(node: ast.ClassDef, classes: dict[str, ast.ClassDef]) -> set[str] | None:
    """What a class defines, with bases of the same file.

    None if a base is elsewhere and may define the rest.
    """
    found = {getattr(item, "name", "") for item in node.body}
    found |= {
        t.id
        for item in node.body
        if isinstance(item, ast.Assign)
        for t in item.targets
        if isinstance(t, ast.Name)
    }
    for base in node.bases:
        known = classes.get(base.id) if isinstance(base, ast.Name) else None
        above = _methods(known, classes) if known is not None else None
        if above is None:
            return None
        found |= above
    return found


def _misspelt(tree: ast.AST) -> str | None:
    for node in ast.walk(tree):
        if not isinstance(node, ast.FunctionDef) or node.name in HOOKS:
            continue
        if any(_is_hookimpl(decorator) for decorator in node.decorator_list):
            near = difflib.get_close_matches(node.name, HOOKS, n=1)
            return f"{node.name!r} is no hook" + (f"; did you mean {near[0]!r}?" if near else "")
    return None


def _is_hookimpl(decorator: Any) -> bool:
    call = decorator.func if isinstance(decorator, ast.Call) else decorator
    optional = isinstance(decorator, ast.Call) and any(
        k.arg == "optionalhook" for k in decorator.keywords
    )
    name = call.attr if isinstance(call, ast.Attribute) else getattr(call, "id", "")
    return name == "hookimpl" and not optional
