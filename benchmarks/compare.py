"""Run rlk and its peers in turn and print medians of ratios.

`python benchmarks/compare.py [CASE …]`.

They take turns within one run, A B A B …, so that a machine whose speed drifts slows all. Each
training is a process of its own with one thread. What counts is the ratio; steps per second hold
for this machine only. Ratios by processor time are of use on a machine that others use, too.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).parent
#: case -> who is compared with
PEERS = {"ppo2": ("sb3",), "dqn": ("sb3",), "trpo": ("sb3",), "sac": ("sb3", "sbx")}


def measure(python: str, library: str, case: str) -> dict[str, float]:
    """One training in a process of its own."""
    environment = {**os.environ, "OMP_NUM_THREADS": "1", "MKL_NUM_THREADS": "1"}
    environment["XLA_FLAGS"] = "--xla_cpu_multi_thread_eigen=false"
    command = [python, str(HERE / "subjects.py"), library, case]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    if done.returncode:
        sys.exit(f"{' '.join(command)} failed:\n{done.stderr}")
    figures: dict[str, float] = json.loads(done.stdout.splitlines()[-1])
    return figures


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    names = ", ".join(PEERS)
    parser.add_argument("cases", nargs="*", metavar="CASE", help=f"{names}; default all")
    parser.add_argument("--repetitions", type=int, default=5)
    parser.add_argument(
        "--peer-python", default=sys.executable, help="of an environment that has the peers"
    )
    arguments = parser.parse_args()
    for case in arguments.cases or PEERS:
        compare(case, arguments.repetitions, arguments.peer_python)


def compare(case: str, repetitions: int, peer_python: str) -> None:
    """All libraries in turn, so many times; prints speeds, updates and ratios."""
    libraries = ("rlk", *PEERS[case])
    speeds: dict[str, list[float]] = {library: [] for library in libraries}
    processor: dict[str, list[float]] = {library: [] for library in libraries}
    updates: dict[str, float] = {}
    for repetition in range(repetitions):
        for library in libraries:
            python = sys.executable if library == "rlk" else peer_python
            figures = measure(python, library, case)
            speeds[library].append(figures["steps_per_second"])
            processor[library].append(figures["steps_per_processor_second"])
            updates[library] = figures["updates"]
        shown = "  ".join(f"{library} {speeds[library][-1]:>8.0f}" for library in libraries)
        print(f"{case:<6}{repetition + 1:>3}: {shown} steps/s", flush=True)
    for library in libraries:
        print(
            f"{case:<6}{library:<4} median {statistics.median(speeds[library]):.0f} steps/s, "
            f"gradient updates timed: {updates[library]:.0f}"
        )
    for peer in libraries[1:]:
        wall, own = (ratios(by["rlk"], by[peer]) for by in (speeds, processor))
        print(
            f"{case:<6}rlk to {peer}: ratio median {statistics.median(wall):.2f}, "
            f"from {min(wall):.2f} to {max(wall):.2f}; by processor time "
            f"{statistics.median(own):.2f}, from {min(own):.2f} to {max(own):.2f}",
            flush=True,
        )


def ratios(mine: list[float], theirs: list[float]) -> list[float]:
    """Of neighbours."""
    return [one / other for one, other in zip(mine, theirs, strict=True)]


if __name__ == "__main__":
    main()
