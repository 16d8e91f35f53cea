"""An encoder that a user has written: any module from observations to a row of features.

Dimensions: B batch, F features.
"""

from __future__ import annotations

import copy
import numbers
from collections.abc import Callable
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from rlk.errors import PlanError, described
from rlk.records import Array
from rlk.spaces import Space, describe
from rlk_networks.observations import as_tensor, preprocess


def custom_encoder(asked: Callable[[Any], Any], space: Space) -> nn.Module:
    """The module that a user asks for, after a trial call; its `features` is F.

    A module that uses the name `features` for something else, such as a part of its own, is inside
    of another one that has F under this name.

    Args:
        asked: a module, which is copied, or its class or a function, called with the space.
        space: of one observation. The module is given a batch after `preprocess`: float32
            numbers, images in 0 to 1, whole numbers one-hot, a dict of these for a Dict space.

    Raises:
        PlanError: if it is not a module, does not return features [B, F] for such a batch, or has
            another number as `features`.
    """
    name = getattr(asked, "__name__", type(asked).__name__)
    try:
        made = copy.deepcopy(asked) if isinstance(asked, nn.Module) else asked(space)
    except Exception as error:
        raise PlanError(
            f"the encoder {name} failed: {described(error)}. It is called with the observation "
            "space, not with images, and returns a torch.nn.Module: docs/custom-policies.md"
        ) from error
    if not isinstance(made, nn.Module):
        raise PlanError(
            f"the encoder {name} is to be a torch.nn.Module, or to make one of the observation "
            f"space, and it made {type(made).__name__}."
        )
    mode = made.training
    with torch.no_grad():
        try:
            # In eval mode: batch normalisation must not learn from the trial.
            features = made.eval()(preprocess(space)(_batch(space)))
        except Exception as error:
            raise PlanError(
                f"the encoder {name} does not take observations {describe(space)}, which come as "
                f"float32 [B, ...]: {described(error)}"
            ) from error
    made.train(mode)
    if not isinstance(features, torch.Tensor) or features.ndim != 2 or len(features) != 2:
        shape = list(getattr(features, "shape", [])) or type(features).__name__
        raise PlanError(f"the encoder {name} is to give features [B, F], and gives {shape}.")
    return _with_features(made, features.shape[1], name)


class WithFeatures(nn.Module):
    """A module with another `features` than F, its number of features: [B, ...] to [B, F]."""

    def __init__(self, module: nn.Module, features: int) -> None:
        super().__init__()
        self.module, self.features = module, features

    def forward(self, observation: Any) -> Tensor:
        return self.module(observation)


def _with_features(encoder: Any, features: int, name: str) -> nn.Module:
    """The encoder, or one around it, whose `features` is this number."""
    made: nn.Module = encoder
    if not hasattr(encoder, "features"):
        encoder.features = features
        return made
    said = encoder.features
    if isinstance(said, numbers.Real) and said != features:
        raise PlanError(f"the encoder {name} says features={said}, and gives {features} of them.")
    return made if type(said) is int else WithFeatures(made, features)


def _batch(space: Space) -> Any:
    """Two observations of a space, as tensors."""
    ours = copy.deepcopy(space)
    ours.seed(0)
    samples = [ours.sample() for _ in range(2)]
    return as_tensor(_stacked(samples))


def _stacked(samples: list[Any]) -> Any:
    if isinstance(samples[0], dict):
        return {key: _stacked([one[key] for one in samples]) for key in samples[0]}
    stacked: Array = np.stack([np.asarray(one) for one in samples])
    return stacked
