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
        if not self._numpy_is_sooner(names):
            return None
        heads = [head for head in (twin(self._parts[name]) for name in names) if head is not None]
        steps = self._numpy_steps()
        if not self._plain:
            steps.append(twin(self._parts["shared"]))
        found = [step for step in steps if step is not None]
        if len(heads) < len(names) or len(found) < len(steps):
            return None
        encode = reduce(chain, found)
        return [chain(encode, head) for head in heads]

    def _numpy_steps(self) -> list[NumpyForward | None]:
        """What comes before the encoder; None for a filter that has no twin."""
        steps: list[NumpyForward | None] = [make() for make in self._filters]
        if spaces.kind(self.observation_space) == "Box" or self._plain:
            steps.insert(0, as_float32)
        return steps

    def _numpy_is_sooner(self, names: tuple[str, ...]) -> bool:
        """Whether the encoder and these heads are small, on the CPU, and of a space that is fit."""
        parameters = [p for name in ("shared", *names) for p in self._parts[name].parameters()]
        small = sum(p.numel() for p in parameters) <= NUMPY_MAX_PARAMETERS
        on_cpu = all(p.device.type == "cpu" and p.dtype == torch.float32 for p in parameters)
        return spaces.kind(self.observation_space) in ("Box", "Dict") and small and on_cpu
