"""Gymnasium spaces as rlk sees them: what kind one is, how an observation becomes a tensor."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
from gymnasium import spaces

from rlk.errors import PlanError
from rlk.records import Array

if TYPE_CHECKING:
    from torch import Tensor

Space = spaces.Space[Any]


def is_image(space: Space) -> bool:
    """Whether a space holds images: uint8, 0 to 255, [height, width, channels] or channels
    first."""
    return (
        isinstance(space, spaces.Box)
        and space.dtype == np.uint8
        and len(space.shape) == 3
        and bool(np.all(space.low == 0) and np.all(space.high == 255))
    )


def kind(space: Space) -> str:
    """The name that capabilities are declared with: the class name, or `Image`."""
    return "Image" if is_image(space) else type(space).__name__


def describe(space: Space) -> str:
    """A short text for messages and plan.json, the bounds of a large Box left out."""
    return f"Box({space.shape}, {space.dtype})" if isinstance(space, spaces.Box) else str(space)


def flat_size(space: Space) -> int:
    """How many numbers `preprocess` makes of one observation."""
    if isinstance(space, spaces.Discrete):
        return int(space.n)
    if isinstance(space, spaces.MultiDiscrete):
        return int(np.sum(space.nvec))
    return math.prod(space.shape or ())


def preprocess(space: Space) -> Callable[[Any], Any]:
    """From raw observations [B, ...] to what an encoder takes, in torch and traceable: images as
    float in 0..1, whole numbers one-hot, all else float32; of a Dict space a dict of these."""
    import torch

    if isinstance(space, spaces.Dict):
        parts = {key: preprocess(sub) for key, sub in space.spaces.items()}
        return lambda observation: {key: part(observation[key]) for key, part in parts.items()}
    if is_image(space):
        return lambda observation: observation.to(torch.float32) / 255.0
    if isinstance(space, spaces.Discrete):
        n, start = int(space.n), int(space.start)
        return lambda observation: _one_hot(observation - start if start else observation, n)
    if isinstance(space, spaces.MultiDiscrete):
        sizes = [int(n) for n in space.nvec.reshape(-1)]
        return lambda observation: torch.cat(
            [_one_hot(observation.flatten(1)[:, i], n) for i, n in enumerate(sizes)], dim=-1
        )
    return _as_float


def _as_float(observation: Tensor) -> Tensor:
    import torch

    return observation if observation.dtype == torch.float32 else observation.to(torch.float32)


def _one_hot(index: Tensor, n: int) -> Tensor:
    import torch

    return torch.nn.functional.one_hot(index.long(), n).to(torch.float32)


def as_tensor(observation: Any, device: Any = "cpu") -> Any:
    """A numpy observation, or a dict of them, as tensors; on the CPU the memory is shared."""
    import torch

    if isinstance(observation, Mapping):
        return {key: as_tensor(value, device) for key, value in observation.items()}
    array = np.asarray(observation)
    if array.dtype == np.float64:
        array = array.astype(np.float32)
    tensor = torch.from_numpy(np.ascontiguousarray(array))
    return tensor if device == "cpu" else tensor.to(device)


def scaled(space: Space) -> Callable[[Array], Array]:
    """The linear function from actions in -1 to 1, [N, ...], to those of a Box, [N, *shape].

    Raises:
        PlanError: if a bound is infinite.
    """
    low, high, shape = space.low, space.high, space.shape or ()  # type: ignore[attr-defined]
    if not (np.isfinite(low).all() and np.isfinite(high).all()):
        raise PlanError(
            f"actions from -1 to 1 cannot be scaled to {describe(space)}: a bound is infinite. "
            "Wrap the environment in gymnasium.wrappers.RescaleAction, or give its space bounds."
        )
    middle, half = low / 2 + high / 2, high / 2 - low / 2

    def scale(action: Array) -> Array:
        found: Array = middle + half * action.reshape(-1, *shape)
        np.minimum(np.maximum(found, low, out=found), high, out=found)  # rounding may lead out
        return found

    return scale


def map_observation(function: Callable[[Array], Any], observation: Any) -> Any:
    """`function` applied to an observation, or to each part of a Dict one."""
    if isinstance(observation, Mapping):
        return {key: map_observation(function, value) for key, value in observation.items()}
    return function(observation)


def finite_check(space: Space) -> Callable[[Any], bool]:
    """The cheapest test that observations of this space are finite (1 µs for a small one)."""
    if isinstance(space, spaces.Dict):
        parts = {key: finite_check(sub) for key, sub in space.spaces.items()}
        return lambda observation: all(check(observation[key]) for key, check in parts.items())
    if isinstance(space, spaces.Box) and np.issubdtype(np.dtype(space.dtype), np.floating):
        return finite
    return lambda observation: True


def finite(array: Array) -> bool:
    """Whether a float array holds no NaN or infinity: a sum is finite only if every term is, and
    one that merely overflows is looked at again."""
    return math.isfinite(np.add.reduce(array, axis=None)) or bool(np.isfinite(array).all())


def batched(space: Space, observation: Any) -> tuple[Any, bool]:
    """The observation (array, list or dict) with a leading batch axis, and whether it had one.

    Raises:
        ValueError: if the shape fits neither one observation nor a batch of them."""
    if isinstance(space, spaces.Dict):
        pairs = {key: batched(sub, observation[key]) for key, sub in space.spaces.items()}
        vectorised = {was for _, was in pairs.values()}
        if len(vectorised) > 1:
            raise ValueError("some parts of the observation are batched and others are not")
        return {key: value for key, (value, _) in pairs.items()}, vectorised.pop()
    array, shape = np.asarray(observation), space.shape or ()
    if shape not in (array.shape, array.shape[1:]):
        expected = f"{shape} or [B, *{shape}]"
        raise ValueError(f"an observation of this agent has shape {expected}, got {array.shape}")
    one = array.shape == shape
    return (array[None] if one else array), not one
