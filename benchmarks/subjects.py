"""One timed training by one library, in a process of its own.

`python subjects.py LIBRARY CASE [cpu]` prints JSON; with `cpu` it measures processor time
instead of wall-clock time, for a machine that others use.

All libraries get the same hyperparameters, the same environment and one core, or as many as a case
says (`CORES`). A first call of `learn` warms everything up, compiles what is to be compiled and
fills the replay; the second is timed.
"""

from __future__ import annotations

import importlib
import json
import os
import sys
import time
from pathlib import Path
from types import ModuleType


def names() -> list[str]:
    """The cases, as they are typed."""
    files = (Path(__file__).parent / "cases").glob("[!_]*.py")
    return sorted(path.stem.replace("_", "-") for path in files if path.stem != "training")


def case(name: str) -> ModuleType:
    """The module of a case."""
    return importlib.import_module(f"cases.{name.replace('-', '_')}")


def use_cores(count: int) -> None:
    """Limit the process to so many cores, because some peers ignore the number of threads."""
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[-count:])


def main() -> None:
    library, name, *clock = sys.argv[1:]
    chosen = case(name)
    now = time.process_time if clock == ["cpu"] else time.perf_counter
    use_cores(getattr(chosen, "CORES", 1))
    learn, updates, compiling = chosen.subject(library)
    learn(chosen.WARM_UP)
    before, began = updates(), now()
    learn(chosen.TIMED)
    seconds = now() - began
    figures = {
        "steps_per_second": chosen.TIMED / seconds,
        "updates": updates() - before,
        "compile_seconds": compiling(),
    }
    print(json.dumps(figures))


if __name__ == "__main__":
    main()
