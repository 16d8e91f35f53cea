"""Environments in worker processes, several in each, with shared memory, for slow steps.

N is the number of environments.
"""

from __future__ import annotations

import weakref
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import gymnasium as gym

from rlk_subprocess.config import SubprocessConfig
from rlk_subprocess.launch import usable_cores
from rlk_subprocess.restarts import RestartingPool
from rlk_subprocess.worker_pool import WorkerPool
from rlk_vector_environments import arguments
from rlk_vector_environments.arguments import Indices
from rlk_vector_environments.worker_vec_env import WorkerVecEnv


class SubprocVecEnv(WorkerVecEnv):
    """A vector environment (`SameStepVecEnv`) whose environments run in worker processes.

    Args:
        env_fns: called in the workers; may be closures, lambdas and functions of a notebook.
        settings: those of `SubprocessConfig`, as keyword arguments.
        config: the same settings as one record, instead.
    """

    def __init__(
        self,
        env_fns: Sequence[Callable[[], gym.Env[Any, Any]]],
        *,
        config: SubprocessConfig | None = None,
        info_keys: Sequence[str] | None = (),
        **settings: Any,
    ) -> None:
        arguments.refuse_no_environment(env_fns)
        if config is not None and any(value is not None for value in settings.values()):
            raise ValueError(f"give {', '.join(settings)}, or a config that holds them; not both.")
        config = config or SubprocessConfig(**settings)
        keys = None if info_keys is None else tuple(info_keys)
        kind = RestartingPool if config.restart_workers else WorkerPool
        self._pool = kind(
            env_fns,
            min(config.n_workers or usable_cores(), len(env_fns)),
            config.start_method or "forkserver",
            keys,
            config.timeout_seconds,
        )
        #: Ends the workers when this object is collected or the interpreter exits.
        weakref.finalize(self, self._pool.shutdown, 1.0)
        super().__init__(self._pool)

    @property
    def pids(self) -> tuple[int, ...]:
        """The process ids of the workers, in the order of their environments."""
        return tuple(worker.process.pid for worker in self._pool.workers)

    def set_attr(self, name: str, values: Any, *, indices: Indices | None = None) -> None:
        """As `WorkerVecEnv.set_attr`; a worker that is restarted gets the values again."""
        selected = arguments.resolve_indices(self.num_envs, indices)
        super().set_attr(name, values, indices=selected)
        given = arguments.spread(values, len(selected))
        self._pool.remember(name, dict(zip(selected, given, strict=True)))

    def set_state(self, states: Sequence[dict[str, Any]]) -> None:
        """As `WorkerVecEnv.set_state`; the seeds of workers that are restarted follow from it."""
        super().set_state(states)
        self._pool.follow(states)

    def metrics(self) -> Mapping[str, float]:
        """With `restart_workers`, the number of restarted workers; else nothing."""
        return self._pool.metrics()
