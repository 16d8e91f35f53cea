"""Environments in worker processes, several in each, over shared memory: for steps that take time.

N is the number of environments.
"""

from __future__ import annotations

import weakref
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import gymnasium as gym

from rlk_subprocess.config import SubprocessConfig
from rlk_subprocess.launch import usable_cores
from rlk_subprocess.restarts import Restarts
from rlk_subprocess.worker_pool import WorkerPool
from rlk_vector_environments.hosted import HostedVecEnv


class SubprocVecEnv(HostedVecEnv):
    """A Gymnasium vector environment with same-step autoreset whose environments run in workers.

    What `step` returns is overwritten by the step after the next: see `HostedVecEnv`.

    Args:
        env_fns: functions without arguments, each returning an environment of its own. They are
            called in the workers, and may be closures, lambdas and functions of a notebook.
        settings: those of `SubprocessConfig` as keywords.
        config: the same settings as one record, instead.
        info_keys: numbers of every info to keep: `infos["kept"]` has them after every step, as
            `info.KEY` -> float32 [N], where an episode ended those of its last step. None gathers
            all infos instead, as Gymnasium does: those of the reset where an episode ended.

    Raises:
        EnvironmentFailed: if an environment cannot be made, or they differ in their spaces; in a
            step, if one raises, or lacks an info that is kept.
        rlk.errors.PlanError: for a space that does not fit into arrays.
    """

    def __init__(
        self,
        env_fns: Sequence[Callable[[], gym.Env[Any, Any]]],
        *,
        config: SubprocessConfig | None = None,
        info_keys: Sequence[str] | None = (),
        **settings: Any,
    ) -> None:
        if not env_fns:
            raise ValueError(
                "a vector environment needs at least one environment; env_fns is empty."
            )
        if config is not None and any(value is not None for value in settings.values()):
            raise ValueError(f"give {', '.join(settings)}, or a config that holds them; not both.")
        config = config or SubprocessConfig(**settings)
        keys = None if info_keys is None else tuple(info_keys)
        self._pool = WorkerPool(
            env_fns,
            min(config.n_workers or usable_cores(), len(env_fns)),
            config.start_method or "forkserver",
            keys,
            config.timeout_seconds,
        )
        #: Ends the workers when this object is collected or the interpreter leaves.
        self._finalizer = weakref.finalize(self, self._pool.shutdown, 1.0)
        try:
            super().__init__(self._pool)
        except BaseException:
            self._pool.shutdown()
            raise
        self._restarts: Restarts | None = None
        if config.restart_workers:
            self._restarts = Restarts(self._pool, self._arrays)
            self._wait = self._restarts.wait

    @property
    def pids(self) -> tuple[int, ...]:
        """The process ids of the workers, in the order of their environments."""
        return tuple(worker.process.pid for worker in self._pool.workers)

    def metrics(self) -> Mapping[str, float]:
        """With `restart_workers`, how many were started again; else nothing."""
        return {} if self._restarts is None else self._restarts.metrics()

    def close_extras(self, timeout: float = 5.0, terminate: bool = False, **kwargs: Any) -> None:
        """Ends all workers.

        Args:
            timeout: seconds they get to close their environments before they are terminated.
            terminate: give them none.
        """
        if hasattr(self, "_finalizer"):
            self._finalizer.detach()
            self._pool.shutdown(0.0 if terminate else timeout)
