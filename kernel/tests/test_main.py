"""`python -m rlk` is whatever is installed as the command `rlk`."""

import subprocess
import sys

RUN = """
import importlib.metadata, runpy
from types import SimpleNamespace

found = []
importlib.metadata.entry_points = lambda **asked: found.append(asked) or {commands}
runpy.run_module("rlk", run_name="__main__")
print(*found)
"""


def ended(commands):
    code = RUN.format(commands=commands)
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60)


def test_it_calls_the_console_script_that_somebody_installed():
    done = ended("[SimpleNamespace(load=lambda: lambda: print('called'))]")
    assert done.returncode == 0, done.stderr
    assert done.stdout == "called\n{'group': 'console_scripts', 'name': 'rlk'}\n"


def test_without_one_it_says_what_to_install():
    done = ended("[]")
    assert done.returncode == 1
    assert done.stderr == "rlk has no command line here. Install one: pip install rlk-cli\n"
