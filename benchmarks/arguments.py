"""Words and numbers of the command lines, checked before anything is measured."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterable


def positive(text: str) -> int:
    """A whole number of at least 1."""
    if not (text.isascii() and text.isdigit() and int(text)):
        raise argparse.ArgumentTypeError(f"{text!r} is not a whole number of at least 1")
    return int(text)


def one_of(known: Iterable[str]) -> Callable[[str], str]:
    """A word that is known."""
    words = tuple(known)

    def word(text: str) -> str:
        if text not in words:
            raise argparse.ArgumentTypeError(f"{text!r} is none of: {', '.join(words)}")
        return text

    return word
