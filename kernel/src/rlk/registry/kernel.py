"""The kernel: the registries of components.

`rlk.registry.storages.register("mine", MyStorage)` adds to the default kernel.
"""

from __future__ import annotations

from functools import cache

from rlk.registry.registries import Registries


class Kernel:
    """The registries of components.

    Args:
        discover: fill it with everything that is installed; otherwise it is empty, to be filled
            by hand.
    """

    def __init__(self, discover: bool = True) -> None:
        self.registries = Registries()
        if discover:
            self.registries.discover()


@cache
def default_kernel() -> Kernel:
    """The kernel of the command line and of `rlk.make`, with everything that is installed."""
    return Kernel()
