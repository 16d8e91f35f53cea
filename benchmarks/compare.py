"""Run rlk and its peers in turn and print medians of ratios.

`python benchmarks/compare.py [CASE …] [--libraries rlk rlk+compile sb3 tianshou]`.

They take turns within one run, A B C A B C …, so that a machine whose speed drifts slows all. Each
training is a process of its own on one core. What counts is the ratio; steps per second hold for
this machine only.
"""

from __future__ import annotations

import argparse
import functools
import json
import os
import statistics
import subprocess
import sys
from pathlib import Path

from subjects import case as case_of
from subjects import names

HERE = Path(__file__).parent
ONE_THREAD = {
    "OMP_NUM_THREADS": "1",
    "MKL_NUM_THREADS": "1",
    "XLA_FLAGS": "--xla_cpu_multi_thread_eigen=false intra_op_parallelism_threads=1",
}
#: What is imported for a peer, where it has another name.
MODULES = {"sb3": "stable_baselines3", "sb3-shared": "sb3_contrib"}
Figures = dict[str, float]


def measure(python: str, library: str, case: str, clock: str) -> Figures:
    """One training in a process of its own."""
    command = [python, str(HERE / "subjects.py"), library, case, *(["cpu"] * (clock == "cpu"))]
    done = subprocess.run(
        command, env={**os.environ, **ONE_THREAD}, capture_output=True, text=True, check=False
    )
    if done.returncode:
        sys.exit(f"{' '.join(command)} ended with {done.returncode}:\n{done.stderr}")
    figures: Figures = json.loads(done.stdout.splitlines()[-1])
    return figures


@functools.cache
def installed(python: str, library: str) -> bool:
    """Whether the interpreter has the peer; if not, the user is told how to get it."""
    module = MODULES.get(library, library)
    look = f"import importlib.util, sys; sys.exit(importlib.util.find_spec({module!r}) is None)"
    if subprocess.run([python, "-c", look], check=False).returncode == 0:
        return True
    print(
        f"'{library}' is left out: {python} has no module '{module}'. Install the peers with\n"
        f"    {python} -m pip install -r {HERE / 'requirements.txt'}\n"
        "or name an interpreter that has them with --peer-python.",
        file=sys.stderr,
        flush=True,
    )
    return False


def ours(library: str) -> bool:
    """Whether it is rlk, also `rlk+compile` or another algorithm of it (`rlk-a2c`)."""
    return library.startswith("rlk")


def compared(library: str) -> bool:
    """Whether the table has its ratios to all others."""
    return library.partition("+")[0] == "rlk"


def compare(case: str, arguments: argparse.Namespace) -> None:
    """All repetitions of one case, then the medians."""
    wanted = arguments.libraries
    libraries = [
        name
        for name in case_of(case).LIBRARIES
        if (not wanted or name in wanted) and (ours(name) or installed(arguments.peer_python, name))
    ]
    rows: list[dict[str, Figures]] = []
    for repetition in range(arguments.repetitions):
        row = {
            library: measure(
                sys.executable if ours(library) else arguments.peer_python,
                library,
                case,
                arguments.clock,
            )
            for library in libraries
        }
        rows.append(row)
        speeds = "  ".join(f"{name} {row[name]['steps_per_second']:.0f}" for name in row)
        print(f"{case:<16}{repetition + 1:>3}: {speeds} steps/s", flush=True)
    for library in libraries:
        speed = statistics.median(row[library]["steps_per_second"] for row in rows)
        seconds = statistics.median(row[library]["compile_seconds"] for row in rows)
        compiling = f", compiled in {seconds:.1f} s" if seconds else ""
        updates = rows[-1][library]["updates"]
        print(f"{case:<16}{library}: {speed:.0f} steps/s, {updates:.0f} updates timed{compiling}")
    for own in filter(compared, libraries):
        for peer in (library for library in libraries if not compared(library)):
            ratios = [row[own]["steps_per_second"] / row[peer]["steps_per_second"] for row in rows]
            print(
                f"{case:<16}{own} / {peer}: median {statistics.median(ratios):.2f}, "
                f"from {min(ratios):.2f} to {max(ratios):.2f}",
                flush=True,
            )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("cases", nargs="*", metavar="CASE", help=f"of {names()}; default all")
    parser.add_argument("--repetitions", type=int, default=5)
    parser.add_argument(
        "--libraries", nargs="+", help="of those of the case, such as rlk sb3; default all"
    )
    parser.add_argument(
        "--clock", choices=("wall", "cpu"), default="wall", help="cpu for a machine in use"
    )
    parser.add_argument(
        "--peer-python", default=sys.executable, help="of an environment that has the peers"
    )
    arguments = parser.parse_args()
    for case in arguments.cases or names():
        compare(case, arguments)


if __name__ == "__main__":
    main()
