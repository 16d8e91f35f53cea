"""A Ctrl-C before or after a command, in a process that does what the console script does."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

pytestmark = pytest.mark.skipif(os.name != "posix", reason="signals of POSIX")

PYPROJECT = Path(__file__).parents[1] / "pyproject.toml"
#: What pip writes for the console script, with a Ctrl-C while `click` is imported.
BEFORE = """
import sys
from importlib.abc import MetaPathFinder
class Interrupts(MetaPathFinder):
    def find_spec(self, fullname, path=None, target=None):
        if fullname == "click":
            raise KeyboardInterrupt
sys.meta_path.insert(0, Interrupts())
"""
#: Likewise with a Ctrl-C while the interpreter exits.
AFTER = """
import atexit, os, signal
atexit.register(os.kill, os.getpid(), signal.SIGINT)
"""


def script(interrupts: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    """The console script of the distribution, after these lines."""
    module, name = tomllib.loads(PYPROJECT.read_text())["project"]["scripts"]["rlk"].split(":")
    program = f"{interrupts}\nimport sys\nfrom {module} import {name}\nsys.exit({name}())"
    command = [sys.executable, "-c", program, *arguments]
    return subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)


def test_a_ctrl_c_while_modules_are_imported_is_answered_by_a_sentence() -> None:
    done = script(BEFORE, "plugins", "list")
    assert (done.returncode, done.stdout, done.stderr) == (130, "", "Stopped by Ctrl-C.\n")


def test_a_ctrl_c_after_the_command_prints_nothing() -> None:
    done = script(AFTER, "--help")
    assert (done.returncode, done.stderr) == (-signal.SIGINT, "")
    assert "Train an agent." in done.stdout, "what was printed before is kept"
