"""Time a replay of a million transitions beside bare numpy, cpprb and Tianshou.

`python benchmarks/replay.py [uniform|priorities …] [--peer-python PATH] [--repetitions 5]`.

A cycle adds a transition and samples 256; with priorities it sets those of the sample too. All take
turns, each in a process of its own on one core, and what counts is the ratio of processor times.
Transitions are Pendulum's: three numbers observed, one acted. `rlk-numpy` is rlk without
`cpp-priorities`.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from typing import Any

import numpy as np
from arguments import one_of, positive
from subjects import use_cores

SIZE, BATCH, WARM_UP, TIMED = 1_000_000, 256, 200, 2_000
ALPHA, BETA = 0.6, 0.4
#: What is compared in each case; the first is rlk.
SUBJECTS = {"uniform": ("rlk", "numpy"), "priorities": ("rlk", "cpprb", "tianshou", "rlk-numpy")}
OURS = ("rlk", "rlk-numpy", "numpy")
Cycle = Callable[[int], None]  # the transition of which number


def transitions(count: int) -> dict[str, Any]:
    """Made-up transitions, one episode."""
    observed = np.random.default_rng(0).random((count + 1, 3), np.float32)
    return {
        "obs": observed[:-1],
        "act": np.ones((count, 1), np.float32),
        "rew": np.ones(count, np.float32),
        "next_obs": observed[1:],
        "done": np.zeros(count, bool),
    }


def rlk(case: str, in_cpp: bool = True) -> Cycle:
    import gymnasium as gym
    import torch

    from rlk.records import Schema, Step, Update
    from rlk.running.clock import Clock
    from rlk_cpp_priorities.tree import CppSumTree
    from rlk_prioritized_replay.config import PrioritizedReplayConfig
    from rlk_prioritized_replay.storage import PrioritizedReplay
    from rlk_prioritized_replay.tree import SumTree
    from rlk_replay.config import ReplayConfig
    from rlk_replay.storage import Replay

    def box(n: int) -> gym.spaces.Box:
        return gym.spaces.Box(-1, 1, (n,), np.float32)

    torch.set_num_threads(1)
    schema = Schema(box(3), box(1), 1, 1, 0.99, "cpu", np.random.default_rng(0), Clock(SIZE))
    storage = Replay(ReplayConfig(buffer_size=SIZE))
    storage.open(schema)
    if case == "priorities":
        config = PrioritizedReplayConfig(alpha=ALPHA, beta0=BETA)
        decorator = PrioritizedReplay(config, CppSumTree if in_cpp else SumTree)
        decorator.open(storage, schema)
        storage.decorate(decorator)
    made, no = transitions(SIZE), np.zeros(1, bool)
    error = torch.rand(BATCH)

    def step(t: int) -> Step:
        rows = slice(t, t + 1)
        seen, after = made["obs"][rows], made["next_obs"][rows]
        return Step(seen, made["act"][rows], made["rew"][rows], no, no, after, {}, {})

    for t in range(SIZE):
        storage.add(step(t))

    def cycle(t: int) -> None:
        storage.add(step(t))
        batch = storage.sample(BATCH)
        if case == "priorities":
            storage.feedback(batch, Update({}, td_error=error))

    return cycle


def bare(case: str) -> Cycle:
    """Five arrays, written to and indexed, observations and the next ones apart; no checks."""
    kept, made = transitions(SIZE), transitions(SIZE)
    rng = np.random.default_rng(0)

    def cycle(t: int) -> None:
        for name, store in kept.items():
            store[t] = made[name][t]
        index = rng.integers(SIZE, size=BATCH)
        for store in kept.values():
            store[index]

    return cycle


def cpprb(case: str) -> Cycle:
    from cpprb import PrioritizedReplayBuffer

    fields = {"obs": {"shape": 3}, "act": {"shape": 1}, "rew": {}, "next_obs": {"shape": 3}}
    replay = PrioritizedReplayBuffer(SIZE, {**fields, "done": {}}, alpha=ALPHA)
    made, error = transitions(SIZE), np.random.default_rng(0).random(BATCH)
    for t in range(0, SIZE, 10_000):
        replay.add(**{name: values[t : t + 10_000] for name, values in made.items()})

    def cycle(t: int) -> None:
        replay.add(**{name: values[t] for name, values in made.items()})
        batch = replay.sample(BATCH, beta=BETA)
        replay.update_priorities(batch["indexes"], error)

    return cycle


def tianshou(case: str) -> Cycle:
    from tianshou.data import Batch, PrioritizedReplayBuffer, ReplayBuffer

    replay = PrioritizedReplayBuffer(SIZE, alpha=ALPHA, beta=BETA)
    made, error = transitions(SIZE), np.random.default_rng(0).random(BATCH)
    made["obs_next"], made["terminated"] = made.pop("next_obs"), made.pop("done")
    no = np.zeros(SIZE, bool)
    # At once: a million calls of `add` take minutes.
    replay.update(ReplayBuffer.from_data(**made, truncated=no, done=no))

    def step(t: int) -> Any:
        values = {name: values[t] for name, values in made.items()}
        return Batch(**values, truncated=False, info={})

    def cycle(t: int) -> None:
        replay.add(step(t))
        _, index = replay.sample(BATCH)
        replay.update_weight(index, error)

    return cycle


def microseconds(subject: str, case: str) -> float:
    """Processor time of a cycle, on one core."""
    use_cores(1)
    makes = {"rlk": rlk, "numpy": bare, "cpprb": cpprb, "tianshou": tianshou}
    cycle = rlk(case, in_cpp=False) if subject == "rlk-numpy" else makes[subject](case)
    for t in range(WARM_UP):
        cycle(t)
    began = time.process_time()
    for t in range(WARM_UP, WARM_UP + TIMED):
        cycle(t)
    return 1e6 * (time.process_time() - began) / TIMED


def measure(python: str, subject: str, case: str) -> float:
    """The same in a process of its own."""
    command = [python, __file__, case, "--subject", subject]
    done = subprocess.run(
        command, env={**os.environ, "OMP_NUM_THREADS": "1"}, capture_output=True, text=True
    )
    if done.returncode:
        sys.exit(f"{' '.join(command)} ended with {done.returncode}:\n{done.stderr}")
    return float(json.loads(done.stdout.splitlines()[-1]))


def compare(case: str, peer_python: str, repetitions: int) -> None:
    """All repetitions of one case, then the medians of ratios."""
    rows = []
    for _ in range(repetitions):
        rows.append(
            {
                subject: measure(sys.executable if subject in OURS else peer_python, subject, case)
                for subject in SUBJECTS[case]
            }
        )
        print(case, "  ".join(f"{name} {us:.0f} µs" for name, us in rows[-1].items()), flush=True)
    for peer in SUBJECTS[case][1:]:
        ratios = [row["rlk"] / row[peer] for row in rows]
        print(
            f"{case}: rlk / {peer} {statistics.median(ratios):.2f} "
            f"({min(ratios):.2f} - {max(ratios):.2f})"
        )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument(
        "cases",
        nargs="*",
        metavar="CASE",
        type=one_of(SUBJECTS),
        default=list(SUBJECTS),
        help=f"of {', '.join(SUBJECTS)}; default all",
    )
    parser.add_argument("--subject", help=argparse.SUPPRESS)
    parser.add_argument("--peer-python", default=sys.executable)
    parser.add_argument("--repetitions", type=positive, default=5)
    arguments = parser.parse_args()
    for case in arguments.cases:
        if arguments.subject:
            print(microseconds(arguments.subject, case))
        else:
            compare(case, arguments.peer_python, arguments.repetitions)


if __name__ == "__main__":
    main()
