"""The contract of a command: a click command that shows its help in a moment."""

from __future__ import annotations

from typing import Any

import click
import pytest
from click.testing import CliRunner

from rlk_testing.contract import Contract, run_python

_HELP = """
import contextlib, io, sys
from rlk_cli.main import main
shown = io.StringIO()
with contextlib.redirect_stdout(shown):
    try:
        main({arguments!r})
    except SystemExit as end:
        code = end.code
print(code, *[name for name in ("torch", "gymnasium", "mpi4py", "matplotlib") if name in
sys.modules])
"""


class CommandContract(Contract):
    """What every command must do; its factory names a click command. `a.b` is `rlk a b`."""

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

    def test_its_help_is_shown_without_importing_anything_heavy(self) -> None:
        entry = self.entry()
        if entry.dist == "this program":
            pytest.skip("it is not installed")
        arguments = [*entry.name.split("."), "--help"]
        code, *imported = run_python(_HELP.format(arguments=arguments)).split()
        assert code == "0", f"rlk {' '.join(arguments)} ends with exit code {code}"
        assert not imported, (
            f"rlk {' '.join(arguments)} imports {imported}: import them in the function"
        )

    def test_an_unknown_option_is_refused(self) -> None:
        result = CliRunner().invoke(self.command(), ["--no-such-option"])
        assert result.exit_code == 2, result.output
        assert "no-such-option" in result.output
