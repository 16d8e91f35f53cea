"""The layers that heads are made of. B batch, F features, S size."""

from __future__ import annotations

import math
from typing import Any, Protocol, runtime_checkable

import torch
from torch import Tensor, nn

from rlk.errors import RlkError


class HiddenLayers(Protocol):
    """The hidden layers of a head, a `torch.nn.Module`: [B, F'] to [B, F].

    Several copies in one module give [n_copies, B, F]; their second argument says how many of them
    to evaluate.
    """

    @property
    def features(self) -> int:
        """F, the size of their output."""
        ...

    def __call__(self, x: Tensor, *n_copies: int | None) -> Tensor: ...


@runtime_checkable
class InitialisesUniformly(Protocol):
    """A linear layer whose initial weights and biases can be those of PyTorch's layers.

    A head may choose its own initial weights. Where the policy is to begin as PyTorch's layers do
    (`init="uniform"`, models of Stable-Baselines3), every module of it that has this method is
    called once after that: `fill_uniform(weight, bias)` is what it does with [S, F] weights. A
    module made of `Linear` layers needs no method of its own.
    """

    def initialise_uniform(self) -> None: ...


def fill_uniform(weight: Tensor, bias: Tensor) -> None:
    """Fill [S, F] weights and biases in place as `torch.nn.Linear` has them.

    They are uniform between minus and plus 1 / sqrt(F), from torch's global generator.
    """
    bound = 1.0 / math.sqrt(weight.shape[-1])
    nn.init.uniform_(weight, -bound, bound)
    nn.init.uniform_(bias, -bound, bound)


def own_modules(module: nn.Module) -> dict[str, Any]:
    """The submodules of a module by name, for its `forward`: the dict that torch keeps them in.

    torch looks up `module.out` by a method in Python, which takes as long as the activation of a
    small layer. A tuple kept beside the dict would miss what torch exchanges in it
    (`functional_call`, `add_module`).
    """
    return module._modules


def weight_and_bias(layer: nn.Module) -> tuple[Tensor, Tensor]:
    """The parameters `weight` and `bias` of a layer, for its `forward`, read as `own_modules`.

    A weight that torch computes from others (`parametrize`, `weight_norm`, `prune`) is not in the
    dict, but an attribute.
    """
    own = layer._parameters
    weight, bias = own.get("weight"), own.get("bias")
    if weight is None or bias is None:
        return layer.weight, layer.bias  # type: ignore[return-value]
    return weight, bias


class Linear(nn.Module):
    """A linear layer [B, F] to [B, S] with orthogonal weights of a given gain and zero biases.

    The weight is [F, S], as in Stable Baselines 2.10. The backward pass then needs no transposition
    and is a tenth faster than that of `nn.Linear`.
    """

    def __init__(self, features: int, size: int, gain: float = 1.0) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.empty(features, size))
        self.bias = nn.Parameter(torch.zeros(size))
        nn.init.orthogonal_(self.weight.detach().T, gain=gain)

    def initialise_uniform(self) -> None:
        fill_uniform(self.weight.detach().T, self.bias.detach())

    def forward(self, x: Tensor) -> Tensor:
        weight, bias = weight_and_bias(self)
        return torch.addmm(bias, x, weight)


class Head(nn.Module):
    """The hidden layers of a head (`trunk`) and its output layer (`out`)."""

    def __init__(self, trunk: HiddenLayers, out: nn.Module) -> None:
        super().__init__()
        self.trunk, self.out = trunk, out

    def forward(self, features: Tensor) -> Tensor:
        parts = own_modules(self)
        return parts["out"](parts["trunk"](features))

    def hidden(self, features: Tensor) -> Tensor:
        """The output of the hidden layers, [B, F'] (`Policy.hidden`)."""
        return self.trunk(features)


def hidden_of(head: nn.Module, features: Tensor, *arguments: Any) -> Tensor:
    """The output of a head's hidden layers for the features of the encoder [B, F].

    Args:
        arguments: what the head takes besides features.

    Raises:
        RlkError: if the head has no method `hidden`.
    """
    hidden = getattr(head, "hidden", None)
    if hidden is None:
        raise RlkError(
            f"a head of the policy is a {type(head).__name__}, which does not give the output of "
            "its hidden layers. Build it as a rlk_networks.Head, or give it a method "
            "hidden(features), from float [B, F] to [B, F']."
        )
    return hidden(features, *arguments)


class FeatureSlice(nn.Module):
    """A trunk that sees only some of the encoder's features, and all inputs after them.

    Args:
        trunk: on `size` features, and on the inputs that come after all features.
        features: F, of the encoder.
        start: the number of the first feature that the trunk sees.
        size: how many it sees.
    """

    def __init__(self, trunk: HiddenLayers, features: int, start: int, size: int) -> None:
        super().__init__()
        self.trunk, self.of = trunk, features
        self.start, self.end = start, start + size
        self.features = trunk.features

    def forward(self, x: Tensor, *n: int | None) -> Tensor:
        seen = x[:, self.start : self.end]
        if x.shape[1] > self.of:
            seen = torch.cat((seen, x[:, self.of :]), 1)
        return self.trunk(seen, *n)
