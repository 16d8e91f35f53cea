"""Stable Baselines' functions of tensors, for torch tensors.

Functions that work on TensorFlow's graph or session are refused, with what to use instead.
Shapes: B batch, N environments, T steps of each.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import Any

import torch
from torch import Tensor
from torch.nn.functional import huber_loss as _huber_loss

from rlk_baselines.common.distributions import CategoricalProbabilityDistribution
from rlk_baselines.refusals import not_here

#: The functions that are refused, and what to use instead.
_INSTEAD = {
    "GetFlat": "torch.nn.utils.parameters_to_vector(model.agent.run.policy.parameters())",
    "SetFromFlat": "model.load_parameters, with arrays by name or in a list",
    "function": "a function of Python: torch computes at once",
    "get_globals_vars": "model.get_parameters()",
    "get_trainable_vars": "model.get_parameters()",
    "in_session": "nothing: there is no session",
    "initialize": "nothing: torch's parameters have values from the start",
    "make_session": "n_cpu_tf_sess=… of the model: there is no session",
    "outer_scope_getter": "nothing: there are no scopes",
    "single_threaded_session": "n_cpu_tf_sess=1 of the model: there is no session",
    "total_episode_reward_logger": "tensorboard_log=… of the model, which writes episode_reward",
}


def __getattr__(name: str) -> Any:
    raise not_here(__name__, name, _INSTEAD)


# ---- shapes --------------------------------------------------------------------------------------


def is_image(tensor: Any) -> bool:
    """Whether an array or a space is one image [height, width, channels], 1, 3 or 4 channels."""
    return len(tensor.shape) == 3 and tensor.shape[-1] in (1, 3, 4)


def var_shape(tensor: Tensor) -> list[int]:
    """The shape of a tensor, as a list."""
    return list(tensor.shape)


def numel(tensor: Tensor) -> int:
    """The number of elements of a tensor."""
    return tensor.numel()


def intprod(tensor: Iterable[float]) -> int:
    """The product of numbers, truncated to an int."""
    return int(math.prod(tensor))


def check_shape(tensors: Iterable[Tensor], shapes: Iterable[Sequence[int]]) -> None:
    """Check that every tensor has the expected shape.

    Raises:
        AssertionError: for the first tensor that has another shape.
    """
    for i, (tensor, shape) in enumerate(zip(tensors, shapes, strict=True)):
        found, expected = list(tensor.shape), list(shape)
        assert found == expected, f"tensor {i} has the shape {found}, not {expected}"


def batch_to_seq(
    tensor_batch: Tensor, n_batch: int, n_steps: int, flat: bool = False
) -> list[Tensor]:
    """Split a batch for a recurrent policy: a list of T tensors [N, F], or [N] with `flat`.

    Args:
        tensor_batch: [N * T, ...], all steps of the first environment, then of the next.
        n_batch: N.
        n_steps: T.
        flat: whether there is a single number for each environment and step.
    """
    shape = (n_batch, n_steps) if flat else (n_batch, n_steps, -1)
    return list(tensor_batch.reshape(shape).unbind(1))


def seq_to_batch(tensor_sequence: Sequence[Tensor], flat: bool = False) -> Tensor:
    """The inverse of `batch_to_seq`: [N * T, F], or [N * T] with `flat`."""
    together = torch.stack(list(tensor_sequence), 1)
    return together.reshape(-1) if flat else together.reshape(-1, together.shape[-1])


# ---- numbers -------------------------------------------------------------------------------------


def avg_norm(tensor: Tensor) -> Tensor:
    """The mean of the L2 norms along the last axis, 0-dim."""
    return tensor.square().sum(-1).sqrt().mean()


def mse(pred: Tensor, target: Tensor) -> Tensor:
    """The mean squared error, mean of (pred - target)^2, 0-dim."""
    return (pred - target).square().mean()


def huber_loss(tensor: Tensor, delta: float = 1.0) -> Tensor:
    """Elementwise Huber loss: x^2 / 2 for |x| <= delta, else delta (|x| - delta / 2)."""
    return _huber_loss(tensor, torch.zeros_like(tensor), reduction="none", delta=delta)


def q_explained_variance(q_pred: Tensor, q_true: Tensor) -> Tensor:
    """1 - Var[q_true - q_pred] / Var[q_true], over all elements, 0-dim."""
    return 1 - (q_true - q_pred).var(correction=0) / q_true.var(correction=0)


def calc_entropy(logits: Tensor) -> Tensor:
    """The entropy in nats, float [B], of categorical distributions with logits [B, A]."""
    return CategoricalProbabilityDistribution(logits).entropy()


def sample(logits: Tensor) -> Tensor:
    """Actions, int64 [B], drawn from categorical distributions with logits [B, A]."""
    return CategoricalProbabilityDistribution(logits).sample()


# ---- gradients -----------------------------------------------------------------------------------


def flatgrad(loss: Tensor, var_list: Iterable[Tensor], clip_norm: float | None = None) -> Tensor:
    """The gradients of a loss with respect to tensors, concatenated into one vector.

    Args:
        loss: 0-dim.
        var_list: the tensors. If the loss does not depend on one, its gradient is zeros.
        clip_norm: the largest norm of the gradient of each tensor; larger ones are scaled down.
            None does not clip.
    """
    variables = list(var_list)
    found = torch.autograd.grad(
        loss, variables, retain_graph=True, allow_unused=True, materialize_grads=True
    )
    rows = [grad.reshape(-1) for grad in found]
    if clip_norm is not None:
        rows = [row * (clip_norm / row.norm().clamp(min=clip_norm)) for row in rows]
    return torch.cat(rows)


def gradient_add(
    grad_1: Tensor | None, grad_2: Tensor | None, param: Any, verbose: int = 0
) -> Tensor | None:
    """The sum of two gradients, either of which may be None; None if both are.

    Args:
        grad_1, grad_2: the gradients, or None.
        param: the parameter that they belong to; it is only printed.
        verbose: above 1, all three are printed.
    """
    if verbose > 1:
        print(grad_1, grad_2, param)
    if grad_1 is None or grad_2 is None:
        return grad_2 if grad_1 is None else grad_1
    return grad_1 + grad_2
