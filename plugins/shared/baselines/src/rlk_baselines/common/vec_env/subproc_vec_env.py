"""`SubprocVecEnv`: environments in worker processes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from rlk.errors import either
from rlk_baselines.common.vec_env.making import makers
from rlk_baselines.common.vec_env.vector_view import VectorView
from rlk_subprocess import SubprocVecEnv as Backend

START_METHODS = ("forkserver", "spawn", "fork")


class SubprocVecEnv(VectorView):
    """A vector of environments in worker processes, on rlk's backend `subprocess`.

    If there are more environments than usable cores, several share a worker; Stable Baselines
    starts a process for each.

    Args:
        env_fns: functions without arguments. Each makes a new environment. They are called in the
            workers, and may be lambdas.
        start_method: how workers are started: `forkserver` (the default), `spawn` or `fork`.

    Raises:
        ValueError: for another `start_method`.
    """

    has_our_envs = True

    def __init__(self, env_fns: Sequence[Callable[[], Any]], start_method: Any = None) -> None:
        if start_method not in (None, *START_METHODS):
            raise ValueError(f"start_method is {either(START_METHODS)}, got {start_method!r}")
        backend = Backend(makers(env_fns), start_method=start_method, info_keys=None)
        super().__init__(backend)
