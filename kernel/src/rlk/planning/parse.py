"""Parses the text that a user types into values, settings and plugins, and writes such text."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any

from rlk.documents import parse_toml
from rlk.errors import PlanError

_WORDS = re.compile(r"\[\s*[A-Za-z_][\w./-]*\s*(,\s*[A-Za-z_][\w./-]*\s*)*\]")


def parse_value(text: str) -> Any:
    """A TOML value if the text parses as one (`1e-3`, `[64, 64]`, `true`), else the text itself.

    TOML has no null: `none` is None. `None`, `True` and `False` are those of Python. A list of
    words needs no quotes (`[image, goal]`): a shell would have removed them.
    """
    if text in ("none", "None", "null"):
        return None
    if text in ("True", "False"):
        return text == "True"
    try:
        return parse_toml(f"value = {text}")["value"]
    except ValueError:
        return [word.strip() for word in text[1:-1].split(",")] if _WORDS.fullmatch(text) else text


def typed_value(value: Any) -> str:
    """The text that `parse_value` reads as this value, which is one of JSON's types.

    TOML has no null, so None in a list or a table becomes the word `none`.
    """
    if value is None:
        return "none"
    if isinstance(value, str) and value == value.strip() and parse_value(value) == value:
        return value
    return _toml(value)


def _toml(value: Any) -> str:
    if isinstance(value, Mapping):
        pairs = [f"{_toml(str(key))} = {_toml(item)}" for key, item in value.items()]
        return f"{{{', '.join(pairs)}}}"
    if isinstance(value, (list, tuple)):
        return f"[{', '.join(map(_toml, value))}]"
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, (int, float)):
        return repr(value)
    text = "none" if value is None else value
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")


def parse_setting(pair: str) -> tuple[str, Any]:
    """`key=value` as a dotted key and its value; PlanError if it has no key or no `=`."""
    key, found, value = pair.partition("=")
    if not found or not key.strip():
        raise PlanError(f"a setting is key=value, as in --set gamma=0.98; got {pair!r}.")
    return key.strip(), parse_value(value.strip())


def parse_plugin(text: str) -> tuple[str, dict[str, Any]]:
    """`NAME[:key=value,…]` as a name and settings, which begin at the first `:identifier=`.

    Raises:
        PlanError: for anything but a text, which a file may hold instead, or a key given twice.
    """
    if not isinstance(text, str):
        raise PlanError(f"a plugin is named as NAME[:key=value,…], got {text!r:.80}.")
    name, *arguments = re.split(r":(?=[A-Za-z_][\w.]*=)", text, maxsplit=1)
    if not arguments:
        return name, {}
    values: dict[str, Any] = {}
    for pair in split_at_commas(arguments[0]):
        key, value = parse_setting(pair)
        if key in values:
            raise PlanError(f"{text!r} has {key} twice. Set it once.")
        values[key] = value
    return name, values


def split_at_commas(text: str) -> list[str]:
    """The parts between commas, except commas in brackets or quotes."""
    parts, depth = [""], 0
    for token in re.findall(r"\"[^\"]*\"?|'[^']*'?|.", text):
        depth += (token in "[{(") - (token in "]})")
        if token == "," and depth == 0:
            parts.append("")
        else:
            parts[-1] += token
    return parts
