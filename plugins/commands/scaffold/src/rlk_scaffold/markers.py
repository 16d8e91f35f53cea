"""Parts of a Markdown file that are generated: each stands between two comments, alone on a line.

`<!-- components -->` … `<!-- /components -->` takes no argument; `<!-- settings: dqn -->` …
`<!-- /settings -->` says what it is about and may stand there several times.
"""

from __future__ import annotations

import re
from collections.abc import Callable


def arguments(text: str, word: str) -> list[str]:
    """The arguments of the parts with that word, in their order; "" for a part without argument.

    Raises:
        ValueError: if an opening marker is not followed by its closing one, or the reverse.
    """
    marks = list(re.finditer(rf"^<!-- (/?){word}(?:: *([^ ]+))? -->$", text, re.MULTILINE))
    closing = [bool(mark[1]) for mark in marks]
    if closing != [False, True] * (len(marks) // 2):
        raise ValueError(f"every <!-- {word} --> must be followed by one <!-- /{word} -->")
    return [mark[2] or "" for mark in marks[::2]]


def filled(text: str, word: str, content: Callable[[str], str]) -> str:
    """The text with every part of that word replaced by the content for its argument.

    Raises:
        ValueError: as `arguments`.
    """
    arguments(text, word)
    part = re.compile(
        rf"^(<!-- {word}(?:: *([^ ]+))? -->)$.*?^(<!-- /{word} -->)$", re.DOTALL | re.MULTILINE
    )
    return part.sub(lambda mark: f"{mark[1]}\n\n{content(mark[2] or '')}\n\n{mark[3]}", text)
