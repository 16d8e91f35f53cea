"""Reads values that were typed as Python, which the files of Stable Baselines' zoo hold as text."""

from __future__ import annotations

import ast
from typing import Any


def parse_python(text: str) -> Any:
    """The value of a literal, in which `dict(k=v)` is a table and `nn.ReLU` a text.

    Nothing is run: a call of anything but `dict`, and an operator, are refused.

    Raises:
        ValueError: for a text that is not such a value.
    """
    try:
        return _value(ast.parse(text.strip(), mode="eval").body)
    except (SyntaxError, RecursionError, MemoryError, TypeError):  # {{…}} is a set of tables
        raise ValueError(f"not a value of Python: {text!r:.80}") from None


def _value(node: ast.expr) -> Any:
    if isinstance(node, ast.Call):
        return _table(node)
    if isinstance(node, ast.Dict) and None not in node.keys:
        keys = [_value(key) for key in node.keys if key is not None]
        if all(isinstance(key, str) for key in keys):
            return dict(zip(keys, map(_value, node.values), strict=True))
    if isinstance(node, (ast.List, ast.Tuple)):
        return [_value(item) for item in node.elts]
    if isinstance(node, (ast.Name, ast.Attribute)):
        return ast.unparse(node)
    found = ast.literal_eval(node)
    if found is None or isinstance(found, (bool, int, float, str)):
        return found
    raise ValueError(f"not a value of a setting: {ast.unparse(node):.80}")


def _table(call: ast.Call) -> dict[str, Any]:
    """The table of `dict(k=v, …)`."""
    names = [one.arg for one in call.keywords]
    if not isinstance(call.func, ast.Name) or call.func.id != "dict" or call.args or None in names:
        raise ValueError(f"not dict(name=value, …): {ast.unparse(call):.80}")
    return {str(one.arg): _value(one.value) for one in call.keywords}
