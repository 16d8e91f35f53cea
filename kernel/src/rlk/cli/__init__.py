"""The command line: `rlk`. Starts without torch, gymnasium or MPI.

A command's module is imported when it is run.
"""

from __future__ import annotations

import sys

from rlk.cli.group import rlk
from rlk.errors import RlkError


def main(arguments: list[str] | None = None) -> None:
    """The entry point of `rlk` and of `python -m rlk`; never returns."""
    arguments = sys.argv[1:] if arguments is None else arguments
    try:
        code = rlk.main(args=arguments, prog_name="rlk", standalone_mode=False)
    except Exception as error:
        sys.exit(_failed(error, debug="--debug" in arguments))
    except KeyboardInterrupt:
        sys.exit(130)
    sys.exit(code if isinstance(code, int) else 0)


def _failed(error: Exception, debug: bool) -> int:
    """Prints what went wrong, without a traceback unless asked; the exit code."""
    import click

    if debug:
        raise error
    if isinstance(error, click.ClickException):
        error.show()
        return error.exit_code
    if isinstance(error, click.exceptions.Abort):
        return 130
    if isinstance(error, RlkError):
        click.echo(f"{click.style('Error:', fg='red', bold=True)} {error}", err=True)
        return error.exit_code
    name = f"{type(error).__module__}.{type(error).__name__}".removeprefix("builtins.")
    click.echo(f"{click.style('Error:', fg='red', bold=True)} {name}: {error}", err=True)
    click.echo("This may be a fault of rlk or of a plugin; --debug shows where.", err=True)
    return 1
