"""Run rlk and Stable-Baselines3 in turn and print medians of ratios.

`python benchmarks/compare.py [CASE …]`.

The two alternate within one run, A B A B …, so that a machine whose speed drifts slows both. Each
training is a process of its own with one thread. What counts is the ratio; steps per second hold
for this machine only.
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
CASES = ("ppo2", "dqn", "recurrent-ppo2", "recurrent-ppo2-shared")


def measure(python: str, library: str, case: str) -> dict[str, float]:
    """One training in a process of its own."""
    environment = {**os.environ, "OMP_NUM_THREADS": "1", "MKL_NUM_THREADS": "1"}
    command = [python, str(HERE / "subjects.py"), library, case]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    if done.returncode:
        sys.exit(f"{' '.join(command)} failed:\n{done.stderr}")
    figures: dict[str, float] = json.loads(done.stdout.splitlines()[-1])
    return figures


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("cases", nargs="*", metavar="CASE", help=f"{', '.join(CASES)}; default all")
    parser.add_argument("--repetitions", type=int, default=5)
    parser.add_argument(
        "--peer-python", default=sys.executable, help="of an environment that has the peer"
    )
    arguments = parser.parse_args()
    for case in arguments.cases or CASES:
        ratios: list[float] = []
        speeds: dict[str, list[float]] = {"rlk": [], "sb3": []}
        updates: dict[str, float] = {}
        for repetition in range(arguments.repetitions):
            for library, python in (("rlk", sys.executable), ("sb3", arguments.peer_python)):
                figures = measure(python, library, case)
                speeds[library].append(figures["steps_per_second"])
                updates[library] = figures["updates"]
            ratios.append(speeds["rlk"][-1] / speeds["sb3"][-1])
            print(
                f"{case:<6}{repetition + 1:>3}: rlk {speeds['rlk'][-1]:>8.0f}  sb3 "
                f"{speeds['sb3'][-1]:>8.0f} "
                f"steps/s  ratio {ratios[-1]:.2f}",
                flush=True,
            )
        print(
            f"{case:<6}median: rlk {statistics.median(speeds['rlk']):.0f}  sb3 "
            f"{statistics.median(speeds['sb3']):.0f} steps/s, gradient updates timed: rlk "
            f"{updates['rlk']:.0f}, "
            f"sb3 {updates['sb3']:.0f}\n{case:<6}ratio median {statistics.median(ratios):.2f}, "
            f"from {min(ratios):.2f} to {max(ratios):.2f}",
            flush=True,
        )


if __name__ == "__main__":
    main()
