"""Runs examples, which are in a page or a file, so that a test can try what they define."""

from __future__ import annotations

import importlib.util
import re
from pathlib import Path
from types import ModuleType
from typing import Any


def module_of(path: Path) -> ModuleType:
    """The module that a file of Python is, which is run anew and cannot be imported by its name.

    Raises:
        ValueError: if the name of the file does not end in .py.
    """
    spec = importlib.util.spec_from_file_location(path.stem, path)
    if spec is None or spec.loader is None:
        raise ValueError(f"{path} is not a file of Python: its name does not end in .py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def defined_in(page: Path, text: str) -> dict[str, Any]:
    """The names that an example defines, after it has run.

    Args:
        page: a file of Markdown.
        text: a part of the example that no other block of Python on this page has.

    Raises:
        ValueError: if no block has this text, or several.
    """
    blocks = re.findall(r"```python\n(.*?)```", page.read_text(encoding="utf-8"), re.DOTALL)
    found = [block for block in blocks if text in block]
    if len(found) != 1:
        raise ValueError(f"{page}: {len(found)} examples in Python have {text!r}, expected one")
    names: dict[str, Any] = {"__name__": page.stem}
    exec(compile(found[0], str(page), "exec"), names)
    return names
