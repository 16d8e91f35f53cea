"""The policy module: an encoder that heads share, and the heads the algorithm asked for.

Submodules are named `shared`, `pi`, `vf`, `qf`, so that parameters read `pi.out.weight` in every
algorithm.
"""

from __future__ import annotations

import copy
from typing import Any

from torch import Tensor, nn

from rlk.errors import RlkError
from rlk_networks import observations
from rlk_networks.layers import hidden_of, own_modules


class Policy(nn.Module):
    """Encoder and heads over one observation space.

    Args:
        space: of one environment.
        shared: the encoder, from preprocessed observations to [B, F].
        heads: by name, each a module from [B, F] to its own output.

    Attributes:
        filters: the modules that preprocessed observations pass through before the encoder.
    """

    def __init__(self, space: Any, shared: nn.Module, heads: dict[str, nn.Module]) -> None:
        super().__init__()
        self.observation_space = space
        self.filters: tuple[nn.Module, ...] = ()
        self._as_numbers = observations.preprocess(space)
        self.shared = shared
        for name, head in heads.items():
            self.add_module(name, head)
        self._head_names = tuple(heads)

    def add_filter(self, module: nn.Module) -> None:
        """Pass preprocessed observations through a module before the encoder.

        A filter is not trained (running statistics, for example): copies of this policy share it.
        """
        self.filters = (*self.filters, module)
        self.add_module(f"filter{len(self.filters)}", module)

    def preprocess(self, observation: Any) -> Any:
        """Raw observations [B, ...] to the filtered input of the encoder."""
        observation = self._as_numbers(observation)
        for module in self.filters:
            observation = module(observation)
        return observation

    def encode(self, observation: Any) -> Tensor:
        """Raw observations [B, ...] to features [B, F]."""
        return self.shared(self.preprocess(observation))

    def forward(self, observation: Any, *names: str) -> tuple[Any, ...]:
        """The outputs of the named heads for raw observations [B, ...]."""
        features = self.encode(observation)
        heads = own_modules(self)
        return tuple([heads[name](features) for name in names])

    def hidden(self, observation: Any, name: str, *arguments: Any) -> Tensor:
        """The output of a head's hidden layers for raw observations [B, ...], float [B, F'].

        The head's output layers are computed from it, so a loss of it also trains the layers of
        the head and the encoder.

        Args:
            name: of the head. arguments: what it takes besides features (a critic: actions).

        Raises:
            RlkError: if there is no such head, or it does not give the output of its hidden layers.
        """
        return self.hidden_from(self.encode(observation), name, *arguments)

    def hidden_from(self, features: Tensor, name: str, *arguments: Any) -> Tensor:
        """Likewise for the features of the encoder [B, F]."""
        if name not in self._head_names:
            known = ", ".join(self._head_names)
            raise RlkError(f"the policy has no head {name!r}; it has {known}.")
        return hidden_of(getattr(self, name), features, *arguments)

    def __deepcopy__(self, memo: dict[int, Any]) -> Policy:
        """A copy with its own parameters and the same filters."""
        memo |= {id(module): module for module in self.filters}
        copied = type(self).__new__(type(self))
        memo[id(self)] = copied
        vars(copied).update(copy.deepcopy(vars(self), memo))
        return copied
