"""The policy module: an encoder that heads share, and the heads the algorithm asked for.

Submodules are named `shared`, `pi`, `vf`, `qf`, so that parameters read `pi.out.weight` in every
algorithm.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import reduce
from typing import Any, cast

import torch
from torch import Tensor, nn

from rlk import spaces
from rlk_networks.numpy_twin import NumpyForward, as_float32, chain, twin
from rlk_networks.observations import preprocess

#: Above this many parameters in what is asked for, torch is faster on one thread than numpy, and
#: the numpy twin is not used.
NUMPY_MAX_PARAMETERS = 200_000


class Policy(nn.Module):
    """Encoder and heads over one observation space.

    Args:
        space: of one environment.
        shared: the encoder, from preprocessed observations to [B, F].
        heads: by name, each from [B, F] to whatever it gives.
    """

    def __init__(self, space: Any, shared: nn.Module, heads: dict[str, nn.Module]) -> None:
        super().__init__()
        self.observation_space = space
        self.preprocess = preprocess(space)
        self.shared = shared
        for name, head in heads.items():
            self.add_module(name, head)
        # Plain references: looking a submodule up costs more than a small layer (deepcopy keeps
        # both in step).
        self._parts = {"shared": shared, **heads}
        self._plain = bool(getattr(shared, "identity", False))
        self._filters: tuple[Callable[[], NumpyForward | None], ...] = ()

    def add_filter(self, module: nn.Module) -> None:
        """Let preprocessed observations pass through a module before the encoder.

        It is nothing that is learnt: copies of this policy (targets) go through the same one, not a
        copy.
        """
        before = self.preprocess
        self.preprocess = lambda observation: module(before(observation))
        self._filters = (*self._filters, lambda: twin(module))
        self.add_module(f"filter{len(self._filters)}", module)

    def encode(self, observation: Any) -> Tensor:
        """Raw observations [B, ...] to features [B, F]."""
        features = self.preprocess(observation)
        return cast(Tensor, features if self._plain else self._parts["shared"](features))

    def forward(self, observation: Any, *names: str) -> tuple[Any, ...]:
        """What the named heads give for raw observations [B, ...]."""
        parts = self._parts
        features = self.preprocess(observation)
        if not self._plain:
            features = parts["shared"](features)
        return tuple([parts[name](features) for name in names])

    def numpy_forward(self, *names: str) -> list[NumpyForward] | None:
        """Numpy twins of the named heads from raw observations, or None where one has none.

        They read the parameters' own memory, so they follow every update. An encoder's twin takes
        float32, or a Dict as it is; only a Box or a Dict on the CPU qualifies.
        """
        parts = [self._parts[name] for name in ("shared", *names)]
        parameters = [p for part in parts for p in part.parameters()]
        space = self.observation_space
        small = sum(p.numel() for p in parameters) <= NUMPY_MAX_PARAMETERS
        on_cpu = all(p.device.type == "cpu" and p.dtype == torch.float32 for p in parameters)
        if spaces.kind(space) not in ("Box", "Dict") or not small or not on_cpu:
            return None
        heads = [head for head in map(twin, parts[1:]) if head is not None]
        steps: list[NumpyForward | None] = [make() for make in self._filters]
        if not self._plain:
            steps.append(twin(parts[0]))
        if spaces.kind(space) == "Box" or self._plain:
            steps.insert(0, as_float32)
        found = [step for step in steps if step is not None]
        if len(heads) < len(names) or len(found) < len(steps):
            return None
        encode = reduce(chain, found)
        return [chain(encode, head) for head in heads]
