"""Runs code in a fresh Python process."""

from __future__ import annotations

import subprocess
import sys


def run_python(code: str) -> str:
    """Run code in a fresh Python process and return what it prints.

    Raises:
        AssertionError: with the process's standard error, if it fails.
    """
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()
