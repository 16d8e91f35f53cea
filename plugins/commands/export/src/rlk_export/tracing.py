"""Traces a policy with torch.export, as one program for batches of any size.

Shapes: S numbers of recurrent state.
"""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import torch
from torch import nn
from torch.export import Dim, ExportedProgram
from torch.export.passes import move_to_device_pass

from rlk.errors import RlkError
from rlk.spaces import Space, map_observation
from rlk_export.sampling import observations
from rlk_export.signature import BATCH

#: Number of observations for tracing; torch would treat a batch of one as a constant.
TRACED = 2
#: What torch's error says where the traced code turned the size of the batch into a number.
SPECIALISED = ("inferred to be a constant", "specialized it to be a constant")
#: What to do about that.
USE_SHAPE = (
    "The size of the batch became a number of the program. Take it from the shape: x.shape[0], not "
    "len(x) or int(x.shape[0]), and do not iterate over the rows of a batch."
)
#: What to do about any other error.
USE_TORCH = (
    "A program of it has to be the same for all observations of any batch: compute in torch, and "
    "let no branch and no shape depend on the numbers of a tensor."
)


def example_of(space: Space, state_size: int | None, rows: int = TRACED) -> tuple[Any, ...]:
    """The arguments of a module of `program`, as tensors: sampled observations, a first state.

    Args:
        space: of the observations.
        state_size: S of a recurrent policy; None for any other.
        rows: the size of the batch.
    """
    sampled = observations(space, rows, np.random.default_rng(1))
    tensors = map_observation(torch.from_numpy, sampled)
    if state_size is None:
        return (tensors,)
    return tensors, torch.zeros(rows, state_size), torch.ones(rows, dtype=torch.bool)


def traced(
    module: nn.Module, arguments: tuple[Any, ...], title: str, device: Any = "cpu"
) -> ExportedProgram:
    """The program of a module, for any batch, on the CPU.

    Args:
        module: of `program`, or what an actor's `acting_module` returns.
        arguments: to trace it with, of `TRACED` rows.
        title: of the policy, for the error.
        device: that the module is on.

    Raises:
        RlkError: if torch.export cannot trace it; the message says why, and what to do.
    """
    batch = Dim(BATCH)

    def there(tensor: Any) -> Any:
        return tensor.to(device)

    try:
        with torch.no_grad(), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            program = torch.export.export(
                module,
                tuple(map_observation(there, each) for each in arguments),
                dynamic_shapes=tuple(map_observation(lambda _: {0: batch}, a) for a in arguments),
                strict=False,
            )
            if torch.device(device).type != "cpu":
                program = move_to_device_pass(program, "cpu")
    except Exception as error:  # torch and the traced layers raise many types
        raise RlkError(_untraceable(title, error)) from error
    return program


def _untraceable(title: str, error: Exception) -> str:
    is_specialised = any(words in str(error) for words in SPECIALISED)
    advice = USE_SHAPE if is_specialised else USE_TORCH
    return f"torch.export cannot trace {title}: {first_line(error)}\n{advice}"


def first_line(error: Exception) -> str:
    """The class of an error, and the first line of its message with any text."""
    lines = filter(None, map(str.strip, str(error).splitlines()))
    return f"{type(error).__name__}: {next(lines, '')}"
