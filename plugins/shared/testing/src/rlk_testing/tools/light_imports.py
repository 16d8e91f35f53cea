"""Which heavy modules planning and help screens import, found out once in one process.

A component's record and its settings are read whenever a run is planned, and a command's help must
appear quickly, so none of them may import torch or the like. `report` starts a Python process that
refuses such imports and records them, loads every component and shows every help there, and caches
the result for all suites.
"""

from __future__ import annotations

import contextlib
import importlib
import io
import json
import subprocess
import sys
from collections.abc import Callable
from functools import cache, partial
from importlib.abc import MetaPathFinder
from typing import Any

import attrs

#: Modules that no component's record may import.
HEAVY = ("torch", "gymnasium", "mpi4py")
#: Modules that no command's help may import.
HEAVY_FOR_HELP = (*HEAVY, "matplotlib", "optuna")


@attrs.frozen
class Finding:
    """What happened when one component was loaded or one help was shown.

    Attributes:
        imports: heavy modules that it tried to import, without duplicates.
        error: the error message, if it failed for another reason than such an import; else empty.
    """

    imports: list[str]
    error: str = ""


@cache
def report() -> dict[str, Finding]:
    """'kind/name' of every installed component and 'help/name' of every command -> finding.

    Raises:
        AssertionError: with the process's standard error, if it fails.
    """
    return _asked()


@cache
def of_module(module: str) -> Finding:
    """Which heavy modules are imported by importing this one."""
    return _asked(module)[module]


def _asked(*modules: str) -> dict[str, Finding]:
    command = [sys.executable, "-m", "rlk_testing.tools.light_imports", *modules]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stderr
    return {name: Finding(**finding) for name, finding in json.loads(done.stdout).items()}


# ---- in that process -----------------------------------------------------------------------------


class Refusal(MetaPathFinder):
    """An import hook that refuses heavy modules and records their names."""

    def __init__(self) -> None:
        self.asked: list[str] = []

    def find_spec(self, fullname: str, path: Any = None, target: Any = None) -> None:
        """Part of `MetaPathFinder`: None leaves a module to others."""
        if fullname in HEAVY_FOR_HELP:
            self.asked.append(fullname)
            raise ImportError(f"{fullname} is too heavy to be imported here")

    def finding(self, ask: Callable[[], object], heavy: tuple[str, ...]) -> Finding:
        """Call a function and report which of these modules it tries to import."""
        self.asked.clear()
        error = ""
        try:
            ask()
        except Exception as raised:  # reported; the others are still checked
            error = f"{type(raised).__name__}: {raised}"
        imports = sorted(set(self.asked) & set(heavy))
        return Finding(imports, "" if self.asked else error)


def find_everything(refusal: Refusal) -> dict[str, Finding]:
    """`report`, in this process."""
    from rlk.registry.kernel import Kernel

    found = {}
    for registry in Kernel().registries:
        for entry in registry:
            found[f"{entry.kind}/{entry.name}"] = refusal.finding(entry.component, HEAVY)
            if entry.kind == "commands":
                show = _help(entry.name.split("."))
                found[f"help/{entry.name}"] = refusal.finding(show, HEAVY_FOR_HELP)
    return found


def _help(command: list[str]) -> Callable[[], None]:
    """A function that shows the help of `rlk a b` and raises if that fails."""

    def show() -> None:
        from rlk_cli.main import main

        try:
            with contextlib.redirect_stdout(io.StringIO()):
                main([*command, "--help"])
        except SystemExit as end:
            if end.code:
                raise RuntimeError(f"exit code {end.code}") from end

    return show


def main(modules: list[str]) -> None:
    """Print the findings for these modules or, without any, for everything that is installed."""
    refusal = Refusal()
    sys.meta_path.insert(0, refusal)
    if modules:
        found = {
            name: refusal.finding(partial(importlib.import_module, name), HEAVY) for name in modules
        }
    else:
        found = find_everything(refusal)
    print(json.dumps({name: attrs.asdict(finding) for name, finding in found.items()}))


if __name__ == "__main__":
    main(sys.argv[1:])
