"""Run rlk and its peers in turn and print medians of ratios.

`python benchmarks/compare.py [CASE …] [--libraries rlk rlk+compile sb3 tianshou]`; a library is one
of the case's, or `rlk+PLUGIN`, with more plugins `rlk+PLUGIN+PLUGIN`.

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

from arguments import one_of, positive
from subjects import CLOCKS, names, takes_part, why_not_timed
from subjects import case as case_of

HERE = Path(__file__).parent
#: Every library trains on the CPU, with one thread; skrl's environments would be on a GPU.
ONE_CPU_THREAD = {
    "CUDA_VISIBLE_DEVICES": "",
    "JAX_PLATFORMS": "cpu",
    "OMP_NUM_THREADS": "1",
    "MKL_NUM_THREADS": "1",
    "XLA_FLAGS": "--xla_cpu_multi_thread_eigen=false intra_op_parallelism_threads=1",
}
#: What is imported for a peer, where it has another name.
MODULES = {"sb3": "stable_baselines3", "sb3-shared": "sb3_contrib"}
#: Peers that cannot live beside the others, and so are not in requirements.txt.
ALONE = ("pufferlib",)
Figures = dict[str, float]


def measure(python: str, library: str, case: str, clock: str) -> Figures:
    """One training in a process of its own."""
    command = [python, str(HERE / "subjects.py"), library, case, clock]
    done = subprocess.run(
        command, env={**os.environ, **ONE_CPU_THREAD}, capture_output=True, text=True, check=False
    )
    if done.returncode:
        sys.exit(f"{' '.join(command)} ended with {done.returncode}:\n{done.stderr}")
    return json.loads(done.stdout.splitlines()[-1])


@functools.cache
def installed(python: str, library: str) -> bool:
    """Whether the interpreter has the peer; if not, the user is told how to get it."""
    module = MODULES.get(library, library)
    look = f"import importlib.util, sys; sys.exit(importlib.util.find_spec({module!r}) is None)"
    if subprocess.run([python, "-c", look], check=False).returncode == 0:
        return True
    how = f"Install the peers with\n    {python} -m pip install -r {HERE / 'requirements.txt'}\n"
    if library in ALONE:
        how = f"{HERE / 'README.md'} says how to install it in an environment of its own. Do so,\n"
    print(
        f"'{library}' is left out: {python} has no module '{module}'. {how}"
        "or name an interpreter that has it with --peer-python.",
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
    libraries = [
        name
        for name in arguments.libraries or case_of(case).LIBRARIES
        if takes_part(name, case) and (ours(name) or installed(arguments.peer_python, name))
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
        print(f"{case:<20}{repetition + 1:>3}: {speeds} steps/s", flush=True)
    for library in libraries:
        speed = statistics.median(row[library]["steps_per_second"] for row in rows)
        updates = rows[-1][library]["updates"]
        waited = waiting([row[library] for row in rows])
        print(f"{case:<20}{library}: {speed:.0f} steps/s, {updates:.0f} updates timed{waited}")
    for own in filter(compared, libraries):
        for peer in (library for library in libraries if not compared(library)):
            ratios = [row[own]["steps_per_second"] / row[peer]["steps_per_second"] for row in rows]
            print(
                f"{case:<20}{own} / {peer}: median {statistics.median(ratios):.2f}, "
                f"from {min(ratios):.2f} to {max(ratios):.2f}",
                flush=True,
            )


def waiting(repetitions: list[Figures]) -> str:
    """How long updates took to be compiled, and to be loaded where an earlier run had kept them."""
    text = ""
    for what in ("compile", "load"):
        seconds = max(figures[f"{what}_seconds"] for figures in repetitions)
        if seconds:
            text += f", at most {seconds:.2f} s to {what} updates"
    return text


def check(parser: argparse.ArgumentParser, given: argparse.Namespace) -> None:
    """End with a message if a library is in none of the cases, or the clock cannot time a case."""
    cases = given.cases or names()
    for library in given.libraries or ():
        if not any(takes_part(library, case) for case in cases):
            known = dict.fromkeys(name for case in cases for name in case_of(case).LIBRARIES)
            parser.error(
                f"argument --libraries: {library!r} is in none of these cases, which have: "
                f"{', '.join(known)}, and rlk+PLUGIN"
            )
    for case in given.cases:
        if reason := why_not_timed(case, given.clock):
            parser.error(reason)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument(
        "cases",
        nargs="*",
        metavar="CASE",
        type=one_of(names()),
        help=f"of {', '.join(names())}; default all",
    )
    parser.add_argument("--repetitions", type=positive, default=5)
    parser.add_argument(
        "--libraries", nargs="+", help="of those of the case, such as rlk sb3; default all"
    )
    parser.add_argument("--clock", choices=CLOCKS, default="wall", help="cpu for a machine in use")
    parser.add_argument(
        "--peer-python", default=sys.executable, help="of an environment that has the peers"
    )
    arguments = parser.parse_args()
    check(parser, arguments)
    for case in arguments.cases or names():
        if reason := why_not_timed(case, arguments.clock):
            print(reason, file=sys.stderr)
        else:
            compare(case, arguments)


if __name__ == "__main__":
    main()
