"""How a user's function can be called, as far as its signature shows."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable
from typing import Any

from rlk.errors import either, nearest


def takes(function: Callable[..., Any], arguments: int) -> bool:
    """Whether a function can be called with so many positional arguments.

    A function in compiled code may have no signature, and then it is taken to fit.
    """
    try:
        inspect.signature(function).bind(*range(arguments))
    except TypeError:
        return False
    except ValueError:
        return True
    return True


def written(function: Callable[..., Any]) -> str:
    """A function with its parameters: `warm_up(step, total)`."""
    name = getattr(function, "__name__", type(function).__name__)
    try:
        return f"{name}{inspect.signature(function)}"
    except ValueError:
        return str(name)


def keywords_instead(
    function: Callable[..., Any], given: Iterable[str], others: Iterable[str] = ()
) -> str:
    """The keywords that a function takes, the nearest first, if one is given that it does not take.

    It ends without a full stop. It is empty if the function takes all of them, takes any
    (`**keywords`), or has no signature.

    Args:
        function: a function or a class.
        given: the names of the keywords.
        others: further keywords that are taken, though not by the function itself.
    """
    try:
        parameters = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):
        return ""
    by_name = (inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY)
    taken = [one.name for one in parameters if one.kind in by_name] + [*others]
    unknown = [name for name in given if name not in taken]
    if not unknown or any(one.kind is inspect.Parameter.VAR_KEYWORD for one in parameters):
        return ""
    near = nearest(unknown[0], taken)
    meant = f"Did you mean {either(near)}? " if near else ""
    return f"{meant}It takes {', '.join(taken) or 'no keywords'}"


def without_suggestion(error: BaseException) -> str:
    """The words of a call's TypeError without the suggestion that Python adds to some, since 3.13.

    `keywords_instead` suggests more: what is close, and all that the function takes.
    """
    return str(error).partition(". Did you mean ")[0]
