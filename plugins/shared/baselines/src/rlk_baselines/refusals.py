"""What models raise: rlk's errors that are the documented exceptions, too."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Mapping

from rlk.errors import PlanError, RlkError


class Refused(PlanError, ValueError):
    """What a model was given does not exist or does not fit."""


class ParametersDoNotFit(RlkError, RuntimeError):
    """Parameters of other names or shapes than the model's."""


@contextlib.contextmanager
def refused() -> Iterator[None]:
    """Raise a PlanError as `Refused`, which is a ValueError too."""
    try:
        yield
    except Refused:
        raise
    except PlanError as error:
        raise Refused(*error.args) from error


def belongs_to_tensorflow(module: str, name: str, instead: Mapping[str, str]) -> Exception:
    """What a module of TensorFlow's functions raises where one of them is asked for.

    Args:
        module: its name.
        name: what was asked for.
        instead: its functions, and what to write instead of each.

    Returns:
        An ImportError, whose words `from module import name` shows too; for a name that Stable
        Baselines did not have there either, an AttributeError.
    """
    if name not in instead:
        return AttributeError(f"module {module!r} has no attribute {name!r}")
    text = f"{module}.{name} works on TensorFlow's graph, and here networks are torch's. Write "
    return ImportError(f"{text}{instead[name]}.")
