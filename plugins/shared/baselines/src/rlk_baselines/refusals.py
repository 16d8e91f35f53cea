"""What models raise: rlk's errors that are the documented exceptions, too."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator

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
