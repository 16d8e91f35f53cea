"""Passes over the graph from other packages: entry points of the group `rlk.compile_passes`.

A pass is a component of the kind `compile_passes`. Its factory has no arguments and makes a `Pass`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol

from torch import fx

from rlk.errors import PlanError
from rlk.registry.kernel import Kernel

KIND = "compile_passes"


class Pass(Protocol):
    """Changes a graph of ATen's operators, forward and backward, before inductor lowers it.

    Attributes:
        name: that of its component.
        identity: must change when the pass changes graphs differently; it is part of the key under
            which compiled updates are kept.
    """

    name: str
    identity: str

    def applies(self, device: str) -> bool:
        """Whether to use it on this machine; `device` is `cpu` or `cuda`."""

    def prepare(self) -> None:
        """Define the operators that it inserts; called before a graph is compiled or loaded.

        Raises:
            Exception: if the pass cannot be used; graphs are then compiled without it.
        """

    def __call__(self, graph: fx.Graph) -> None:
        """Change the graph in place; `node.meta["val"]` is an example of a node's value."""


def why_unknown(names: Sequence[str], kernel: Kernel) -> str | None:
    """An error message if one of these names belongs to no pass, else None."""
    registry = kernel.registries.add_kind(KIND)
    try:
        for name in names:
            registry.get(name)
    except PlanError as error:
        return f"compile:passes: {error}"
    return None


def ready(wanted: Sequence[str] | None, device: str, kernel: Kernel) -> tuple[list[Pass], str]:
    """The prepared passes that apply here, and why others cannot be used ("" if none failed).

    Args:
        wanted: names, or None for all passes. kernel: its registry has the passes.

    Raises:
        UnknownName: if no pass has such a name.
    """
    registry = kernel.registries.add_kind(KIND)
    found, reasons = [], []
    for name in sorted(registry.names()) if wanted is None else wanted:
        entry = registry.get(name)
        try:
            made: Pass = entry.load()()
            if made.applies(device):
                made.prepare()
                found.append(made)
        except Exception as error:  # compiling works without any pass
            reasons.append(f"{name}: {error}")
    return found, "; ".join(reasons)


def in_inductor(passes: Sequence[Pass]) -> Any:
    """These passes as one inductor pass; torch's cache distinguishes them by their identities."""
    from torch._inductor.custom_graph_pass import CustomGraphPass

    class All(CustomGraphPass):
        def __call__(self, graph: fx.Graph) -> None:
            for each in passes:
                each(graph)

        def uuid(self) -> object:
            return [(each.name, each.identity) for each in passes]

    return All()
