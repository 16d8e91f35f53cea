"""An encoder that a user has written: any module from observations to a row of features.

Dimensions: B batch, F features.
"""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

import numpy as np
import torch
from torch import nn

from rlk.errors import PlanError, described
from rlk.records import Array
from rlk.spaces import Space, describe
from rlk_networks.observations import as_tensor, preprocess


def custom_encoder(asked: Callable[[Any], Any], space: Space) -> nn.Module:
    """The module that a user asks for, after a trial call; its `features` is F.

    Args:
        asked: a module, which is copied, or its class or a function, called with the space.
        space: of one observation. The module is given a batch after `preprocess`: float32
            numbers, images in 0 to 1, whole numbers one-hot, a dict of these for a Dict space.

    Raises:
        PlanError: if it is not a module, or does not return features [B, F] for such a batch.
    """
    made = copy.deepcopy(asked) if isinstance(asked, nn.Module) else asked(space)
    name = getattr(asked, "__name__", type(asked).__name__)
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
    said = getattr(made, "features", None)
    if not isinstance(features, torch.Tensor) or features.ndim != 2 or len(features) != 2:
        shape = list(getattr(features, "shape", [])) or type(features).__name__
        raise PlanError(f"the encoder {name} is to give features [B, F], and gives {shape}.")
    if said is not None and said != features.shape[1]:
        raise PlanError(
            f"the encoder {name} says features={said}, and gives {features.shape[1]} of them."
        )
    encoder: Any = made
    encoder.features = features.shape[1]
    return made


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
