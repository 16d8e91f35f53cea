"""What went wrong in a worker, brought to the learner and raised there."""

from __future__ import annotations

import pickle
import traceback
from typing import Literal, NamedTuple

from rlk.errors import EnvironmentFailed, PlanError

Kind = Literal["failed", "attribute", "unsupported", "plan"]


class Failure(NamedTuple):
    """An exception on its way to the learner.

    Attributes:
        kind: what it is raised as: EnvironmentFailed, AttributeError, PlanError, or
            `rlk_vector_rows.env_state.Unsupported`.
        message: says which environment, when, and what.
        trace: the worker's traceback as text, from the environment inwards.
        error: the exception itself, pickled; None if it cannot be.
    """

    kind: Kind
    message: str
    trace: str
    error: bytes | None

    def exception(self) -> Exception:
        """What the learner raises; its cause is the worker's exception where that could travel."""
        raised: Exception
        if self.kind == "attribute":
            raised = AttributeError(self.message)
        elif self.kind == "unsupported":
            from rlk_vector_rows.env_state import Unsupported

            raised = Unsupported(self.message)
        elif self.kind == "plan":
            raised = PlanError(self.message)
        else:
            raised = EnvironmentFailed(f"{self.message}\nThe worker's traceback:\n{self.trace}")
        try:
            raised.__cause__ = pickle.loads(self.error) if self.error else None
        except Exception:  # its class cannot be imported, or made again, here
            raised.__cause__ = None
        return raised


def describe(error: Exception, message: str, kind: Kind = "failed") -> Failure:
    """The failure for an exception that was just caught, without the frame that caught it."""
    frames = error.__traceback__
    inner = frames.tb_next if frames is not None and frames.tb_next is not None else frames
    trace = "".join(traceback.format_exception(type(error), error, inner)).rstrip()
    try:
        pickled = pickle.dumps(error)
    except Exception:
        pickled = None
    return Failure(kind, message, trace, pickled)
