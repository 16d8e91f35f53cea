"""Detects that a program used the training environment between calls of `learn`.

Training continues from the observation that its collector saw last. If a program resets or steps
the same environment, that observation is wrong, so the next collection begins with a reset. The
environment from `Agent.get_env` reports its use itself. A program still holds an environment that
it passed for training: there, what it holds before and after is compared.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from rlk.running.access import check_environment, check_free, check_own
from rlk.running.environment_states import environment_states
from rlk.running.fingerprint import fingerprint
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


class PassedEnvWatch:
    """Whether an environment that was passed to train in is where training left it.

    A summary of what it holds, from the end of a call of `learn`, is compared with one from the
    start of the next. Of environments elsewhere, such as in workers, it is a summary of their
    states. If there is none, every call starts new episodes. An environment that the run made
    itself can only be reached through `LentEnv`, so nothing is compared.
    """

    def __init__(self, run: Run) -> None:
        self._run = run
        self._left: bytes | None = None

    @contextlib.contextmanager
    def compared(self) -> Iterator[None]:
        """Compare the environments before training within this context; note them after it."""
        self.check()
        yield
        self.remember()

    def remember(self) -> None:
        """Note what the environments hold now."""
        if self._is_passed():
            self._left = self._held()

    def check(self) -> None:
        """Make the collector forget its last observation if they hold something else now."""
        left, self._left = self._left, None
        if not self._is_passed():
            return
        if left is None or left != self._held():
            self._run.collector.forget()

    def _held(self) -> bytes | None:
        """The summary of what the environments hold; None if that cannot be found out."""
        here = getattr(self._run.env, "envs", None)
        held = environment_states(self._run.env) if here is None else here
        return None if held is None else fingerprint(held)

    def _is_passed(self) -> bool:
        return self._run.plan.env.is_finished
