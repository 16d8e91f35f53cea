"""Compare the time of an update of ACKTR with that of A2C, on collections of the same size.

`python benchmarks/step.py [--repetitions 5]` trains both in turn on 8 CartPoles, 20 steps a
collection and 64x64 tanh, and prints processor time per update and the median of their ratios.
"""

from __future__ import annotations

import argparse
import statistics
import time
from typing import Any

from arguments import positive

import rlk

SETTINGS: dict[str, Any] = {"env": "CartPole-v1", "n_envs": 8, "n_steps": 20}
WARM_UP, TIMED = 3_200, 32_000


class UpdateTimer:
    """A plugin that adds up the processor time of all updates."""

    def __init__(self) -> None:
        self.seconds, self.updates = 0.0, 0

    @rlk.hookimpl
    def rlk_wrap_update(self, run: Any) -> Any:
        def wrapper(update: Any) -> Any:
            def timed(batch: Any, optimise: Any) -> Any:
                began = time.process_time()
                try:
                    return update(batch, optimise)
                finally:
                    self.seconds += time.process_time() - began
                    self.updates += 1

            return timed

        return wrapper


def milliseconds(algo: str) -> float:
    """Processor time of an update."""
    timer = UpdateTimer()
    policy = {"layers": [64, 64], "act_fun": "tanh"}
    with rlk.make(algo, seed=0, n_threads=1, plugins=[timer], policy=policy, **SETTINGS) as agent:
        agent.learn(WARM_UP)
        timer.seconds, timer.updates = 0.0, 0
        agent.learn(TIMED, reset_num_timesteps=False)
    return 1000.0 * timer.seconds / timer.updates


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--repetitions", type=positive, default=5)
    ratios = []
    for _ in range(parser.parse_args().repetitions):
        a2c, acktr = milliseconds("a2c"), milliseconds("acktr")
        ratios.append(acktr / a2c)
        print(f"a2c {a2c:.2f} ms, acktr {acktr:.2f} ms, ratio {ratios[-1]:.2f}", flush=True)
    print(f"median of ratios {statistics.median(ratios):.2f}")


if __name__ == "__main__":
    main()
