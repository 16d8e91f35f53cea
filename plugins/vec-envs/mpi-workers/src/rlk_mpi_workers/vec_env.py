"""Environments on the other ranks of an MPI job, for slow steps, on one or many machines.

N is the number of environments.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import gymnasium as gym
from gymnasium.vector import VectorEnv

from rlk_dummy.vec_env import DummyVecEnv
from rlk_mpi_workers.config import MpiWorkersConfig
from rlk_mpi_workers.learner import learner
from rlk_mpi_workers.rank_pool import RankPool
from rlk_vector_environments import arguments
from rlk_vector_environments.adoption import adopt
from rlk_vector_environments.worker_vec_env import WorkerVecEnv


class MpiWorkersVecEnv(WorkerVecEnv):
    """A Gymnasium vector environment with same-step restarts whose environments are on ranks.

    It is made on rank 0; all other ranks call `rlk_mpi_workers.host()` and get equal shares. When
    it is closed, they remain available for other vector environments. Otherwise it is as
    `SameStepVecEnv` says.

    Args:
        env_fns: called on the other ranks; may be closures, lambdas and functions of the script.
        timeout_seconds: see `MpiWorkersConfig`.

    Raises:
        EnvironmentFailed: also if a rank hangs. A rank that dies ends the whole job.
        RuntimeError: on a rank other than 0, and if there is no other rank.
    """

    def __init__(
        self,
        env_fns: Sequence[Callable[[], gym.Env[Any, Any]]],
        *,
        timeout_seconds: float | None = 600.0,
        info_keys: Sequence[str] | None = (),
    ) -> None:
        arguments.refuse_no_environment(env_fns)
        mine = learner()
        if mine is None:
            raise RuntimeError(
                "there is no other rank to host environments: mpirun -n 4 python …, or DummyVecEnv."
            )
        keys = None if info_keys is None else tuple(info_keys)
        self._pool = RankPool(mine, env_fns, keys, timeout_seconds)
        super().__init__(self._pool)

    @property
    def ranks(self) -> tuple[int, ...]:
        """The ranks that host environments, in the order of their environments."""
        return tuple(worker.rank for worker in self._pool.workers)


class Backend:
    """The backend `mpi-workers`; a single rank steps the environments by itself."""

    #: Converts a vector environment that a program passes to same-step restarts.
    adopt = staticmethod(adopt)

    def __call__(
        self,
        env_fns: Sequence[Callable[[], gym.Env[Any, Any]]],
        *,
        config: MpiWorkersConfig | None = None,
        info_keys: Sequence[str] | None = (),
    ) -> VectorEnv[Any, Any, Any]:
        """A vector of these environments."""
        if learner() is None:
            return DummyVecEnv(env_fns, info_keys=info_keys)
        config = config or MpiWorkersConfig()
        return MpiWorkersVecEnv(
            env_fns, timeout_seconds=config.timeout_seconds, info_keys=info_keys
        )


backend = Backend()
