"""The state of each layer: running means of its factors, and their inverses.

Shapes: C copies, I inputs (a bias included), O outputs.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import torch
from torch import Tensor

from rlk.errors import RlkError
from rlk.protocols import State
from rlk_kfac.batch_factors import Pair
from rlk_kfac.products import Key


class RunningFactors:
    """A [C, I, I] and G [C, O, O] as running means, by layer.

    Attributes:
        means: of each layer. inverses: of those that have been inverted.
    """

    def __init__(self) -> None:
        self.means: dict[Key, Pair] = {}
        self.inverses: dict[Key, Pair] = {}

    @torch.no_grad()
    def take_in(self, fresh: dict[Key, Pair], weight: float) -> None:
        """Move the means towards a batch's factors, by this fraction of the way."""
        for key, pair in fresh.items():
            if key in self.means:
                for mean, one in zip(self.means[key], pair, strict=True):
                    mean.lerp_(one, weight)
            else:
                inner, outer = pair
                self.means[key] = inner.clone(), outer.clone()

    def state_dict(self) -> State:
        return {"means": as_state(self.means), "inverses": as_state(self.inverses)}

    def load_state_dict(self, state: State, parameters: Sequence[Tensor]) -> None:
        """Restore a state; RlkError if its layers do not belong to these parameters."""
        device = parameters[0].device
        means = from_state(state["means"], device)
        for key, pair in means.items():
            _check_fits(key, pair, parameters)
        inverses = from_state(state["inverses"], device)
        check_alike(inverses, means)
        self.means, self.inverses = means, inverses


def as_state(pairs: dict[Key, Pair]) -> State:
    """Pairs by layer, with names that a file can have: `3-4` is the weight 3 with the bias 4."""
    return {
        "-".join("none" if number is None else str(number) for number in key): {
            "inner": inner.clone(),
            "outer": outer.clone(),
        }
        for key, (inner, outer) in pairs.items()
    }


def from_state(state: State, device: torch.device) -> dict[Key, Pair]:
    """The inverse of `as_state`; what was saved elsewhere is moved to this device."""
    found: dict[Key, Pair] = {}
    for name, pair in state.items():
        weight, bias = (None if part == "none" else int(part) for part in name.split("-"))
        inner, outer = (pair[name].to(device, copy=True) for name in ("inner", "outer"))
        found[weight, bias] = inner, outer
    return found


def check_alike(pairs: dict[Key, Pair], means: dict[Key, Pair]) -> None:
    """RlkError unless each pair has the shapes of that layer's means."""
    for key, pair in pairs.items():
        if key not in means or _shapes(pair) != _shapes(means[key]):
            raise RlkError(f"the inverses of the layer of parameters {key} are not of its factors")


def _check_fits(key: Key, pair: Pair, parameters: Sequence[Tensor]) -> None:
    """RlkError unless a layer of these parameters has factors of these shapes."""
    sizes = [0 if number is None else parameters[number].numel() for number in key]
    (copies, inputs), outputs = pair[0].shape[:2], pair[1].shape[-1]
    square = _shapes(pair) == [(copies, inputs, inputs), (copies, outputs, outputs)]
    has_its_bias = sizes[1] in (0, copies * outputs)
    if not square or not has_its_bias or copies * inputs * outputs != sum(sizes):
        raise RlkError(f"factors of shapes {_shapes(pair)} are of no layer of parameters {key}")


def _shapes(pair: Iterable[Tensor]) -> list[tuple[int, ...]]:
    return [tuple(one.shape) for one in pair]
