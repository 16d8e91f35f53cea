"""Kernels that a test may register in, with everything that is installed."""

from __future__ import annotations

from functools import cache

from rlk.registry.kernel import Kernel


def own_kernel() -> Kernel:
    """A new kernel with everything that was installed when the first one was asked for.

    Looking for that reads a file of every distribution, which hundreds of suites would do anew.
    """
    kernel = Kernel(discover=False)
    for registry in _discovered().registries:
        own = kernel.registries.add_kind(registry.kind)
        for entry in registry:
            own.add(entry)
    return kernel


@cache
def _discovered() -> Kernel:
    return Kernel()
