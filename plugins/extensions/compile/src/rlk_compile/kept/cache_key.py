"""The key under which a compiled update is cached: what it was compiled from, with and for."""

from __future__ import annotations

import functools
import hashlib
import os
import platform
import shutil
import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import torch

from rlk_compile.backend import Strategy
from rlk_compile.conditions import described
from rlk_compile.leaves import leaves

_CPUINFO = Path("/proc/cpuinfo")


def key(
    update: Callable[..., Any], batch: Any, strategies: Sequence[Strategy], cxx: str | None
) -> str:
    """The key of an update's cache entries.

    It depends on all of these:

    - the files of this package, the versions of torch and Python, the processor's model and
      instruction sets, the C++ compiler's path and version;
    - torch's default dtype and device, number of threads, gradient mode and deterministic
      algorithms, and the environment variables `TORCHINDUCTOR_*`, apart from its cache folder;
    - the strategies, and the name and identity of their passes;
    - the update's qualified name, the batch's key, and the places and descriptions of its tensors.

    Whether the update is really the same is checked with the call plan.

    Args:
        cxx: the C++ compiler, or None if no strategy uses one.
    """
    settings = [
        torch.get_default_dtype(),
        torch.get_num_threads(),
        torch.is_grad_enabled(),
        torch.are_deterministic_algorithms_enabled(),
        torch.get_default_device(),
    ]
    inductor = {k: v for k, v in os.environ.items() if k.startswith("TORCHINDUCTOR_")}
    inductor.pop("TORCHINDUCTOR_CACHE_DIR", None)
    lines = [
        _own_version(),
        torch.__version__,
        sys.version,
        _processor(),
        *([] if cxx is None else [_compiler(cxx)]),
        *map(repr, settings),
        *(f"{name}={value}" for name, value in sorted(inductor.items())),
        *map(str, strategies),
        *(f"{each.name} {each.identity}" for strategy in strategies for each in strategy.passes),
        f"{getattr(update, '__module__', '')}.{getattr(update, '__qualname__', '')}",
        getattr(batch, "key", ""),
        *(f"{path} {described(tensor)}" for path, tensor in leaves(batch).items()),
    ]
    return "\n".join(lines)


@functools.cache
def _own_version() -> str:
    """A hash of this package's files, because another version may compile a graph differently."""
    digest = hashlib.sha256()
    for file in sorted(Path(__file__).parents[1].rglob("*.py")):
        digest.update(file.name.encode() + b"\0" + file.read_bytes())
    return digest.hexdigest()


@functools.cache
def _processor() -> str:
    """The processor's model and instruction sets, because inductor uses all of them."""
    capability = torch.backends.cpu.get_cpu_capability()
    if not _CPUINFO.exists():
        return f"{platform.machine()} {platform.processor()} {capability}"
    told = _CPUINFO.read_text(encoding="utf-8", errors="replace").splitlines()
    wanted = ("model name", "flags", "Features")
    return "\n".join([capability, *sorted({line for line in told if line.startswith(wanted)})])


@functools.cache
def _compiler(cxx: str) -> str:
    """The path and the version of a C++ compiler, which is asked once in a process.

    It is asked by its own name, because a link to ccache does as the name says.
    """
    called = shutil.which(cxx) or cxx
    path = os.path.realpath(called)
    try:
        asked = subprocess.run([called, "--version"], capture_output=True, check=False, timeout=10)
    except (OSError, subprocess.TimeoutExpired):
        return path
    return f"{path} {asked.stdout.decode(errors='replace')}"
