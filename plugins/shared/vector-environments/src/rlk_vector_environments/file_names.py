"""Texts in an environment's state that may name a file: a checkpoint chooses none."""

from __future__ import annotations

import re

from rlk_vector_environments import how_made
from rlk_vector_environments.state_values import Unsupported, encoded_alone, texts

#: An absolute path, one that goes up or begins with `.` or `~`, or a name with a suffix.
_FILE = re.compile(
    r"[/\\~]|\.{1,2}[/\\]|[A-Za-z]:[/\\]|.*[/\\]\.\.[/\\]|.*\.[A-Za-z]\w+$", re.DOTALL
)


def names_file(text: str) -> bool:
    """Whether a text looks like a path, or like the name of a file; `BTC/USD` does not."""
    return _FILE.match(text) is not None


def refuse(layer: object, key: str, found: set[str], present: set[str], hint: str) -> None:
    """Raise Unsupported if a text that neither the constructor nor the class set may name a file.

    In an attribute that held a path, every other text may be one.

    Args:
        layer, key: the attribute.
        found: the texts in it.
        present: the texts that the new environment has there.
        hint: what to do.
    """
    own = _of_program(layer, key) | present
    has_path = any(map(names_file, own))
    for text in sorted(found - own):
        if has_path or names_file(text):
            raise Unsupported(
                f"{type(layer).__name__}.{key} holds the text {text!r:.80}, which may name a file, "
                f"and which its constructor did not set. A checkpoint chooses no file. {hint}"
            )


def _of_program(layer: object, key: str) -> set[str]:
    """The texts in an attribute as the constructor or the class has set it."""
    note, of_class = how_made.of(layer), encoded_alone(getattr(type(layer), key, None), {})
    return texts(of_class) | (note.texts.get(key, set()) if note else set())
