"""Trains PPO2 on this many ranks with a share of the same environments each; writes what it learnt.

The arrangement: environment i of rank r is environment r * n + i of one process, with its seed and
its draws, and a minibatch holds every second environment, whole.
"""

from __future__ import annotations

import os
import sys

import numpy as np

import rlk
from rlk.running.seeding import Streams

TOTAL, STEPS, MINIBATCHES, SEED = 4, 8, 2, 3


class OfAll:
    """Draws for the environments of all ranks, and keeps the rows of this one."""

    def __init__(self, share):
        self.share, self.stream = share, Streams(SEED).numpy("actor")

    def gumbel(self, size):
        return self.stream.gumbel(size=(TOTAL, *size[1:]))[self.share]


class ByEnvironment:
    """Minibatches that hold whole environments: i and i + 2 of four, i of two."""

    bit_generator = np.random.PCG64(0)

    def __init__(self, n_envs):
        self.n_envs = n_envs

    def permutation(self, size):
        env = np.arange(size) % self.n_envs
        return np.argsort(env % MINIBATCHES, kind="stable")


def main(path, size):
    with rlk.make(
        "ppo2",
        env="rlk_testing.environments:DiscreteMatch",
        n_envs=TOTAL // size,
        # An actor in numpy keeps its random stream where it cannot be replaced.
        plugins=[os.environ.get("RANKS_PLUGIN", "mpi"), "no:numpy-acting"],
        seed=SEED,
        n_threads=1,
        n_steps=STEPS,
        nminibatches=MINIBATCHES,
        noptepochs=2,
        learning_rate="lin_0.01",
        policy={"layers": [16]},
        total_timesteps=3 * STEPS * TOTAL,
    ) as agent:
        run = agent.run
        assert run.communicator.size == size
        here = slice(run.communicator.rank * run.plan.n_envs, None)
        share = slice(here.start, here.start + run.plan.n_envs)
        seeds, numpy = Streams(SEED).integers("environments", TOTAL), run.streams.numpy
        by_environment = ByEnvironment(run.plan.n_envs)
        run.streams.integers = lambda name, count: seeds[share]
        run.streams.numpy = lambda name: by_environment if name == "update" else numpy(name)
        run.actor.rng = OfAll(share)
        agent.learn()
        assert agent.num_timesteps == 3 * STEPS * TOTAL
        if run.communicator.rank == 0:
            returns = [return_ for return_, _ in run.metrics.recent_episodes]
            np.savez(path, parameters=run.parameters.flat.detach().numpy(), returns=returns)


main(sys.argv[1], int(sys.argv[2]))
