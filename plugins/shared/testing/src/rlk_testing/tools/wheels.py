"""Quick installation of packages into a folder, for tests that need them installed.

`pip install --target` starts a process for every package that it builds. Here the package's own
build backend makes the wheel in this process, and the wheel is unpacked, with the same result.
"""

from __future__ import annotations

import contextlib
import importlib
import tempfile
import tomllib
import zipfile
from collections.abc import Iterable
from pathlib import Path


def install(packages: Iterable[Path], target: Path) -> None:
    """Build a wheel of every package and unpack it into `target`; dependencies are not installed.

    Args:
        packages: folders with a `pyproject.toml` that names a build backend, which is installed.
    """
    with tempfile.TemporaryDirectory() as wheels:
        for package in packages:
            built = _build(package, wheels)
            with zipfile.ZipFile(Path(wheels, built)) as archive:
                archive.extractall(target)


def _build(package: Path, wheels: str) -> str:
    """Build a wheel and return its file name."""
    project = tomllib.loads((package / "pyproject.toml").read_text(encoding="utf-8"))
    backend = importlib.import_module(project["build-system"]["build-backend"])
    with contextlib.chdir(package):  # PEP 517: a backend builds what is in the current folder
        return str(backend.build_wheel(wheels))
