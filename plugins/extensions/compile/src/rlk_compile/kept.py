"""Loads the program that another run of the same update left on disk, without tracing."""

from __future__ import annotations

import functools
import hashlib
import os
import platform
import sys
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import torch

from rlk_compile.ahead_of_time import loaded
from rlk_compile.backend import Built, Way
from rlk_compile.conditions import Unknown, described
from rlk_compile.leaves import leaves
from rlk_compile.program import Program, scope_of
from rlk_compile.sources import unchanged
from rlk_compile.store import Kept, Store

_CPUINFO = Path("/proc/cpuinfo")


def key(update: Callable[..., Any], batch: Any, ways: Sequence[Way]) -> str:
    """The key under which compiled versions of this update are kept.

    It depends on torch, the processor, the compiler, the update's name and the shapes of the batch.
    Whether the update is really the same is checked with the recipe.
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
        *map(repr, settings),
        *(f"{name}={value}" for name, value in sorted(inductor.items())),
        *map(str, ways),
        *(f"{each.name} {each.identity}" for way in ways for each in way.passes),
        f"{getattr(update, '__module__', '')}.{getattr(update, '__qualname__', '')}",
        getattr(batch, "key", ""),
        *(f"{path} {described(tensor)}" for path, tensor in leaves(batch).items()),
    ]
    return "\n".join(lines)


def candidates(
    store: Store, key: str, update: Callable[..., Any], batch: Any, optimise: Any
) -> Iterator[tuple[Program, Kept]]:
    """The kept programs for a key whose conditions hold; damaged ones are removed."""
    scope = scope_of(update, batch, optimise)
    for kept in store.find(key):
        if kept.recipe.sources is None or not unchanged(kept.recipe.sources):
            store.forget(kept)
            continue
        try:
            if scope.describe(kept.recipe.conditions) != kept.recipe.conditions:
                continue
            yield Program(kept.recipe, loaded(kept.library), update, batch, optimise), kept
        except Unknown:
            continue
        except RuntimeError:  # torch cannot load it
            store.forget(kept)


def keep(store: Store, key: str, program: Program, built: Built) -> str:
    """Keep a program; returns why it is not kept, "" if it is."""
    if built.library is None:
        return f"{built.way} leaves no library"
    if program.recipe.sources is None:
        return "what it was traced from is in no file, or was changed since this process started"
    try:
        store.keep(key, program.recipe, built.library)
    except OSError as error:
        return str(error)
    return ""


@functools.cache
def _own_version() -> str:
    """A hash of this package's files, because another version may compile a graph differently."""
    digest = hashlib.sha256()
    for file in sorted(Path(__file__).parent.iterdir()):
        if file.suffix in (".py", ".cpp"):
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
