"""Kernels with all installed components, in which a test may register its own."""

from __future__ import annotations

from functools import cache

from rlk.registry.kernel import Kernel


def own_kernel() -> Kernel:
    """A new kernel with the components that were installed at the first call.

    Discovery reads a file of every distribution, so hundreds of suites share one result.
    """
    kernel = Kernel(discover=False)
    for registry in _discovered().registries:
        own = kernel.registries.add_kind(registry.kind)
        for entry in registry:
            own.add(entry)
    return kernel


@cache
def installed() -> Kernel:
    """A kernel with all installed components and the environments of `rlk_testing.environments`."""
    return with_environments(own_kernel())


def with_environments(kernel: Kernel) -> Kernel:
    """The kernel, to which names such as `rlk_testing.environments:Walk` have been added."""
    named = "rlk_testing.environments:environment_named"
    kernel.registries.environments.register("test-environments", named, summary="of rlk_testing")
    return kernel


@cache
def _discovered() -> Kernel:
    return Kernel()
