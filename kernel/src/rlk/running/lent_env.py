"""Detects that a program used the training environment between calls of `learn`.

Training continues from the observation that its collector saw last. If a program resets or steps
the same environment, that observation is wrong, so the next collection begins with a reset. The
environment from `Agent.get_env` reports its use itself. What a program does with an environment
that it passed as an object is not seen: there, every call of `learn` that counts from 0 begins with
a reset, and one that counts on continues.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rlk.running.access import check_environment, check_free, check_own
from rlk.vector_wrapper import TransparentVector

if TYPE_CHECKING:
    from rlk.running.run import Run

#: Methods of a single environment that change its state; the last is MuJoCo's, for example.
_STEPPING = ("reset", "step", "set_state")


class LentEnv(TransparentVector):
    """The training environment as `Agent.get_env` returns it.

    It behaves like the environment. Before a reset, a step, or a change of its state, it makes the
    collector forget its last observation. The single environments (`envs[i]` of some backends) are
    not watched: after stepping one of those, reset this one.

    Raises:
        RlkError: before such a change, if the agent is closed, was made in a process that this one
            is a fork of, is trained by another thread, or has only the spaces of its environment.
    """

    def __init__(self, run: Run) -> None:
        super().__init__(run.env)
        self._run = run

    def reset(self, *, seed: Any = None, options: dict[str, Any] | None = None) -> Any:
        self._changes("reset")
        return self.env.reset(seed=seed, options=options)

    def step(self, actions: Any) -> Any:
        self._changes("step")
        return self.env.step(actions)

    def step_async(self, actions: Any) -> None:
        """As the backend's, where it has one."""
        self._changes("step_async")
        self.env.step_async(actions)  # type: ignore[attr-defined]

    def set_state(self, states: Any) -> None:
        """As the backend's, where it has one."""
        self._changes("set_state")
        self.env.set_state(states)  # type: ignore[attr-defined]

    def call(self, name: str, *args: Any, **kwargs: Any) -> Any:
        """As the backend's; calling `reset` or `step` this way counts as one."""
        self._notice(name)
        return self.env.call(name, *args, **kwargs)  # type: ignore[attr-defined]

    def __getattr__(self, name: str) -> Any:
        """As the backend's; its `call_at` and `env_method`, if any, are watched like `call`."""
        found = super().__getattr__(name)
        if name not in ("call_at", "env_method"):
            return found

        def watched(*args: Any, **kwargs: Any) -> Any:
            for one in (*args[:2], *kwargs.values()):  # the method's name is one of them
                self._notice(one)
            return found(*args, **kwargs)

        return watched

    def _notice(self, method: Any) -> None:
        """Forget the observation if this method of an environment changes its state."""
        if isinstance(method, str) and method in _STEPPING:
            self._changes(method)

    def _changes(self, method: str) -> None:
        """Forget the observation, because this method changes the state of the environment."""
        check_free(self._run, f"get_env().{method}")
        check_environment(self._run, f"get_env().{method}")
        self._run.collector.forget()

    def __del__(self) -> None:
        """Close nothing: the environment is the run's (Gymnasium's vectors close themselves)."""


def lent(run: Run, before: LentEnv | None) -> LentEnv:
    """The training environment to lend: the one lent before, unless it was replaced since.

    Raises:
        RlkError: if the agent is closed, or was made in a process that this one is a fork of.
    """
    check_own(run, "get_env")
    return LentEnv(run) if before is None or before.env is not run.env else before
