"""Environments on the other ranks of an MPI job: for steps that take time, on many machines.

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
from rlk_vector_environments.adoption import adopt
from rlk_vector_environments.hosted import HostedVecEnv


class MpiWorkersVecEnv(HostedVecEnv):
    """A Gymnasium vector environment with same-step autoreset whose environments are on ranks.

    It is made on rank 0; all other ranks call `rlk_mpi_workers.host()` and get equal shares. What
    `step` returns is overwritten by the step after the next: see `HostedVecEnv`.

    Args:
        env_fns: functions without arguments, each returning an environment of its own. They are
            called on the other ranks, and may be closures, lambdas and functions of the script.
        timeout_seconds: see `MpiWorkersConfig`.
        info_keys: as of `HostedVecEnv`.

    Raises:
        EnvironmentFailed: if an environment cannot be made, or they differ in their spaces; in a
            step, if one raises, or its rank hangs. A rank that dies ends the whole job.
        rlk.errors.PlanError: for a space that does not fit into arrays.
        RuntimeError: on another rank than 0, and where there is no other rank.
    """

    def __init__(
        self,
        env_fns: Sequence[Callable[[], gym.Env[Any, Any]]],
        *,
        timeout_seconds: float | None = 600.0,
        info_keys: Sequence[str] | None = (),
    ) -> None:
        if not env_fns:
            raise ValueError(
                "a vector environment needs at least one environment; env_fns is empty."
            )
        job = learner()
        if job is None:
            raise RuntimeError(
                "there is no other rank to host environments: mpirun -n 4 python …, or DummyVecEnv."
            )
        keys = None if info_keys is None else tuple(info_keys)
        self._pool = RankPool(job, env_fns, keys, timeout_seconds)
        try:
            super().__init__(self._pool)
        except BaseException:
            self._pool.shutdown()
            raise

    @property
    def ranks(self) -> tuple[int, ...]:
        """The ranks that host environments, in the order of their environments."""
        return tuple(worker.rank for worker in self._pool.workers)

    def close_extras(self, timeout: float = 5.0, terminate: bool = False, **kwargs: Any) -> None:
        """Closes the environments; the ranks stay for others.

        Args:
            timeout: seconds they get for it.
            terminate: give them none.
        """
        if hasattr(self, "_pool"):
            self._pool.shutdown(0.0 if terminate else timeout)


class Backend:
    """The backend `mpi-workers`: on one rank alone, environments are stepped by that rank."""

    #: Brings a vector environment that was passed into the form of this one.
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
