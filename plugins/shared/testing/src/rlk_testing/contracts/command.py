"""The contract of a command: a click command whose help appears quickly."""

from __future__ import annotations

from typing import Any

import click
from click.testing import CliRunner

from rlk_testing.contracts.shared.applies import applies
from rlk_testing.contracts.shared.contract import Contract, is_installed
from rlk_testing.tools import light_imports


class CommandContract(Contract):
    """What every command must do. Its factory is a click command; `a.b` is run as `rlk a b`."""

    kind = "commands"

    def command(self) -> Any:
        return self.record().load()

    def test_it_is_a_click_command(self) -> None:
        assert isinstance(self.command(), click.Command), (
            f"the factory names {self.command()!r}; it must name what @click.command() makes"
        )

    def test_it_says_what_it_does(self) -> None:
        assert (self.command().help or "").strip(), "it has no docstring, so --help says nothing"

    def test_every_option_says_what_it_is_for(self) -> None:
        options = [p for p in self.command().params if isinstance(p, click.Option) and not p.hidden]
        silent = [option.opts[-1] for option in options if not (option.help or "").strip()]
        assert not silent, f"no help for {silent}"

    @applies(is_installed)
    def test_its_help_is_shown_without_importing_anything_heavy(self) -> None:
        name = self.entry().name
        found = light_imports.report()[f"help/{name}"]
        shown = f"rlk {name.replace('.', ' ')} --help"
        assert not found.imports, (
            f"{shown} imports {', '.join(found.imports)}: import them in the function"
        )
        assert not found.error, f"{shown} fails: {found.error}"

    def test_an_unknown_option_is_refused(self) -> None:
        result = CliRunner().invoke(self.command(), ["--no-such-option"])
        assert result.exit_code == 2, result.output
        assert "no-such-option" in result.output
