"""Runs the examples of a page, so that a test can try what they define."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any


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
