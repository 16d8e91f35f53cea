"""A compiled update recorded once as a CUDA graph and replayed: one launch instead of many.

As in https://docs.pytorch.org/docs/2.13/notes/cuda.html#cuda-graphs: warm up on another stream,
capture with the memory of the inputs, then copy new inputs into that memory and replay.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor

from rlk_compile.trace import Execute, Retraced

#: Calls before the capture, in which libraries allocate the memory they need.
WARM_UP = 3


class Replay:
    """Replays `execute`. Creating it runs `execute`, whose outputs must be restored afterwards.

    Args:
        inputs: tensors to run it with. moving: numbers of the inputs that are different tensors at
            every call; the others stay in place, and are written to in place.
        cuda: `torch.cuda`, or a replacement for tests.
    """

    def __init__(
        self,
        execute: Execute,
        inputs: Sequence[Tensor],
        moving: Sequence[int],
        cuda: Any = torch.cuda,
    ) -> None:
        self._moving = list(moving)
        self._inputs = list(inputs)
        for number in self._moving:
            self._inputs[number] = inputs[number].clone()
        self._fixed = [
            (number, tensor.data_ptr())
            for number, tensor in enumerate(self._inputs)
            if number not in self._moving
        ]
        aside = cuda.Stream()
        aside.wait_stream(cuda.current_stream())
        with cuda.stream(aside):
            for _ in range(WARM_UP):
                execute(*self._inputs)
        cuda.current_stream().wait_stream(aside)
        self._graph = cuda.CUDAGraph()
        with cuda.graph(self._graph):
            self._outputs = execute(*self._inputs)
        self._numbers = [out for out in self._outputs if _is_number(out)]

    def __call__(self, *inputs: Tensor) -> list[Any]:
        """The outputs, copied because the next call overwrites their memory.

        Raises:
            Retraced: if an input that must stay in place has moved. Then nothing has been changed.
        """
        for number, address in self._fixed:
            if inputs[number].data_ptr() != address:
                raise Retraced
        for number in self._moving:
            self._inputs[number].copy_(inputs[number], non_blocking=True)
        self._graph.replay()
        return self._copies()

    def _copies(self) -> list[Any]:
        """Of all outputs; single numbers, such as an update's metrics, are copied in one call."""
        numbers = iter(torch.stack(self._numbers).unbind() if self._numbers else ())
        return [next(numbers) if _is_number(out) else _copy(out) for out in self._outputs]


def _copy(out: Any) -> Any:
    return out.clone() if isinstance(out, Tensor) else out


def _is_number(out: Any) -> bool:
    """Whether it is a tensor of a single number in float32."""
    return isinstance(out, Tensor) and out.ndim == 0 and out.dtype == torch.float32
