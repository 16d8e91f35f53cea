"""The errors of rlk: each says what failed, in which component, what was found, what to type."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

#: The most names that an error shows.
SHOWN = 5


class RlkError(Exception):
    """Everything rlk raises on purpose; the command line prints it without a traceback."""

    exit_code = 1


class PlanError(RlkError):
    """Refused while planning, before anything was built or written."""

    exit_code = 2


class UnknownName(PlanError):
    """A name that no installed component has.

    Args:
        what: the kind of thing that the name should stand for (`storage`).
        name: the unknown name.
        known: the names that exist; similar ones are suggested.
        hint: a sentence to add, which says where the others are listed.
        meant: what the name is known to stand for, suggested instead of similar names.
        where: in what it was looked for, if not among the installed components (a file).
    """

    def __init__(
        self,
        what: str,
        name: str,
        known: Iterable[str],
        hint: str = "",
        meant: Sequence[str] = (),
        where: str = "",
    ) -> None:
        self.name = name
        inside = f" in {where}" if where else ""
        names = sorted(set(known))
        near = meant or nearest(name, names)
        parts = [f"unknown {what} {name!r}{inside}."]
        if near:
            parts.append(f"Did you mean {either(near)}?")
        elif 0 < len(names) <= SHOWN:
            parts.append(f"Known: {', '.join(names)}.")
        elif not names:
            parts.append(f"There is no {what.removesuffix(':')}{inside}.")
        super().__init__(" ".join(filter(None, [*parts, hint])))


class BrokenPlugin(PlanError):
    """An installed component that was asked for and cannot be used."""


class NotFinite(RlkError):
    """A non-finite number; the run has stopped before using it."""


class EnvironmentFailed(RlkError):
    """An environment raised, or the process that held it died."""


class OutOfMemory(RlkError):
    """Settings that need more memory than the machine gives, such as a large `buffer_size`."""


class BadFile(RlkError):
    """A model or checkpoint that is damaged, too new, or not one of rlk's."""


# ---- errors of others ----------------------------------------------------------------------------


def described(error: BaseException) -> str:
    """Its type, message and notes; without a message (`assert x > 0`), where it was raised.

    It ends without a full stop.
    """
    import traceback  # not at the top: only an error needs it

    frames = traceback.extract_tb(error.__traceback__)
    name, message = type(error).__name__, str(error).removesuffix(".")
    if message:
        found = f"{name}: {message}"
    elif frames:
        found = f"{name} at {frames[-1].filename}:{frames[-1].lineno}: {frames[-1].line}"
    else:
        found = name
    return ". ".join([found, *getattr(error, "__notes__", [])])


# ---- similar names -------------------------------------------------------------------------------


def either(names: Sequence[str]) -> str:
    """Quoted names to choose from: `'a', 'b' or 'c'`."""
    *others, last = map(repr, names)
    return f"{', '.join(others)} or {last}" if others else last


def nearest(name: str, known: Iterable[str]) -> list[str]:
    """The known names that the user may have meant, the likeliest first, at most five.

    Two names are similar if few letters differ, if one is among the words of the other, or if the
    user typed initials (`lr`). Case, hyphens, underscores and dots do not count. A name that is not
    similar is never suggested.
    """
    scores = {one: score for one in known if (score := _distance(name, one)) is not None}
    return sorted(scores, key=lambda one: (scores[one], abs(len(one) - len(name)), one))[:SHOWN]


def _distance(name: str, other: str) -> float | None:
    """How much two names differ, or None if they are not similar."""
    words = _words(name), _words(other)
    one, two = map("".join, words)
    if not one or not two:
        return None
    if len(words[1]) > 1 and one == "".join(word[0] for word in words[1]):
        return 1
    apart = _edits(one, two)
    if apart <= max(1, (len(one) + 1) // 3) and apart < len(two):
        return apart
    shorter, longer = sorted(words, key=lambda parts: len("".join(parts)))
    tails = ["".join(longer[i:]) for i in range(len(longer))]
    if len("".join(shorter)) >= 3 and any(tail.startswith("".join(shorter)) for tail in tails):
        return len(one) + 1 - len(shorter) / len(longer)  # after names with a few different letters
    return None


def _words(name: str) -> list[str]:
    """`normal-noise` as normal, noise; `MlpPolicy` as mlp, policy; `CartPole-v1` has four."""
    return [word.lower() for word in re.findall(r"[A-Z]?[a-z]+|[A-Z]+|\d+", name)]


def _edits(one: str, two: str) -> int:
    """How many letters to insert, delete, replace, or swap with the next, to make one the other."""
    before, row = list[int](), list(range(len(two) + 1))
    for i, letter in enumerate(one, 1):
        earlier, before, row = before, row, [i]
        for j, other in enumerate(two, 1):
            edits = [before[j] + 1, row[j - 1] + 1, before[j - 1] + (letter != other)]
            if i > 1 and j > 1 and (letter, one[i - 2]) == (two[j - 2], other):
                edits.append(earlier[j - 2] + 1)
            row.append(min(edits))
    return row[-1]
