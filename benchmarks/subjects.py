"""One timed training by one library, in a process of its own.

`python subjects.py LIBRARY CASE [cpu]` prints JSON; with `cpu` it measures processor time
instead of wall-clock time, for a machine that others use.

All libraries get the same hyperparameters, the same environment and one core, or as many as a case
says (`CORES`). A first call of `learn` warms everything up, compiles what is to be compiled and
fills the replay; the second is timed.
"""

from __future__ import annotations

import argparse
import importlib
import json
import os
import sys
import time
from pathlib import Path
from types import ModuleType

from arguments import one_of

CLOCKS = {"wall": time.perf_counter, "cpu": time.process_time}


def names() -> list[str]:
    """The cases, as they are typed."""
    files = (Path(__file__).parent / "cases").glob("[!_]*.py")
    return sorted(path.stem.replace("_", "-") for path in files)


def case(name: str) -> ModuleType:
    """The module of a case."""
    return importlib.import_module(f"cases.{name.replace('-', '_')}")


def takes_part(library: str, name: str) -> bool:
    """Whether the case has this library; where it trains rlk, also with plugins (`rlk+PLUGIN`)."""
    chosen = case(name)
    plugins = "rlk" in chosen.LIBRARIES and getattr(chosen, "TAKES_PLUGINS", True)
    return library in chosen.LIBRARIES or (plugins and library.startswith("rlk+"))


def why_not_timed(name: str, clock: str) -> str:
    """Why this clock cannot time the case; empty if it can."""
    if clock == "cpu" and hasattr(case(name), "CORES"):
        return (
            f"{name} cannot be timed with the clock cpu: it steps environments in several "
            "processes, and the clock counts the processor time of one alone. Use the clock wall"
        )
    return ""


def use_cores(count: int) -> None:
    """Limit the process to so many cores, because some peers ignore the number of threads."""
    if hasattr(os, "sched_setaffinity"):
        usable = sorted(os.sched_getaffinity(0))
        if len(usable) < count:
            sys.exit(f"{count} cores are needed, but this process may use only {len(usable)}")
        os.sched_setaffinity(0, usable[-count:])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("library")
    parser.add_argument("case", type=one_of(names()))
    parser.add_argument("clock", nargs="?", choices=CLOCKS, default="wall")
    given = parser.parse_args()
    chosen, now = case(given.case), CLOCKS[given.clock]
    if not takes_part(given.library, given.case):
        parser.error(f"{given.case} has {', '.join(chosen.LIBRARIES)}, not {given.library!r}")
    if reason := why_not_timed(given.case, given.clock):
        parser.error(reason)
    use_cores(getattr(chosen, "CORES", 1))
    subject = chosen.subject(given.library)
    subject.learn(chosen.WARM_UP)
    before, began = subject.updates(), now()
    subject.learn(chosen.TIMED)
    seconds = now() - began
    figures = {
        "steps_per_second": chosen.TIMED / seconds,
        "updates": subject.updates() - before,
        "compile_seconds": subject.compile_seconds(),
        "load_seconds": subject.load_seconds(),
    }
    print(json.dumps(figures))


if __name__ == "__main__":
    main()
