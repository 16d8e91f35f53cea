"""The errors of models: rlk's errors that are also the documented exceptions."""

from __future__ import annotations

import contextlib
import re
from collections.abc import Iterator, Mapping

from rlk.errors import PlanError, RlkError

#: The kind of an observation space -> the policy for it, whose names are `Mlp…`, `Cnn…` and so on.
_POLICIES = {"Dict": "MultiInput", "Image": "Cnn"}


class Refused(PlanError, ValueError):
    """An argument of a model does not exist or does not fit; also a ValueError."""


class ParametersDoNotFit(RlkError, RuntimeError):
    """Names or shapes of parameters are not those of the model; also a RuntimeError."""


class MissingInfo(RlkError, KeyError):
    """The last info of an episode lacks a key of `info_keywords`; also a KeyError."""

    __str__ = RlkError.__str__  # a KeyError's is the repr of its message


@contextlib.contextmanager
def refused() -> Iterator[None]:
    """Turn a PlanError into `Refused`, which is also a ValueError and says what to write."""
    try:
        yield
    except Refused:
        raise
    except PlanError as error:
        raise Refused(as_written(str(error))) from error


def as_written(text: str) -> str:
    """An error that says what to type in a shell, with what to write in a program instead."""
    text = re.sub(r"--set ([\w.]+=)((?:true|false)\b)?", _assigned, text)
    text = re.sub(r"--policy ([\w-]+)", r"policy='\1'", text)
    text = re.sub(r" --plugin (gymnasium\.wrappers):(\w+)", r" with \1.\2(env)", text)
    text = re.sub(r"--plugin no:", "no ", text)
    text = re.sub(r"--n-envs (\d+)", r"\1 environments", text)
    lists = r" To list what fits: rlk plugins list --observation-space (\w+)"
    return re.sub(f"Use another policy\\.{lists}", _other_policy, text)


def _assigned(found: re.Match[str]) -> str:
    """A setting as a keyword argument."""
    return found[1] + (found[2] or "").capitalize()


def _other_policy(found: re.Match[str]) -> str:
    """The policy to write for observations of this kind, recurrent as the refused one."""
    kind = _POLICIES.get(found[1], "Mlp")
    refused_one = found.string[: found.start()].rpartition("policy '")[2]
    return f"Write '{kind}{'Lstm' if refused_one.startswith('lstm') else ''}Policy'."


def refuse_below_one(number: float, name: str) -> None:
    """Refuse a number of steps or episodes that is below 1.

    Args:
        number: the number.
        name: its name, and whose it is.

    Raises:
        Refused: if it is.
    """
    if not number >= 1:
        raise Refused(f"{name} must be at least 1, got {number}.")


def not_here(module: str, name: str, instead: Mapping[str, str]) -> Exception:
    """The error for a name that a module does not have.

    Args:
        module: the `__name__` of the module.
        name: the name.
        instead: what to use instead of the names that the original module has, and this one not.

    Returns:
        An ImportError, whose message `from module import name` shows, too; an AttributeError for a
        name that the original module does not have either.
    """
    if name not in instead:
        return AttributeError(f"module {module!r} has no attribute {name!r}")
    return ImportError(f"{module} has no {name}. Write {instead[name]}.")
