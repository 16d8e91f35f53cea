"""The activations of hidden layers: by the names that users type, or a user's own functions.

Where PyTorch has an in-place version, an activation overwrites its argument, the fresh output of a
layer: another tensor would only fill the processor's cache. The gradient of two critics then takes
0.94 of the time (256x256, 256 transitions) or 0.85 (64x64, 64 transitions).
"""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from rlk.errors import PlanError

Activation = Callable[[Tensor], Tensor]

#: `config.ACTIVATION_NAMES` has the names without torch.
ACTIVATIONS: dict[str, Activation] = {
    "tanh": torch.tanh_,
    "relu": torch.relu_,
    "elu": F.elu_,
    "leaky_relu": F.leaky_relu_,
    "selu": F.selu_,
    "gelu": F.gelu,
    "silu": F.silu,
    "sigmoid": torch.sigmoid_,
    "softplus": F.softplus,
    "softsign": F.softsign,
}


def activation(asked: str | Activation | type[nn.Module]) -> str | Activation:
    """The activation for `act_fun`: an unchanged name, a function, or a module for this stack.

    Args:
        asked: a name, a function of a tensor, or a module or its class (`torch.nn.Mish`).

    Raises:
        PlanError: for a module with parameters, which every layer would share.
    """
    made: Any = asked
    if isinstance(asked, nn.Module):
        made = copy.deepcopy(asked)
    elif isinstance(asked, type):
        made = asked()
    if isinstance(made, nn.Module) and next(made.parameters(), None) is not None:
        raise PlanError(
            f"act_fun={type(made).__name__} has parameters, which all layers would share. Put it "
            "into an encoder of your own: docs/custom-policies.md"
        )
    return made


def function_of(act_fun: str | Activation) -> Activation:
    """The activation as a function of a layer's fresh output, which it may overwrite."""
    return ACTIVATIONS[act_fun] if isinstance(act_fun, str) else act_fun
