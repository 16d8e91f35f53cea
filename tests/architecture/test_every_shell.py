"""Commands can be typed in the shells of Linux, macOS and Windows as they are printed."""

from __future__ import annotations

from pathlib import Path

ROOT = Path(__file__).parents[2]
#: The only sources that may know the quotes of POSIX: the others print what Windows does not take.
KNOW_POSIX = {
    "kernel/src/rlk/command_line.py",
    "plugins/shared/testing/src/rlk_testing/command_line.py",
}


def test_one_module_quotes_the_words_of_printed_commands() -> None:
    sources = [*ROOT.glob("kernel/src/**/*.py"), *ROOT.glob("plugins/*/*/src/**/*.py")]
    quoting = [file for file in sources if "shlex" in file.read_text("utf-8")]
    assert {file.relative_to(ROOT).as_posix() for file in quoting} == KNOW_POSIX
