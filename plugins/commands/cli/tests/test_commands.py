"""`rlk plugins show` and `rlk plugins check`."""

from __future__ import annotations

import functools
import re
import subprocess
import sys

import attrs
import click
import pytest
from click.testing import CliRunner

from rlk.component import Component
from rlk.errors import RlkError, UnknownName
from rlk.registry.entry import Entry
from rlk.registry.kernel import Kernel, default_kernel
from rlk_cli import main as entry
from rlk_cli.check import check
from rlk_cli.fields import fields_of
from rlk_cli.show import elsewhere, show
from rlk_testing.tools.command_line import ended


def called(command, *arguments):
    return CliRunner().invoke(command, list(arguments))


@attrs.frozen(kw_only=True)
class Config:
    gain: float = attrs.field(default=2.0, metadata={"help": "how much"})


@pytest.fixture
def registries():
    """The default kernel's; what a test registers in these kinds is taken out again."""
    found = default_kernel().registries
    kinds = [found[kind] for kind in ("algorithms", "noises", "storages", "callbacks", "commands")]
    before = [{name: dict(found.entries[name]) for name in found.names()} for found in kinds]
    yield found
    for registry, entries in zip(kinds, before, strict=True):
        registry.entries = entries


def test_show_tells_what_an_algorithm_declares_wants_and_takes():
    text = called(show, "dqn").output
    lines = [re.sub(r"(?<=\S)  +", "  ", line.strip()) for line in text.splitlines()]
    assert lines[0].startswith("dqn  algorithm of rlk-dqn 0.")
    assert "collects  off-policy" in lines
    assert "action spaces  Discrete" in lines
    assert "default noise  epsilon-greedy" in lines
    assert "settings (--set KEY=VALUE)" in lines
    at = lines.index("buffer_size  50000  int")
    assert lines[at + 1 : at + 3] == [
        "transitions that the replay holds",
        "sets storage.buffer_size",
    ]


def test_show_aligns_the_right_column_also_beside_long_labels():
    lines = called(show, "dqn").output.splitlines()
    values = [("default log_interval", "10"), ("default adaptive-parameter-noise.initial", "0.01")]
    values += [("  gamma", "0.99"), ("  prioritized_replay_beta_iters", "none")]
    at = [line.index(v) for label, v in values for line in lines if line.startswith(label)]
    assert len(at) == 4 and at[0] == at[1] and at[2] == at[3], at


def test_show_tells_which_plugin_a_setting_puts_in_and_of_which_kind_one_names():
    lines = [line.strip() for line in called(show, "dqn").output.splitlines()]
    assert "true is the same as --plugin prioritized-replay" in lines
    lines = [line.strip() for line in called(show, "sac").output.splitlines()]
    assert "names one of: rlk plugins list --kind noises" in lines


def test_which_plugin_a_setting_puts_in_is_told_once():
    for algorithm in default_kernel().registries.algorithms:
        component = algorithm.component()
        fields = {field.name: field for field in fields_of(component.config)}
        for name in component.activates:
            told = "\n".join([fields[name].help, *elsewhere(component, name)])
            assert told.count("--plugin") == 1, (component.name, told)


def test_settings_of_anything_else_are_set_under_its_name():
    assert "settings (--set" not in called(show, "flush-denormals").output
    assert "settings (--set replay.KEY=VALUE)" in called(show, "replay").output
    assert called(show, "flush-denormals").output.endswith("True\n\nno settings\n")
    assert called(show, "plugins.list").output.endswith("\noptions: rlk plugins list --help\n")


def test_an_alias_shows_the_defaults_that_its_name_fixes():
    entry = default_kernel().registries.find("LnMlpPolicy")
    ((key, value),) = entry.component().own_defaults.items()
    lines = [line.split() for line in called(show, "LnMlpPolicy").output.splitlines()]
    assert [key, str(value).lower(), "bool"] in lines


def test_a_default_by_action_space_is_written_out(registries):
    registries.algorithms.register(
        "mine",
        lambda: 0,
        summary="mine",
        config=Config,
        defaults={"distribution": {"Box": "diag-gaussian", "Discrete": "categorical"}},
    )
    text = called(show, "mine").output
    assert "diag-gaussian for Box, categorical for Discrete" in text
    assert "gain                        2.0   float" in text


def test_code_at_a_place_is_shown_like_what_is_installed(tmp_path):
    file = tmp_path / "shrinks.py"
    file.write_text(
        "import gymnasium\n"
        "class Shrinks(gymnasium.Wrapper):\n"
        '    """Makes images smaller."""\n'
        "    def __init__(self, env, size, keep_ratio=True): ...\n"
    )
    lines = called(show, f"{file}:Shrinks").output.splitlines()
    assert lines[0].endswith(f"wrapper of {file}:Shrinks") and lines[1] == "Makes images smaller."
    settings = [line.split()[:2] for line in lines[-2:]]
    assert settings == [["size", "required"], ["keep_ratio", "true"]]


def test_an_unknown_name_shows_the_nearest():
    with pytest.raises(UnknownName, match="Did you mean 'dqn'"):
        CliRunner().invoke(show, ["dqm"], catch_exceptions=False)


def test_check_says_of_what_is_named_that_it_is_sound():
    result = called(check, "adam", "zip")
    assert result.exit_code == 0
    lines = result.output.splitlines()
    assert lines[0].startswith("optimiser 'adam' (rlk-adam") and lines[0].endswith(": sound")
    assert lines[-1] == "2 checked, 0 broken"


@pytest.mark.parametrize(
    ("factory", "cause"),
    [
        ("rlk_adam.component:Nothing", "has no 'Nothing'"),
        ("no_such_package:Thing", "is in no module that can be found"),
        ("raises_on_import:Thing", "ZeroDivisionError: division by zero"),
    ],
)
def test_check_names_the_cause_of_what_is_broken(
    registries, tmp_path, monkeypatch, factory, cause, capsys
):
    (tmp_path / "raises_on_import.py").write_text("1 / 0\nclass Thing: ...\n")
    monkeypatch.syspath_prepend(tmp_path)
    made = Component(name="frail", factory=factory)
    registries.callbacks.add(Entry("callbacks", "frail", "rlk-frail", "0.1", lambda: made))
    assert ended("plugins", "check", "frail") == 1
    printed = capsys.readouterr()
    assert "callback 'frail' (rlk-frail 0.1): " in printed.out and cause in printed.out
    assert "1 checked, 1 broken" in printed.out
    assert "uninstall the plugin or tell its authors" in printed.err


def test_check_imports_what_connects_processes(registries):
    made = Component(name="frail", factory=lambda: None, connects="rlk_adam.component:Nothing")
    registries.callbacks.add(Entry("callbacks", "frail", "rlk-frail", "0.1", lambda: made))
    assert "has no attribute 'Nothing'" in called(check, "frail").output


def test_check_finds_a_command_that_hides_others(registries):
    registries.commands.register("env", click.Command("env"), summary="an environment")
    assert "command 'env.check' (rlk-env-check" in called(check, "env").output
    assert "cannot be reached beside it" in called(check, "env").output
    assert "1 checked, 0 broken" in called(check, "run").output


def test_check_finds_a_name_that_two_packages_give(registries):
    twin = default_kernel().registries.find("replay").component()
    registries.storages.add(Entry("storages", "replay", "rlk-twin", "0.3", lambda: twin))
    registries.callbacks.register("sound", lambda: 0)
    with pytest.raises(RlkError):
        CliRunner().invoke(check, [], catch_exceptions=False)
    assert "'replay' is given by 2 packages" in called(check).output
    assert "is given by" not in called(check, "sound").output


@pytest.mark.parametrize("kind", ["noises", "storages"])
@pytest.mark.parametrize("is_broken", [False, True])
def test_a_name_that_two_packages_give_breaks_no_setting_of_others(registries, kind, is_broken):
    def twin():
        assert not is_broken
        return Component(name="prioritized-replay", factory=lambda: 0)

    entry = Entry(kind, "prioritized-replay", "rlk-twin", "0.3", twin)
    before = registries[kind].entries.pop("prioritized-replay", {})
    registries[kind].add(entry)  # it is found before the other one of its kind
    registries[kind].entries["prioritized-replay"] |= before
    printed = called(check, "dqn").output
    assert printed.endswith("sound\n1 checked, 0 broken\n"), printed


def test_a_default_that_two_packages_give_is_one_fault_and_no_algorithms(registries):
    twin = Component(name="replay", factory=registries.storages.get("replay").component().factory)
    registries.storages.add(Entry("storages", "replay", "rlk-twin", "0.3", lambda: twin))
    printed = called(check).output
    assert printed.endswith(" checked, 1 broken\n") and printed.count("'replay' is given by 2") == 1
    lines = called(check, "dqn").output.splitlines()
    assert lines[0].endswith(": sound") and lines[1].startswith("'replay' is given by 2 packages")
    assert called(check, "ppo2").output.endswith("1 checked, 0 broken\n")


def test_one_package_that_gives_a_name_twice_is_told_so(registries):
    for kind in ("noises", "callbacks"):
        made = Component(name="both", factory=lambda: 0)
        registries[kind].add(Entry(kind, "both", "rlk-both", "0.3", lambda made=made: made))
    said = "'both' is given 2 times by one package: callback of rlk-both 0.3, noise of rlk-both 0.3"
    assert f"{said}. Names are unique across kinds: its authors" in called(check).output


def test_everything_that_is_installed_is_sound():
    result = called(check)
    assert result.exit_code == 0, result.output
    assert result.output.endswith(" checked, 0 broken\n")


def test_without_docstrings_the_help_of_a_command_is_its_summary():
    def help_of(*words):
        command = [sys.executable, "-OO", "-m", "rlk", *words, "--help"]
        done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=True)
        return " ".join(done.stdout.split())

    assert "COMMAND [ARGS]... Reinforcement learning as a plugin microkernel. Options:" in help_of()
    for name in ("run", "plugins.show"):
        summary = default_kernel().registries.commands.get(name).component().summary
        assert f"{summary} Options: " in help_of(*name.split("."))


def test_names_of_commands_that_clash_leave_the_others_as_they_are(monkeypatch):
    kernel, said = Kernel(), []
    for name in ("env", "run.extra", "runs.of.today"):
        command = click.Command(name, callback=functools.partial(said.append, name))
        kernel.registries.commands.register(name, lambda command=command: command)
    monkeypatch.setattr(entry, "default_kernel", lambda: kernel)
    commands = entry.command_tree().commands
    assert {"env", "run", "runs", "plugins"} <= commands.keys()
    assert not isinstance(commands["run"], click.Group), "`rlk run` is reached, run.extra is not"
    assert sorted(commands["plugins"].commands) == ["check", "list", "new", "show"]
    assert sorted(commands["runs"].commands["of"].commands) == ["today"]
