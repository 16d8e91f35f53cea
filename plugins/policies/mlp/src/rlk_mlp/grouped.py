"""A product of rows with one of several matrices each, the rows in order of their matrices."""

from __future__ import annotations

from typing import Any, cast

import torch
from torch import Tensor


def grouped_product(x: Tensor, weight: Tensor, ends: Tensor) -> Tensor:
    """Rows of x up to ends[0] by weight[0], up to ends[1] by weight[1], …; without gradient.

    As many multiplications as one product of all rows takes, where a batched product and a choice
    from its results take C times as many. (`torch.nn.functional.grouped_mm` is traced for bfloat16
    only.) To a compiler it is one operator.

    Args:
        x: float [B, F]. weight: float [C, F, S]. ends: int [C], ascending, the last is B.

    Returns:
        float [B, S].
    """
    if torch.compiler.is_compiling():
        traced: Tensor = torch.ops.rlk_mlp.grouped_product(x, weight, ends)
        return traced
    return _product(x, weight, ends)


def _product(x: Tensor, weight: Tensor, ends: Tensor) -> Tensor:
    out, start = x.new_empty(x.shape[0], weight.shape[2]), 0
    for number, end in enumerate(ends.tolist()):
        torch.mm(x[start:end], weight[number], out=out[start:end])
        start = end
    return out


def _shape(x: Tensor, weight: Tensor, ends: Tensor) -> Tensor:
    return x.new_empty(x.shape[0], weight.shape[2])


# Not `torch.library.custom_op`, whose calls take 20 µs more.
_library = cast(Any, torch.library).Library("rlk_mlp", "DEF")
_library.define("grouped_product(Tensor x, Tensor weight, Tensor ends) -> Tensor")
_library.impl("grouped_product", _product, "CompositeExplicitAutograd")
_library._register_fake("grouped_product", _shape)
