"""Commands can be typed in the shells of Linux, macOS and Windows as they are printed."""

from __future__ import annotations

import re
from pathlib import Path

ROOT = Path(__file__).parents[2]
SOURCES = [*ROOT.glob("kernel/src/**/*.py"), *ROOT.glob("plugins/*/*/src/**/*.py")]
PAGES = [
    *(*ROOT.glob("*.md"), *ROOT.glob("docs/*.md"), *ROOT.glob("benchmarks/*.md")),
    *(*ROOT.glob("kernel/*.md"), *ROOT.glob("plugins/*/*/README.md")),
    *ROOT.glob("plugins/*/*/src/**/*.template"),
]
#: The only sources that may know the quotes of POSIX: the others print what Windows does not take.
KNOW_POSIX = {
    "kernel/src/rlk/command_line.py",
    "plugins/shared/testing/src/rlk_testing/tools/command_line.py",
}
#: A distribution with an extra, between quotes that cmd.exe takes for a part of the name.
SINGLE_QUOTES = re.compile(r"'[\w./{}-]+\[[\w,{}-]+\]'")


def named(files: list[Path]) -> set[str]:
    return {file.relative_to(ROOT).as_posix() for file in files}


def test_one_module_quotes_the_words_of_printed_commands() -> None:
    assert named([file for file in SOURCES if "shlex" in file.read_text("utf-8")]) == KNOW_POSIX


def test_extras_stand_between_double_quotes_which_every_shell_knows() -> None:
    assert len(PAGES) > 200
    found = [file for file in PAGES if SINGLE_QUOTES.search(file.read_text("utf-8"))]
    asked = re.compile(rf"install\b.*{SINGLE_QUOTES.pattern}")
    found += [file for file in SOURCES if asked.search(file.read_text("utf-8"))]
    assert named(found) == set()
    assert asked.search("pip install 'rlk-atari[atari]'")


def test_the_script_of_ci_takes_nothing_that_bash_3_2_of_macos_does_not_have() -> None:
    script = (ROOT / ".ci" / "run").read_text("utf-8")
    assert (
        re.findall(r"^ *(?:mapfile|readarray|declare -[An])\b.*|\$\{\w+(?:\^|,).*", script, re.M)
        == []
    )
