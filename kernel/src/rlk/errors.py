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
    (case, hyphens, underscores and dots do not count), and names with the typed word, or that are
    one of the words typed.
    """
    import difflib  # not at the top: only an error needs it

    typed, plain = _plain(name), {one: _plain(one) for one in sorted(known)}
    cutoff = 0.65 if len(typed) < 5 else 0.7  # of three letters, two that are swapped leave two
    alike = difflib.get_close_matches(typed, plain.values(), n=SHOWN, cutoff=cutoff)
    found = [one for one in plain if len(typed) > 1 and typed == _initials(one)]
    found += [one for like in alike for one in plain if plain[one] == like]
    found += [one for one in plain if _has_word(*sorted((one, name), key=len))]
    return list(dict.fromkeys(found))[:SHOWN]


def _plain(name: str) -> str:
    return re.sub(r"[-_.]", "", name.lower())


def _initials(name: str) -> str:
    return "".join(word[:1] for word in re.split(r"[-_.]", name.lower()))


def _has_word(part: str, name: str) -> bool:
    """Whether a word of a name begins with that part, which has three letters or more."""
    begins = rf"(^|[\W_]){re.escape(part)}"
    return len(part) >= 3 and re.search(begins, name, re.IGNORECASE) is not None
