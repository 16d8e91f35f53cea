"""The group of commands.

The kernel's own by module name, plugins' by entry point, none imported for `--help`.
"""

from __future__ import annotations

import importlib
from typing import Any

import click

from rlk.errors import UnknownName

#: command -> (module:object, its line in `--help`).
OWN = {
    "run": ("rlk.cli.run:run", "Train an agent."),
    "resume": ("rlk.cli.resume:resume", "Go on with a run where its last checkpoint is."),
    "plugins": ("rlk.cli.plugins:plugins", "List, show and check what is installed."),
}


class LazyGroup(click.Group):
    """A group whose commands are named in a table and in the registry of commands.

    Args:
        own: name -> (module:object, help). prefix: of the entry points that belong here
            (`plugins.`).
    """

    def __init__(
        self, *args: Any, own: dict[str, tuple[str, str]], prefix: str = "", **kwargs: Any
    ) -> None:
        super().__init__(*args, **kwargs)
        self.own, self.prefix = own, prefix

    def _installed(self) -> dict[str, Any]:
        from rlk.kernel import default_kernel

        entries = {}
        for entry in default_kernel().registries.commands:
            head, _, tail = entry.name.rpartition(".")
            if (f"{head}." if head else "") == self.prefix:
                entries[tail] = entry
        return entries

    def list_commands(self, ctx: click.Context) -> list[str]:
        return sorted({*self.own, *self._installed()})

    def get_command(self, ctx: click.Context, name: str) -> click.Command | None:
        if name in self.own:
            module, _, attribute = self.own[name][0].partition(":")
            command: click.Command = getattr(importlib.import_module(module), attribute)
            return command
        entry = self._installed().get(name)
        if entry is None:
            return None
        found: Any = entry.component().load()
        return found  # type: ignore[no-any-return]

    def resolve_command(self, ctx: click.Context, args: list[str]) -> Any:
        name = args[0] if args else ""
        if name and not name.startswith("-") and self.get_command(ctx, name) is None:
            raise UnknownName(
                "command", f"{self.prefix}{name}", self.list_commands(ctx), "See: rlk --help"
            )
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Names and summaries from tables and components.

        Click would import every command for them.
        """
        rows = {name: line for name, (_, line) in self.own.items()}
        for name, entry in self._installed().items():
            try:
                rows[name] = entry.component().summary
            except Exception as error:
                rows[name] = f"(broken: {error})"
        with formatter.section("Commands"):
            formatter.write_dl(sorted(rows.items()))


@click.group(
    cls=LazyGroup,
    own=OWN,
    context_settings={"help_option_names": ["-h", "--help"]},
    epilog="rlk run --algo dqn --plugin prioritized-replay   trains on CartPole-v1",
)
@click.version_option(package_name="rlk-kernel", prog_name="rlk")
def rlk() -> None:
    """Reinforcement learning as a plugin microkernel."""
