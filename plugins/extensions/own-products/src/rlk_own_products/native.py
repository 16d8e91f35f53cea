"""Our own kernels for float32: compiled once per machine, loaded, and registered with torch."""

from __future__ import annotations

import ctypes
import functools
import hashlib
from collections.abc import Callable
from pathlib import Path
from typing import Any, cast

import torch
from torch import Tensor

from rlk_cpp_libraries import Unbuilt, built

HERE = Path(__file__).parent
PRODUCT, EAGER = HERE / "product.cpp", HERE / "eager.cpp"
#: What PRODUCT and EAGER share.
HEADER = HERE / "product.h"
TORCH = Path(torch.__file__).parent
OPTIONS = ("-O3", "-mavx512f", "-mfma", "-ltorch_cpu", "-lc10")
#: Products for our own kernel: at least this many multiplications, because a call of it by a
#: compiled graph costs 2 µs more than one of the library's; right matrices of at least this many
#: columns (a panel), of at most this many numbers (above, a library that also copies the other
#: operand is as fast). 256x256 by 256x256 takes 0.88 of the library's time on Zen 4 (0.79 on a busy
#: machine) and 0.44 on Zen 5; 2048x64 by 64x64 takes 0.6 to 0.8, and 0.44. Where products are not
#: compiled, such a call costs nothing more, so small ones and matrices of two columns gain, too.
WORK, COLUMNS, NUMBERS = 1 << 19, 32, 1 << 20
#: The kind of C++ strings that torch was built with: with another kind, EAGER cannot be loaded.
STRINGS = f"-D_GLIBCXX_USE_CXX11_ABI={int(torch.compiled_with_cxx11_abi())}"
PLACES = (f"-I{TORCH / 'include'}", f"-L{TORCH / 'lib'}")
#: The vendor whose CPUs were measured; on others, the library's operators are kept.
MAKE = b"AuthenticAMD"
CPUINFO = Path("/proc/cpuinfo")
#: Operands may have any memory layout.
TAGS = (torch.Tag.flexible_layout,)

_library = cast(Any, torch.library).Library("rlk_own_products", "FRAGMENT")


def suits_this_processor() -> bool:
    """Whether our operators are known to be faster than the library's on this processor."""
    if torch.backends.cpu.get_cpu_capability() != "AVX512" or not CPUINFO.exists():
        return False
    with CPUINFO.open("rb") as file:
        return MAKE in file.read(1024)  # of the first core: there may be hundreds


@functools.cache
def operator() -> Any:
    """`product(x, w)`: float32 x [.., M, K] by w [.., K, N] on the CPU, without gradient.

    Raises:
        Unbuilt: with the message of the compiler or the loader.
    """
    path = _library_of(PRODUCT)
    if not hasattr(torch.ops.rlk_own_products, "product"):
        _library.define("product(Tensor x, Tensor w) -> Tensor", tags=TAGS)
        _library._register_fake("product", _product)
    try:
        cast(Any, torch.ops).load_library(str(path))
    except OSError as error:
        raise Unbuilt(f"{path} cannot be loaded: {error}") from error
    return torch.ops.rlk_own_products.product


@functools.cache
def eager() -> Callable[[bool], bool]:
    """A switch: whether operators of torch that this thread calls use our own kernels, too.

    It is off at first, and returns whether it was on before. The operators are matrix products and
    `tanh`, of float32 on the CPU; gradients call them as well. What our kernels are not faster with
    is computed by torch's in any case.

    Raises:
        Unbuilt: with the message of the compiler or the loader.
    """
    known = f"-DRLK_COLUMNS={COLUMNS}", f"-DRLK_NUMBERS={NUMBERS}"
    path = _library_of(EAGER, "-fno-trapping-math", STRINGS, *known)
    try:
        functions = ctypes.CDLL(str(path))
    except OSError as error:
        raise Unbuilt(f"{path} cannot be loaded: {error}") from error
    functions.rlk_put_in()
    functions.rlk_use.argtypes, functions.rlk_use.restype = (ctypes.c_bool,), ctypes.c_bool
    return cast(Callable[[bool], bool], functions.rlk_use)


def version(source: Path = PRODUCT) -> str:
    """An identity that distinguishes the kernels of this source from those of another.

    Raises:
        Unbuilt: if it cannot be read, as in a program that was packed without its C++ sources.
    """
    try:
        return hashlib.sha256(source.read_bytes() + HEADER.read_bytes()).hexdigest()[:16]
    except OSError as error:
        raise Unbuilt(f"{source.name} cannot be read: {error}") from error


def _library_of(source: Path, *options: str) -> Path:
    """The shared library of a source, which is built if necessary.

    Raises:
        Unbuilt: with the message of the compiler, or if the source cannot be read, or this
            processor cannot execute it.
    """
    if torch.backends.cpu.get_cpu_capability() != "AVX512":
        raise Unbuilt("own-products needs AVX-512, which this processor does not have")
    made_of = f"{torch.__version__} {version(source)}"
    return built(source, *options, *OPTIONS, places=PLACES, made_of=made_of)


def _product(x: Tensor, w: Tensor) -> Tensor:
    return x.new_empty(*x.shape[:-1], w.shape[-1])
