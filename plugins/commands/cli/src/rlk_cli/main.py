"""The command `rlk`: the tree of all installed commands, and its exit codes.

A command is imported when it is called, so `rlk --help` starts without torch, gymnasium or MPI.
"""

from __future__ import annotations

import atexit
import errno
import gc
import os
import sys
from typing import Any

import click

from rlk.errors import BrokenPlugin, RlkError
from rlk.registry.entry import Entry
from rlk.registry.kernel import default_kernel
from rlk_cli.memory import lacks_memory
from rlk_cli.streams import escape_what_cannot_be_shown, open_closed_streams

ABOUT = "Reinforcement learning as a plugin microkernel."
EXAMPLE = "rlk run --algo dqn --plugin prioritized-replay   trains on CartPole-v1"

#: The settings that determine most of a run's memory.
MEMORY = (
    "fewer environments (--n-envs), a lower n_steps, buffer_size or batch_size, smaller layers, or "
    "an environment whose Discrete or MultiDiscrete spaces have fewer values (each is an input or "
    "an output of the network)"
)
#: Errors of a full or broken disk; a write to what is open already names no file.
_DISK = (errno.ENOSPC, errno.EDQUOT, errno.EIO)


class LazyCommand(click.Command):
    """A command whose module is imported when it is called; its component suffices for help."""

    def entry(self) -> Entry:
        return default_kernel().registries.commands.get(str(self.name))

    def get_short_help_str(self, limit: int = 45) -> str:
        try:
            return self.entry().component().summary
        except BrokenPlugin as error:
            return f"(broken: {error})"

    def make_context(self, *arguments: Any, **options: Any) -> click.Context:
        command: Any = self.entry().load()
        # `python -OO` leaves out docstrings, which are the help texts of commands.
        command.help = command.help or self.entry().component().summary
        return command.make_context(*arguments, **options)


def command_tree() -> click.Group:
    """`rlk` with every command at its place: `plugins.new` is `rlk plugins new`.

    If one package has a command `env` and another `env.check`, the shorter name is used.
    """

    @click.version_option(package_name="rlk-kernel", prog_name="rlk")
    @click.option(
        "--debug", is_flag=True, expose_value=False, help="Show the traceback of an error."
    )
    @click.group(
        help=ABOUT,
        epilog=EXAMPLE,
        context_settings={"help_option_names": ["-h", "--help"]},
    )
    def rlk() -> None:
        pass

    for name in sorted(default_kernel().registries.commands.names(), key=lambda it: it.count(".")):
        *words, last = name.split(".")
        group: Any = rlk
        for word in words:
            group = group.commands.setdefault(word, click.Group(word))
            if not isinstance(group, click.Group):
                break
        else:
            group.add_command(LazyCommand(name), last)
    _say_what_is_in(rlk)
    return rlk


def _say_what_is_in(group: click.Group) -> None:
    """Give every group in this group a help text that names its commands."""
    for inner in group.commands.values():
        if isinstance(inner, click.Group):
            inner.help = f"Commands: {', '.join(sorted(inner.commands))}."
            _say_what_is_in(inner)


def main(arguments: list[str] | None = None) -> None:
    """Run a command line, by default that of this process; never returns."""
    open_closed_streams()
    escape_what_cannot_be_shown()
    _collect_garbage_rarely()
    arguments = sys.argv[1:] if arguments is None else arguments
    plain = [argument for argument in arguments if argument != "--debug"]
    try:
        code = command_tree().main(plain, prog_name="rlk", standalone_mode=False, color=_colour())
    except (KeyboardInterrupt, click.Abort):  # not of a run that trains: `signals` ends that
        click.echo("Stopped by Ctrl-C.", err=True)
        code = 130
    except SystemExit as leaving:
        if not hasattr(leaving, "__notes__"):
            raise
        code = _print_leaving(leaving)
    except Exception as error:
        if "--debug" in arguments:
            raise
        code = _print_error(error, plain)
    sys.exit(code if isinstance(code, int) else 0)


def _colour() -> bool | None:
    """False if the user (https://no-color.org) or the terminal wants no colours.

    None lets click find out, which colours on a terminal, and not on a pipe.
    """
    wants_none = os.environ.get("NO_COLOR") or os.environ.get("TERM") == "dumb"
    return False if wants_none else None


def _collect_garbage_rarely() -> None:
    """Importing torch makes more than 100,000 objects that stay, which full collections visit anew.

    Visiting them less often, and not once more at the end, saves a fifth of a short program.
    """
    gc.set_threshold(10_000)
    atexit.register(gc.freeze)


def _print_error(error: Exception, arguments: list[str]) -> int:
    """Print an error without a traceback; returns the exit code."""
    if isinstance(error, click.NoSuchOption):
        from rlk_cli.unknown_option import explained  # only here: it loads every component

        error = explained(error, arguments)
    elif isinstance(error, click.NoSuchCommand):
        from rlk_cli.unknown_option import explained_command

        error = explained_command(error)
    if isinstance(error, click.ClickException):
        error.show()
        return error.exit_code
    text = str(error)
    if not isinstance(error, RlkError):
        text = _unexpected(error)
    _print_error_text(text)
    return getattr(error, "exit_code", 1)


def _print_leaving(leaving: SystemExit) -> int:
    """Print which environment ended the whole program; returns the exit code, never 0."""
    where = "; ".join(leaving.__notes__)
    what = f"sys.exit({leaving.code!r}) was called while {where}"
    advice = "Let it raise an error, or end its episode (truncated=True), instead"
    _print_error_text(f"{what}. {advice}.")
    return leaving.code if isinstance(leaving.code, int) and leaving.code else 1


def _print_error_text(text: str) -> None:
    begin = click.style("Error:", fg="red", bold=True)
    click.echo(f"{begin} {text}", err=True, color=_colour())


def _unexpected(error: Exception) -> str:
    """The message for an error that was not raised on purpose: whose fault it may be, and where."""
    from rlk_cli.fault_place import places  # only here, because most commands end without one

    found = places(error)
    name = f"{type(error).__module__}.{type(error).__name__}".removeprefix("builtins.")
    owners = " or of ".join(dict.fromkeys(place.owner for place in reversed(found)))
    whose = f"This may be a fault of {owners or 'rlk'}; --debug shows the whole traceback."
    if lacks_memory(error):
        name = "not enough memory"
        whose = f"Ask for less of it: {MEMORY}."
    elif isinstance(error, OSError) and error.errno in _DISK:
        name = "the system refuses to write"
        whose = "Make room on that disk, or send files and output elsewhere."
    return "\n".join([f"{name}: {error}", *map(str, found), whose])
