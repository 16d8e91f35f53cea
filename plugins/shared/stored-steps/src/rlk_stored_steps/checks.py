"""What a step must bring along to be stored."""

from __future__ import annotations

from typing import Any

from rlk.errors import RlkError
from rlk.records import Step


def missing_extra(storage: str, name: str, step: Step) -> RlkError:
    """The error about a step that lacks one of the schema's extras."""
    return RlkError(
        f"storage {storage!r} was opened to keep {name!r} with every step, and this step lacks it. "
        f"It has: {', '.join(step.extras) or 'no extras'}."
    )


def final_observation(step: Step, env: int) -> Any:
    """The observation that the episode of this environment ended with.

    Raises:
        RlkError: the step does not have it.
    """
    if env not in step.final_observation:
        raise RlkError(
            f"an episode of environment {env} ended without a final observation. A vector "
            "environment must give one (in Gymnasium: AutoresetMode.SAME_STEP, final_obs)."
        )
    return step.final_observation[env]
