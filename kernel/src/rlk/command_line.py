"""Commands that are printed so that a user can paste them into the shells of this system."""

from __future__ import annotations

import os
import re
import shlex
import sys
from collections.abc import Iterable

#: Words that mean themselves in cmd.exe and in PowerShell.
_PLAIN = re.compile(r"[\w./\\:=+-]+")
#: Characters that these two shells evaluate, or end the quotation at, even between double quotes.
_EVALUATED = frozenset('"\u201c\u201d\u201e$`%')


def command_line(words: Iterable[str]) -> str:
    """The words, quoted for a shell of POSIX, or for cmd.exe and PowerShell."""
    if sys.platform == "win32":
        return " ".join(map(_windows_word, words))
    return shlex.join(words)


def pip_install(requirements: Iterable[str]) -> str:
    """The command that installs distributions, each named once: `rlk-dqn`, `rlk-dqn==0.1.0`."""
    return command_line(["pip", "install", *dict.fromkeys(requirements)])


def path_word(path: str | os.PathLike[str]) -> str:
    """The word for a path that a command does not take for an option: `./-x` for `-x`."""
    typed = os.fspath(path)
    return os.path.join(os.curdir, typed) if typed.startswith("-") else typed


def can_be_pasted(word: str) -> bool:
    """Whether `command_line` can make a shell take this word as it is, whoever has written it."""
    evaluated = _EVALUATED if sys.platform == "win32" else frozenset()
    return word.isprintable() and evaluated.isdisjoint(word)


def _windows_word(word: str) -> str:
    """A word between double quotes if it needs them; programs split the line by C's rules."""
    from subprocess import list2cmdline

    if _PLAIN.fullmatch(word):
        return word
    return '"' + list2cmdline([f" {word}"])[2:]  # it quotes words with a space
