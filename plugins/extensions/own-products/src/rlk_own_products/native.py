"""Our own products of float32 matrices: compiled once for a machine, loaded, and told to torch."""

from __future__ import annotations

import functools
import hashlib
from pathlib import Path
from typing import Any, cast

import torch
from torch import Tensor

from rlk_cpp_libraries import Unbuilt, built

SOURCE = Path(__file__).with_name("product.cpp")
TORCH = Path(torch.__file__).parent
OPTIONS = (
    *("-O3", "-mavx512f", "-mfma", f"-I{TORCH / 'include'}"),
    *(f"-L{TORCH / 'lib'}", "-ltorch_cpu", "-lc10"),
)
#: What it is made for by measurement; on other makes the library's product is left in its place.
MAKE = "AuthenticAMD"
CPUINFO = Path("/proc/cpuinfo")
#: Operands may lie in memory as they like.
TAGS = (torch.Tag.flexible_layout,)

_library = cast(Any, torch.library).Library("rlk_own_products", "FRAGMENT")


def suits_this_processor() -> bool:
    """Whether it is one on which the product is known to be faster than the library's."""
    if torch.backends.cpu.get_cpu_capability() != "AVX512" or not CPUINFO.exists():
        return False
    return MAKE in CPUINFO.read_text(encoding="utf-8", errors="replace")


@functools.cache
def operator() -> Any:
    """`product(x, w)`: float32 x [.., M, K] by w [.., K, N] on the CPU, without gradient.

    Raises:
        Unbuilt: with the message of the compiler or the loader.
    """
    if torch.backends.cpu.get_cpu_capability() != "AVX512":
        raise Unbuilt("this processor has no AVX-512, which own products are made of")
    path = built(SOURCE, *OPTIONS, made_of=torch.__version__)
    if not hasattr(torch.ops.rlk_own_products, "product"):
        _library.define("product(Tensor x, Tensor w) -> Tensor", tags=TAGS)
        _library._register_fake("product", _shape)
    try:
        cast(Any, torch.ops).load_library(str(path))
    except OSError as error:
        raise Unbuilt(f"{path} cannot be loaded: {error}") from error
    return torch.ops.rlk_own_products.product


def version() -> str:
    """What tells the product of this source apart from that of another."""
    return hashlib.sha256(SOURCE.read_bytes()).hexdigest()[:16]


def _shape(x: Tensor, w: Tensor) -> Tensor:
    return x.new_empty(*x.shape[:-1], w.shape[-1])
