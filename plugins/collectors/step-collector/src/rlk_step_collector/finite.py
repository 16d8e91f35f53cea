"""The error for a non-finite number of an environment in training."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from rlk.errors import NotFinite
from rlk.finite import first_non_finite
from rlk.records import Array

if TYPE_CHECKING:
    from rlk.running.run import Run


def refuse_non_finite(
    run: Run,
    reward: Array | None,
    observation: Any,
    action: Any = None,
    env: int | None = None,
) -> None:
    """Raises an error that names the environment and the field with a non-finite number.

    Args:
        reward: float [N]; None before the first step.
        observation: [N, …], or of a Dict space a dict of such.
        action: the actions that the environments took, [N, …].
        env: its index, if `observation` has the row of only this one.

    Raises:
        NotFinite: for the first non-finite number, if there is one.
    """
    found = first_non_finite(observation, reward)
    if found is None:
        return
    row, what = found
    which = row if env is None else env
    shown = "" if action is None else f" after action {np.asarray(action)[row]!r}"
    raise NotFinite(
        f"environment {which} ({run.plan.env.name}) gave {what} at timestep {run.timesteps}"
        f"{shown}.\nNothing of this step was stored. Mend the environment, or wrap it to clip "
        "what it returns."
    )
