"""The loss and its gradient in numpy: what `DQN.loss` and autograd give, for small networks."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from rlk.records import Array, Batch, Loss
from rlk_networks import NumpyGradient, as_array, in_order

#: (batch, target) -> the loss and its flat gradient, float [P].
GradientFn = Callable[[Batch, Tensor], tuple[Loss, Tensor]]


def numpy_gradient(policy: Any, parameters: Sequence[nn.Parameter]) -> GradientFn | None:
    """The loss and its gradient by these parameters, or None where the policy has no such twin."""
    twin: NumpyGradient | None = policy.numpy_gradient("qf")
    flat = None if twin is None else in_order(parameters, twin.parameters)
    if twin is None or flat is None:
        return None

    def gradient(batch: Batch, target: Tensor) -> tuple[Loss, Tensor]:
        q_all, kept = twin.forward(as_array(batch.observation))
        value, td_error, slope = huber_loss(
            q_all, batch.action.numpy(), target.numpy(), batch.weight.numpy()
        )
        found = flat(twin.backward(kept, slope)[0])
        loss = torch.from_numpy(value)
        outputs = {"td_error": torch.from_numpy(td_error)}
        return Loss(loss, metrics={"loss": loss}, outputs=outputs), torch.from_numpy(found)

    return gradient


def huber_loss(
    q_all: Array, action: Array, target: Array, weight: Array
) -> tuple[Array, Array, Array]:
    """What `rlk_dqn.loss.huber_loss` gives for the chosen actions, and its gradient by `q_all`.

    Args:
        q_all: float [B, A]. action: int [B], from 0. target, weight: float [B].

    Returns:
        The mean, 0-dim, the temporal-difference error, float [B], and the gradient, float [B, A].
    """
    rows = np.arange(len(action))
    td_error = q_all[rows, action] - target
    clipped = np.minimum(np.maximum(td_error, -1.0), 1.0)
    share = weight * clipped
    share /= len(weight)
    slope = np.zeros_like(q_all)
    slope[rows, action] = share
    value = share.dot(td_error - 0.5 * clipped)
    return np.asarray(value), td_error, slope
