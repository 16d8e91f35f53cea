"""What a shell completes on the command line of rlk: paths, and names of installed components.

These functions are the `shell_complete=` of options and arguments. They import no component: names
come from the entry points.
"""

from __future__ import annotations

from collections.abc import Callable

from click import Context, Parameter
from click.shell_completion import CompletionItem

from rlk.registry.kernel import default_kernel
from rlk.registry.kinds import LISTS, SLOTS

Completes = Callable[[Context, Parameter, str], list[CompletionItem]]


def files(_context: Context, _parameter: Parameter, begun: str) -> list[CompletionItem]:
    """Files and folders, which the shell itself completes."""
    return [CompletionItem(begun, type="file")]


def folders(_context: Context, _parameter: Parameter, begun: str) -> list[CompletionItem]:
    """Folders, which the shell itself completes."""
    return [CompletionItem(begun, type="dir")]


def names_of(*kinds: str, also: tuple[str, ...] = ()) -> Completes:
    """The completion of a component's name, or of the file that may stand in its place.

    Args:
        kinds: of the components; none means every kind.
        also: other words that have a meaning there.
    """

    def found(context: Context, parameter: Parameter, begun: str) -> list[CompletionItem]:
        if begun.startswith((".", "/")):
            return files(context, parameter, begun)
        registries = [one for one in default_kernel().registries if not kinds or one.kind in kinds]
        known = {*also, *(name for registry in registries for name in registry.names())}
        return [CompletionItem(name) for name in sorted(known) if name.startswith(begun)]

    return found


def kinds(_context: Context, _parameter: Parameter, begun: str) -> list[CompletionItem]:
    """Kinds of components, as `rlk plugins list` prints them."""
    known = sorted(one.kind.replace("_", "-") for one in default_kernel().registries)
    return [CompletionItem(kind) for kind in known if kind.startswith(begun)]


#: What `--plugin` takes.
plugins = names_of(*SLOTS.values(), *LISTS)
