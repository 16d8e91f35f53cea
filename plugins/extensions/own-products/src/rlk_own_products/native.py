"""Our own products of float32 matrices: compiled once for a machine, loaded, and told to torch."""

from __future__ import annotations

import functools
import hashlib
import os
import subprocess
import tempfile
from pathlib import Path
from typing import Any, cast

import torch
from torch import Tensor

SOURCE = Path(__file__).with_name("product.cpp")
#: No `-march=native`: what is kept may be found by another machine that shares the folder.
FLAGS = ("-std=c++20", "-O3", "-mavx512f", "-mfma", "-shared", "-fPIC")
LIBRARIES = ("-ltorch_cpu", "-lc10")
TORCH = Path(torch.__file__).parent
#: What it is made for by measurement; on other makes the library's product is left in its place.
MAKE = "AuthenticAMD"
CPUINFO = Path("/proc/cpuinfo")
#: Operands may lie in memory as they like.
TAGS = (torch.Tag.flexible_layout,)

_library = cast(Any, torch.library).Library("rlk_own_products", "FRAGMENT")


class Unbuilt(Exception):
    """There is no product of our own; the text says why, in one line."""


def suits_this_processor() -> bool:
    """Whether it is one on which the product is known to be faster than the library's."""
    if torch.backends.cpu.get_cpu_capability() != "AVX512" or not CPUINFO.exists():
        return False
    return MAKE in CPUINFO.read_text(encoding="utf-8", errors="replace")


@functools.cache
def operator(compiler: str) -> Any:
    """`product(x, w)`: float32 x [.., M, K] by w [.., K, N] on the CPU, without gradient.

    It is built with this compiler unless it was before, in the folder where torch keeps extensions.

    Raises:
        Unbuilt: with the message of the compiler or the loader.
    """
    if torch.backends.cpu.get_cpu_capability() != "AVX512":
        raise Unbuilt("this processor has no AVX-512, which own products are made of")
    path = _path(compiler)
    if not path.exists():
        _build(compiler, path)
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


def _path(compiler: str) -> Path:
    """Where torch keeps extensions, under a name that says what it was made of.

    Not by `torch.utils.cpp_extension`, which wants setuptools, and 0.3 s of every start.
    """
    known = (SOURCE.read_text(encoding="utf-8"), compiler, torch.__version__, *FLAGS)
    digest = hashlib.sha256("\n".join(known).encode()).hexdigest()[:16]
    cache = Path(os.environ.get("XDG_CACHE_HOME") or "~/.cache").expanduser()
    root = Path(os.environ.get("TORCH_EXTENSIONS_DIR") or cache / "torch_extensions")
    return root / "rlk_own_products" / f"product-{digest}.so"


def _build(compiler: str, path: Path) -> None:
    """Beside its place first: another process may look for it, and this one may be killed.

    `cpp_extension.load` would wait for the lock of a killed process for ever.
    """
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=path.parent) as folder:
            made = Path(folder) / path.name
            places = f"-I{TORCH / 'include'}", f"-L{TORCH / 'lib'}"
            command = [compiler, *FLAGS, str(SOURCE), *places, *LIBRARIES, "-o", str(made)]
            done = subprocess.run(command, capture_output=True, text=True, check=False)
            if done.returncode:
                lines = done.stderr.strip().splitlines() or [f"it ended with {done.returncode}"]
                complaint = next((line for line in lines if "error" in line), lines[0])
                raise Unbuilt(f"{compiler} does not build {SOURCE.name}: {complaint}")
            made.replace(path)
    except OSError as error:
        raise Unbuilt(f"{SOURCE.name} cannot be built: {error}") from error
