"""The tree of commands: which exist, what is refused, and with which exit code."""

import errno
import subprocess
import sys

import click
import pytest

from rlk.errors import NotFinite
from rlk.registry.entry import Entry
from rlk.registry.kernel import default_kernel


@pytest.fixture
def commands():
    """The registry of commands; what a test adds is removed again."""
    registry = default_kernel().registries.commands
    before = set(registry.names())
    yield registry
    for name in set(registry.names()) - before:
        registry.entries.pop(name)


def test_help_lists_every_command_with_its_summary_and_groups_with_what_is_in_them(rlk):
    ended = rlk("--help")
    assert ended.code == 0
    lines = [line.split(maxsplit=1) for line in ended.out.splitlines() if line.startswith("  ")]
    shown = {line[0]: line[1] for line in lines if len(line) == 2}
    assert shown["run"] == "Train an agent."
    assert shown["resume"] == "Continue a run from its last checkpoint."
    assert shown["plugins"] == "Commands: check, list, new, show."


def test_no_command_is_help_and_an_error(rlk):
    assert rlk().code == 2
    assert rlk("plugins").code == 2


def test_the_version_is_the_kernels(rlk):
    ended = rlk("--version")
    assert ended.code == 0 and ended.out.startswith("rlk, version ")


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["rnu"], "Did you mean 'run'?"),
        (["plugins", "sho"], "Did you mean 'show'?"),
        (["plugins", "nothing-like-it"], "rlk plugins --help"),
        (["run", "--alg", "dqn"], "'--algo'"),
        (["run", "--timesteps", "x", "--algo", "dqn"], "'--timesteps'"),
        (["run"], "--algo NAME; installed: a2c"),
        (["run", "--algo", "dqm"], "Did you mean 'dqn'?"),
        (["run", "--algo", "dqn", "--set", "gama=1"], "Did you mean 'gamma'?"),
        (["run", "--algo", "dqn", "--set", "gamma"], "--set gamma=0.98"),
        (["run", "--algo", "dqn", "--storage", "replya"], "Did you mean 'replay'?"),
        (["run", "--algo", "dqn", "--plugin", "prioritised-replay"], "'prioritized-replay'"),
        (["run", "nowhere.toml"], "cannot read nowhere.toml"),
        (["plugins", "list", "--kind", "storges"], "Did you mean 'storages'?"),
    ],
)
def test_what_is_wrong_while_planning_says_what_to_type_and_exits_with_2(rlk, arguments, says):
    ended = rlk(*arguments)
    assert ended.code == 2
    assert says in ended.err
    assert "Traceback" not in ended.err


def test_a_command_of_a_plugin_is_in_the_group_that_its_name_says(rlk, commands):
    @click.command()
    @click.argument("word")
    def check(word):
        """Not shown: the component's summary is shown instead."""
        click.echo(f"checked {word}")
        return 3

    commands.register("weather.check", check, summary="Look outside.")
    assert "Look outside." in rlk("weather", "--help").out
    ended = rlk("weather", "check", "rain")
    assert (ended.code, ended.out) == (3, "checked rain\n")
    assert "Missing argument 'WORD'" in rlk("weather", "check").err


def test_a_broken_command_is_shown_as_broken_and_refused_when_it_is_called(rlk, commands):
    def load():
        raise ImportError("no module named nothing")

    commands.add(Entry("commands", "wild", "rlk-wild", "1.0", load))
    ended = rlk("--help")
    assert ended.code == 0 and "(broken: command 'wild' (rlk-wild 1.0)" in ended.out
    ended = rlk("wild")
    assert ended.code == 2
    assert "no module named nothing" in ended.err and "rlk-wild 1.0" in ended.err


@pytest.fixture
def failing(commands):
    """Names of commands that raise: errors that rlk expects, and others."""

    def failing_with(name, error):
        @click.command()
        def command():
            raise error

        commands.register(name, command)

    failing_with("foreseen", NotFinite("loss became NaN"))
    failing_with("fault", ZeroDivisionError("by zero"))
    failing_with("full", OSError(errno.ENOSPC, "No space left on device"))
    failing_with("ctrl-c", KeyboardInterrupt())


@pytest.mark.parametrize(
    ("name", "code", "says"),
    [
        ("foreseen", 1, "Error: loss became NaN\n"),
        ("fault", 1, "Error: ZeroDivisionError: by zero\n  in test_commands.py, "),
        ("ctrl-c", 130, ""),
    ],
)
def test_a_command_that_raises_ends_with_a_sentence(rlk, failing, name, code, says):
    ended = rlk(name)
    assert ended.code == code
    assert says in ended.err
    assert "Traceback" not in ended.err


def test_a_full_disk_is_nobodys_fault(rlk, failing):
    ended = rlk("full")
    assert ended.code == 1
    assert ended.err.startswith("Error: the system refuses to write: [Errno ")
    assert "Make room on that disk" in ended.err and "fault of" not in ended.err


@pytest.mark.parametrize("arguments", [["--debug", "fault"], ["fault", "--debug"]])
def test_debug_anywhere_raises_the_error_itself(failing, arguments):
    from rlk_cli.main import main

    with pytest.raises(ZeroDivisionError):
        main(arguments)


def test_python_m_rlk_is_the_same():
    command = [sys.executable, "-m", "rlk", "run"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60)
    assert done.returncode == 2
    assert "no algorithm" in done.stderr
