"""What a program may have set in torch with which no run can be made, or trained.

Refused before anything is computed, because much of it would train other numbers without a word.
"""

from __future__ import annotations

import torch

from rlk.errors import PlanError


def refuse_other_defaults() -> None:
    """PlanError if torch's default dtype is not float32, or its default device not the CPU."""
    dtype = torch.get_default_dtype()
    if dtype is not torch.float32:
        raise PlanError(
            f"torch's default dtype is {dtype}, and policies, observations and losses are "
            "torch.float32 here. Call torch.set_default_dtype(torch.float32) before an agent is "
            "made or loaded, and as long as it learns."
        )
    device = torch.get_default_device()
    if device.type != "cpu":
        raise PlanError(
            f"torch's default device is {device}, and weights are drawn from the seed on the CPU "
            "here, before they go to the device of the run (device=… of rlk.make). Call "
            'torch.set_default_device("cpu"), or leave the block of torch.device(…), before an '
            "agent is made or loaded, and as long as it learns."
        )


def check_can_train(call: str, device: str) -> None:
    """PlanError, naming a call, if what the program has set in torch does not let it train.

    Args:
        call: the name of the call, for the message.
        device: the torch device of the policy.
    """
    refuse_other_defaults()
    if torch.is_inference_mode_enabled() or not torch.is_grad_enabled():
        raise PlanError(
            f"{call} computes gradients, which torch.no_grad(), torch.inference_mode() or "
            "torch.set_grad_enabled(False) has turned off. Call it outside of that block, or after "
            "torch.set_grad_enabled(True)."
        )
    kind = torch.device(device).type
    if torch.is_autocast_enabled(kind):
        raise PlanError(
            f"{call} computes in torch.float32, and torch.autocast({kind!r}) would compute a part "
            f"of it in {torch.get_autocast_dtype(kind)}. Call it outside of that block."
        )
