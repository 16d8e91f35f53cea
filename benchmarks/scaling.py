"""Time how rlk scales: environments over workers, and trainings over ranks.

`python benchmarks/scaling.py [workers|ranks …] [--counts 1 2 4] [--figure FILE.png]`.

`workers` steps 16 environments in one process (`dummy`), on so many workers of `subprocess` and on
so many ranks of `mpi-workers`; `ranks` trains PPO2 on so many ranks of `mpi` and of
`torch-distributed`, with four environments each. All take turns, each in processes of its own, and
what counts is the median of the ratios within one turn: to `dummy`, or to the fewest ranks.
"""

from __future__ import annotations

import argparse
import functools
import json
import os
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import gymnasium as gym
import numpy as np
from arguments import one_of, positive

N_ENVS, BUSY_SECONDS, WAIT_SECONDS = 16, 200e-6, 2e-3
WORKERS, RANKS = (1, 2, 4, 8, 16), (1, 2, 4)
BACKENDS, CARRIERS = ("subprocess", "mpi-workers"), ("mpi", "torch-distributed")
BASELINE = "dummy"
MPIRUN = Path(sys.executable).with_name("mpirun")
#: (subject, what it works on, count) -> environment steps per second, of one turn.
Speeds = dict[tuple[str, str, int], float]


class Work(gym.Env[Any, Any]):
    """A step does nothing but compute so many loops, or wait."""

    observation_space = gym.spaces.Box(-1.0, 1.0, (4,), np.float32)
    action_space = gym.spaces.Discrete(2)

    def __init__(self, loops: int = 0, wait: float = 0.0) -> None:
        self.loops, self.wait = loops, wait

    def reset(self, *, seed: int | None = None, options: Any = None) -> Any:
        super().reset(seed=seed)
        return np.zeros(4, np.float32), {}

    def step(self, action: Any) -> Any:
        if self.wait:
            time.sleep(self.wait)
        compute(self.loops)
        return np.zeros(4, np.float32), 0.0, False, False, {}


def compute(loops: int) -> None:
    """The same work wherever it is done, so that one that shares a core takes longer."""
    for _ in range(loops):
        pass


def loops_of_a_step() -> int:
    """How many loops this process, alone, computes in the time of a step that computes."""
    loops, fastest = 100_000, float("inf")
    for _ in range(20):
        began = time.process_time()
        compute(loops)
        fastest = min(fastest, time.process_time() - began)
    return round(loops * BUSY_SECONDS / fastest)


#: What the environments of `workers` do; those that compute are told how many loops.
WORK: dict[str, Callable[[int], gym.Env[Any, Any]]] = {
    "CartPole-v1": lambda _: gym.make("CartPole-v1", disable_env_checker=True),
    "computes 200 µs": lambda loops: Work(loops=loops),
    "waits 2 ms": lambda _: Work(wait=WAIT_SECONDS),
}
#: What the ranks of `ranks` train.
TRAINS = "PPO2 on CartPole-v1"


# ---- one measurement, in processes of its own ----------------------------------------------------


def workers(backend: str, work: str, count: int, seconds: float, loops: int) -> float | None:
    """Environment steps per second; None on a rank that hosts environments."""
    env_fns = [functools.partial(WORK[work], loops)] * N_ENVS
    if backend == BASELINE:
        from rlk_dummy import DummyVecEnv

        vector: Any = DummyVecEnv(env_fns)
    elif backend == "subprocess":
        from rlk_subprocess import SubprocVecEnv

        vector = SubprocVecEnv(env_fns, n_workers=count)
    else:
        from rlk_mpi.extension import LAUNCH
        from rlk_mpi_workers import MpiWorkersVecEnv, host

        guard = LAUNCH.enter()
        if guard is not None and guard.ranks.rank != 0:
            host()
            return None
        vector = MpiWorkersVecEnv(env_fns)
    actions = np.zeros(N_ENVS, np.int64)
    vector.reset(seed=0)
    for _ in range(20):
        vector.step(actions)
    steps, began = 0, time.perf_counter()
    while time.perf_counter() - began < seconds:
        vector.step(actions)
        steps += N_ENVS
    taken = time.perf_counter() - began
    vector.close()
    return steps / taken


def ranks(carrier: str, seconds: float) -> float | None:
    """Environment steps per second of all ranks; None on any but rank 0."""
    import rlk

    settings: Any = {"n_envs": 4, "seed": 1, "n_threads": 1, "plugins": [carrier]}
    with rlk.make("ppo2", env="CartPole-v1", **settings) as agent:
        communicator = agent.run.communicator
        iteration = 128 * 4 * communicator.size
        agent.learn(iteration)  # warms up
        before, began = agent.num_timesteps, time.perf_counter()
        is_over = False
        while not is_over:
            agent.learn(4 * iteration, reset_num_timesteps=False)
            is_over = bool(communicator.gather(time.perf_counter() - began > seconds)[0])
        figure = (agent.num_timesteps - before) / (time.perf_counter() - began)
        return figure if communicator.rank == 0 else None


# ---- all of them, in turn ------------------------------------------------------------------------


def command(subject: str, work: str, count: int, seconds: float, loops: int) -> list[str]:
    """What starts the processes of one measurement."""
    mine = [__file__, "--measure", subject, work, "--counts", str(count), "--seconds", str(seconds)]
    mine += ["--loops", str(loops)]
    if subject == "torch-distributed":
        torchrun = [sys.executable, "-m", "torch.distributed.run", "--standalone"]
        return [*torchrun, "--nproc-per-node", str(count), *mine]
    if subject in ("mpi", "mpi-workers"):
        size = count + (subject == "mpi-workers")
        return [str(MPIRUN), "-n", str(size), sys.executable, *mine]
    return [sys.executable, *mine]


def measure(subject: str, work: str, count: int, seconds: float, loops: int) -> float:
    """Environment steps per second."""
    done = subprocess.run(
        command(subject, work, count, seconds, loops),
        env={**os.environ, "OMP_NUM_THREADS": "1"},
        capture_output=True,
        text=True,
    )
    found = [line for line in done.stdout.splitlines() if line.startswith("{")]
    if done.returncode or not found:
        sys.exit(f"{subject} {count} ended with {done.returncode}:\n{done.stdout}{done.stderr}")
    return float(json.loads(found[-1])["steps_per_second"])


def turn(cases: list[tuple[str, str, int]], seconds: float, loops: int) -> Speeds:
    """All of them, one after the other."""
    found: Speeds = {}
    for subject, work, count in cases:
        found[subject, work, count] = measure(subject, work, count, seconds, loops)
        figure = f"{found[subject, work, count]:,.0f} steps/s"
        print(f"{work:<20} {subject:<18} {count:>2}  {figure}", flush=True)
    return found


def median(turns: list[Speeds], case: tuple[str, str, int], of: tuple[str, str, int]) -> float:
    """The median of the ratios of two measurements within one turn."""
    return statistics.median(one[case] / one[of] for one in turns)


def table(turns: list[Speeds]) -> str:
    """A row for each work and subject: steps per second, and how many times the baseline's."""
    rows = ["| work | on | " + " | ".join(map(str, counts(turns))) + " |"]
    rows.append("|---" * (len(counts(turns)) + 2) + "|")
    for work, subject in dict.fromkeys((work, subject) for subject, work, _ in turns[0]):
        compared, cells = baseline(turns, subject, work), []
        for count in counts(turns):
            case = (subject, work, count)
            if case not in turns[0]:
                cells.append("")
                continue
            speed = statistics.median(one[case] for one in turns)
            cells.append(f"{speed:,.0f} ({median(turns, case, compared):.2f}x)")
        rows.append(f"| {work} | {subject} | " + " | ".join(cells) + " |")
    return "\n".join(rows)


def baseline(turns: list[Speeds], subject: str, work: str) -> tuple[str, str, int]:
    """What a row is compared with: one process, or where there is none, its smallest count."""
    if (BASELINE, work, 1) in turns[0]:
        return BASELINE, work, 1
    return subject, work, min(count for s, w, count in turns[0] if (s, w) == (subject, work))


def counts(turns: list[Speeds]) -> list[int]:
    return sorted({count for _, _, count in turns[0]})


def draw(turns: list[Speeds], path: str) -> None:
    """A figure of the table."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    works = list(dict.fromkeys(work for _, work, _ in turns[0]))
    figure, axes = pyplot.subplots(1, len(works), figsize=(4 * len(works), 3.4), squeeze=False)
    for work, axis in zip(works, axes[0], strict=True):
        for subject in dict.fromkeys(s for s, w, _ in turns[0] if w == work):
            at = sorted(count for s, w, count in turns[0] if (s, w) == (subject, work))
            cases = [(subject, work, count) for count in at]
            axis.plot(at, [statistics.median(one[c] for one in turns) for c in cases], "o-")
            axis.lines[-1].set_label(subject)
        axis.set(title=work, xlabel="ranks" if work == TRAINS else "workers", xscale="log")
        axis.set_xticks(at, map(str, at))
        axis.set_xticks([], minor=True)
        axis.set_ylim(bottom=0)
        axis.legend()
    axes[0][0].set_ylabel("environment steps per second")
    figure.tight_layout()
    figure.savefig(path, dpi=120)


def asked() -> argparse.Namespace:
    """The command line; ends with a message if a word or a number is wrong."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument(
        "what",
        nargs="*",
        type=one_of(("workers", "ranks")),
        default=["workers", "ranks"],
        help="of workers, ranks; default both",
    )
    parser.add_argument("--counts", type=positive, nargs="+", help="of workers or ranks")
    parser.add_argument("--seconds", type=float, default=3.0)
    parser.add_argument("--repetitions", type=positive, default=3)
    parser.add_argument("--work", nargs="+", choices=WORK, default=list(WORK))
    parser.add_argument("--figure", metavar="FILE", help="also draw it; needs matplotlib")
    parser.add_argument("--measure", nargs=2, help=argparse.SUPPRESS)
    parser.add_argument("--loops", type=int, default=0, help=argparse.SUPPRESS)
    given = parser.parse_args()
    most = max(given.counts or [1])
    if "workers" in given.what and most > N_ENVS and not given.measure:
        parser.error(f"argument --counts: workers are {N_ENVS} at most, one for each environment")
    return given


def main() -> None:
    given = asked()
    if given.measure:
        subject, work = given.measure
        if subject in CARRIERS:
            found = ranks(subject, given.seconds)
        else:
            found = workers(subject, work, given.counts[0], given.seconds, given.loops)
        if found is not None:
            print(json.dumps({"steps_per_second": found}), flush=True)
        return
    if given.figure:
        import matplotlib  # noqa: F401  if it is missing, fail before measuring, not after
    cases: list[tuple[str, str, int]] = []
    if "workers" in given.what:
        at = given.counts or WORKERS
        for work in given.work:
            cases.append((BASELINE, work, 1))
            cases += [(backend, work, count) for count in at for backend in BACKENDS]
    if "ranks" in given.what:
        cases += [(c, TRAINS, count) for count in given.counts or RANKS for c in CARRIERS]
    loops = loops_of_a_step()
    turns = [turn(cases, given.seconds, loops) for _ in range(given.repetitions)]
    print(f"\n{table(turns)}")
    for case in cases:
        if case[0] == "mpi-workers":
            ratio = median(turns, case, ("subprocess", *case[1:]))
            print(f"mpi-workers / subprocess, {case[1]}, workers {case[2]}: {ratio:.2f}")
    if given.figure:
        draw(turns, given.figure)


if __name__ == "__main__":
    main()
