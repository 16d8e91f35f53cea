"""Restoring parts of a run from a file: whatever goes wrong there means that the file is bad."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any

from rlk.errors import BadFile, RlkError, described
from rlk.protocols import State


def part_of(state: State, key: str, kind: type = dict) -> Any:
    """The value under a key in a file's state; BadFile if it is missing or of another type."""
    if not isinstance(state.get(key), kind):
        raise BadFile(f"the file is damaged: it holds no {key}.")
    return state[key]


@contextlib.contextmanager
def bad_if_it_fails(what: str) -> Iterator[None]:
    """Turn every exception except rlk's own into a BadFile that begins with these words."""
    try:
        yield
    except RlkError:
        raise
    except Exception as error:
        raise BadFile(f"{what}: {described(error)}.") from error


@contextlib.contextmanager
def restoring(title: str) -> Iterator[None]:
    """Turn errors of a part that loads its state into a BadFile."""
    what = f"the saved state of {title} cannot be restored"
    try:
        yield
    except BadFile:
        raise
    except RlkError as error:
        raise BadFile(f"{what}: {error}") from error
    except KeyError as error:
        raise BadFile(
            f"{what}: it holds no {error}. It was saved by another component, or by another "
            "version of this one."
        ) from error
    except Exception as error:
        raise BadFile(f"{what}: {described(error)}.") from error
