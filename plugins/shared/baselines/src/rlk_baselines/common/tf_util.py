"""Stable Baselines' functions of tensors, on those of torch.

What works on TensorFlow's graph or session says what to write instead. B is the size of a batch, N
the number of environments, T of steps of each.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import Any

import torch
from torch import Tensor
from torch.nn.functional import huber_loss as _huber_loss

from rlk_baselines.common.distributions import CategoricalProbabilityDistribution
from rlk_baselines.refusals import belongs_to_tensorflow

#: Names that are not here, and what to write instead.
_INSTEAD = {
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
    raise belongs_to_tensorflow(__name__, name, _INSTEAD)


# ---- shapes --------------------------------------------------------------------------------------


def is_image(tensor: Any) -> bool:
    """Whether an array is a batch of images [B, height, width, channels] of 1, 3 or 4 channels."""
    return len(tensor.shape) == 4 and tensor.shape[-1] in (1, 3, 4)


def var_shape(tensor: Tensor) -> list[int]:
    """Its shape."""
    return list(tensor.shape)


def numel(tensor: Tensor) -> int:
    """How many numbers it has."""
    return tensor.numel()


def intprod(tensor: Iterable[float]) -> int:
    """The product of numbers, without what is behind its point."""
    return int(math.prod(tensor))


def check_shape(tensors: Iterable[Tensor], shapes: Iterable[Sequence[int]]) -> None:
    """Nothing, if every tensor has its shape.

    Raises:
        AssertionError: for the first one that has another.
    """
    for i, (tensor, shape) in enumerate(zip(tensors, shapes, strict=True)):
        found, expected = list(tensor.shape), list(shape)
        assert found == expected, f"tensor {i} has the shape {found}, not {expected}"


def batch_to_seq(
    tensor_batch: Tensor, n_batch: int, n_steps: int, flat: bool = False
) -> list[Tensor]:
    """What a recurrent policy is given step by step: T tensors [N, F], or [N] of a flat one.

    Args:
        tensor_batch: [N * T, ...], all steps of the first environment, then of the next.
        n_batch: N.
        n_steps: T.
        flat: whether there is one number for each environment and step.
    """
    shape = (n_batch, n_steps) if flat else (n_batch, n_steps, -1)
    return list(tensor_batch.reshape(shape).unbind(1))


def seq_to_batch(tensor_sequence: Sequence[Tensor], flat: bool = False) -> Tensor:
    """The inverse of `batch_to_seq`: [N * T, F], or [N * T] of a flat one."""
    together = torch.stack(list(tensor_sequence), 1)
    return together.reshape(-1) if flat else together.reshape(-1, together.shape[-1])


# ---- numbers -------------------------------------------------------------------------------------


def avg_norm(tensor: Tensor) -> Tensor:
    """The mean of the L2 norms along the last axis."""
    return tensor.square().sum(-1).sqrt().mean()


def mse(pred: Tensor, target: Tensor) -> Tensor:
    """The mean of (pred - target)^2."""
    return (pred - target).square().mean()


def huber_loss(tensor: Tensor, delta: float = 1.0) -> Tensor:
    """x^2 / 2 up to delta and delta (|x| - delta / 2) beyond, of each number x."""
    return _huber_loss(tensor, torch.zeros_like(tensor), reduction="none", delta=delta)


def q_explained_variance(q_pred: Tensor, q_true: Tensor) -> Tensor:
    """1 - Var[q_true - q_pred] / Var[q_true], over all numbers."""
    return 1 - (q_true - q_pred).var(correction=0) / q_true.var(correction=0)


def calc_entropy(logits: Tensor) -> Tensor:
    """The entropy in nats of categorical distributions, float [B] of logits [B, A]."""
    return CategoricalProbabilityDistribution(logits).entropy()


def sample(logits: Tensor) -> Tensor:
    """Actions drawn from categorical distributions, int64 [B] of logits [B, A]."""
    return CategoricalProbabilityDistribution(logits).sample()


# ---- gradients -----------------------------------------------------------------------------------


def flatgrad(loss: Tensor, var_list: Iterable[Tensor], clip_norm: float | None = None) -> Tensor:
    """The gradients of a loss with respect to tensors, in one row.

    Args:
        loss: a number.
        var_list: the tensors; one that the loss does not depend on has a gradient of zeros.
        clip_norm: to what norm the gradient of each is scaled down at most; None leaves them.
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
    """The sum of two gradients, of which one or both may be missing.

    Args:
        grad_1, grad_2: the gradients, or None.
        param: whose they are.
        verbose: whether they are printed.
    """
    if verbose > 0:
        print(grad_1, grad_2, param)
    if grad_1 is None or grad_2 is None:
        return grad_2 if grad_1 is None else grad_1
    return grad_1 + grad_2
