"""The kernel: all that is chosen by name, and the plugins that extend it.

`rlk.registry.storages.register("mine", MyStorage)` adds to the default kernel.
"""

from __future__ import annotations

from functools import cache

from rlk.registry.hooks import Hooks
from rlk.registry.registries import Registries


class Kernel:
    """The registries of components, and the plugins that answer `rlk_register`.

    A kernel has no hooks but that one: every run has a plugin manager of its own.

    Args:
        discover: fill it with everything that is installed; otherwise it is empty, to be filled
            by hand.
    """

    def __init__(self, discover: bool = True) -> None:
        self.registries = Registries()
        self.hooks = Hooks()
        self.hooks.historic("rlk_register", kernel=self)
        if discover:
            self.registries.discover()

    def activate(self, plugin: object, name: str | None = None) -> None:
        """Let a plugin join the kernel: its `rlk_register` is called now."""
        self.hooks.activate(plugin, name or type(plugin).__name__)


@cache
def default_kernel() -> Kernel:
    """The kernel of the command line and of `rlk.make`, with everything that is installed."""
    return Kernel()
