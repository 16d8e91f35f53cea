"""The kernel: the registries of components, and the plugins that extend it.

`rlk.registry.storages.register("mine", MyStorage)` adds to the default kernel.
"""

from __future__ import annotations

from functools import cache

from rlk.errors import BrokenPlugin
from rlk.registry.hooks import Hooks
from rlk.registry.registries import Registries


class Kernel:
    """The registries of components, and the plugins that implement `rlk_register`.

    A kernel calls only that hook: every run has its own plugin manager.

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
        """Add a plugin to the kernel: its `rlk_register` is called now.

        Raises:
            BrokenPlugin: if it does not implement that hook (all others belong to a run), if that
                raises, or if it is a class.
        """
        if isinstance(plugin, type):
            name = plugin.__name__
            raise BrokenPlugin(
                f"{name} is a class. Pass an object of it: kernel.activate({name}())"
            )
        name = name or type(plugin).__name__
        if not hasattr(plugin, "rlk_register"):
            raise BrokenPlugin(
                f"plugin {name!r} implements no rlk_register, the one hook of a kernel. To answer "
                "the hooks of a run, put it into one: plugins=[…]"
            )
        self.hooks.activate(plugin, name)


@cache
def default_kernel() -> Kernel:
    """The kernel of the command line and of `rlk.make`, with everything that is installed."""
    return Kernel()
