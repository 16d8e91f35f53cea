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

    These are names of which the user typed the initials (`lr`), names with nearly the same letters
    (case, hyphens, underscores and dots do not count), and names with the typed words, or whose
    words are among those typed.
    """
    import difflib  # not at the top: only an error needs it

    typed, words = _words(name), {one: _words(one) for one in sorted(known)}
    plain, joined = "".join(typed), {one: "".join(own) for one, own in words.items()}
    if same := [one for one in joined if joined[one] == plain]:
        return same[:SHOWN]
    cutoff = 0.65 if len(plain) < 5 else 0.7  # of three letters, two that are swapped leave two
    alike = difflib.get_close_matches(plain, joined.values(), n=SHOWN, cutoff=cutoff)
    found = [one for one, own in words.items() if plain == "".join(word[0] for word in own)]
    found += [one for like in alike for one in joined if joined[one] == like]
    found += [one for one, own in words.items() if _has_words(*sorted((typed, own), key=_length))]
    return list(dict.fromkeys(found))[:SHOWN]


def _words(name: str) -> list[str]:
    """`normal-noise` as normal, noise; `MlpPolicy` as mlp, policy; `CartPole-v1` has four."""
    return [word.lower() for word in re.findall(r"[A-Z]?[a-z]+|[A-Z]+|\d+", name)]


def _length(words: list[str]) -> int:
    return sum(map(len, words))


def _has_words(part: list[str], words: list[str]) -> bool:
    """Whether words go on with those of a part, of three letters or more, from one of them on."""
    begins = "".join(part)
    tails = ("".join(words[i:]) for i in range(len(words)))
    return len(begins) >= 3 and any(tail.startswith(begins) for tail in tails)
