"""The state of a policy besides its trained parameters: buffers and frozen layers."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rlk.errors import SHOWN, BadFile
from rlk.protocols import State
from rlk.saving.state_check import check_state

if TYPE_CHECKING:
    from torch import Tensor

    from rlk.running.run import Run


def untrained(run: Run) -> dict[str, Tensor]:
    """Buffers, and parameters that no gradient moves (`requires_grad=False`), by their names.

    A parameter that was frozen after the policy was made is among those that the run trains.
    """
    trained = set(run.parameters.names)
    frozen = {
        name: one.data
        for name, one in run.policy.named_parameters()
        if not one.requires_grad and name not in trained
    }
    return {**dict(run.policy.named_buffers()), **frozen}


def restore_untrained(run: Run, saved: State) -> None:
    """Copy the saved values into them.

    Raises:
        BadFile: for a name, a shape or a dtype that does not fit.
    """
    own = untrained(run)
    if saved.keys() != own.keys():
        found = {"the file": saved.keys() - own, "this run's policy": own.keys() - saved}
        only = [f"only {who} has {sorted(names)[:SHOWN]}" for who, names in found.items() if names]
        raise BadFile(
            f"the saved buffers and frozen parameters do not fit: {', and '.join(only)}. A setting "
            "or a plugin that adds them, such as statistics of observations, cannot change when a "
            "model is loaded."
        )
    check_state(saved, own, "the saved state of the policy: buffers")
    for name, value in saved.items():
        own[name].detach().copy_(value)
