"""The kernel object: registries, and the plugin manager for what joins the kernel itself. Only
`rlk_register` is answered here; every run has a manager of its own."""

from __future__ import annotations

from functools import cache

from rlk.plugins import Hooks
from rlk.registry import Registries


class Kernel:
    """Registries of components; without `discover` they are empty, to be filled by hand."""

    def __init__(self, discover: bool = True) -> None:
        self.registries = Registries()
        self.hooks = Hooks()
        self.hooks.historic("rlk_register", kernel=self)
        if discover:
            self.registries.discover()

    def activate(self, plugin: object, name: str | None = None) -> None:
        """Lets a plugin join the kernel: its `rlk_register` is called with it, now."""
        self.hooks.activate(plugin, name or type(plugin).__name__)


@cache
def default_kernel() -> Kernel:
    """The kernel of the command line and of `rlk.make`, with everything that is installed."""
    return Kernel()
