"""All environments in this process, one after the other: the fastest backend for cheap steps.

N is the number of environments.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import gymnasium as gym

from rlk.errors import EnvironmentFailed
from rlk_vector_environments import arguments, failures, making, rows, step_arrays
from rlk_vector_environments.arguments import Indices
from rlk_vector_environments.same_step import Result, SameStepVecEnv
from rlk_vector_environments.stepping import EnvironmentGroup, Infos, close_all


class DummyVecEnv(SameStepVecEnv):
    """A vector environment (`SameStepVecEnv`) that is a loop over its environments.

    Args:
        config: there are no settings; the kernel passes None.

    Attributes:
        envs: the environments.
    """

    def __init__(
        self,
        env_fns: Sequence[Callable[[], gym.Env[Any, Any]]],
        *,
        config: None = None,
        info_keys: Sequence[str] | None = (),
    ) -> None:
        arguments.refuse_no_environment(env_fns)
        self.envs: list[gym.Env[Any, Any]] = []
        try:
            for env in making.make_environments(env_fns):
                self.envs.append(env)
            descriptions = [making.describe(env) for env in self.envs]
            making.check_equal_spaces(descriptions)
            first, n = descriptions[0], len(descriptions)
            self._arrays = step_arrays.allocate(
                first.observation_space, first.action_space, n, info_keys
            )
            making.describe_vector(self, descriptions)
        except BaseException as error:
            try:
                self.close()
            except EnvironmentFailed as another:
                error.add_note(str(another))
            raise
        keys = None if info_keys is None else tuple(info_keys)
        self._group = EnvironmentGroup(self.envs, self._arrays, info_keys=keys)
        self._pending = False

    # ---- stepping ------------------------------------------------------------------------------

    def _leave_step(self) -> None:
        if self.closed:
            raise failures.closed()
        self._pending = False

    def _reset(self, seeds: Mapping[int, int | None], options: dict[str, Any] | None) -> Infos:
        return self._group.reset(self._turn, seeds, options)

    def step_async(self, actions: Any) -> None:
        """Store the actions; `step_wait` makes the step."""
        self._check_ready()
        rows.copy_into(self._arrays.actions, actions)
        self._pending = True

    def step_wait(self) -> Result:
        if not self._pending:
            raise gym.error.NoAsyncCallError("step_wait needs a step_async before it", "step")
        self._pending = False
        return self._result(*self._group.step(self._turn))

    def _check_ready(self) -> None:
        """Raises an error for a call that is made between the halves of a step, or too late."""
        if self.closed:
            raise failures.closed()
        if self._pending:
            raise gym.error.AlreadyPendingCallError("call step_wait first", "step")

    # ---- reaching into the environments --------------------------------------------------------

    def call_at(self, indices: Indices, name: str, *args: Any, **kwargs: Any) -> tuple[Any, ...]:
        self._check_ready()
        chosen = arguments.resolve_indices(self.num_envs, indices)
        return tuple(self._group.call(name, chosen, args, kwargs))

    def get_attr(self, name: str, *, indices: Indices | None = None) -> tuple[Any, ...]:
        self._check_ready()
        return tuple(self._group.get_attr(name, arguments.resolve_indices(self.num_envs, indices)))

    def set_attr(self, name: str, values: Any, *, indices: Indices | None = None) -> None:
        self._check_ready()
        chosen = arguments.resolve_indices(self.num_envs, indices)
        given = arguments.spread(values, len(chosen))
        self._group.set_attr(name, dict(zip(chosen, given, strict=True)))

    def render(self) -> tuple[Any, ...]:
        self._check_ready()
        return tuple(self._group.render())

    def get_state(self) -> list[dict[str, Any] | None]:
        self._check_ready()
        return self._group.get_state()

    def set_state(self, states: Sequence[dict[str, Any]]) -> None:
        self._check_ready()
        self._group.set_state(arguments.spread(list(states), self.num_envs))

    def close_extras(self, **kwargs: Any) -> None:
        """Close every environment, then raise the first error that one of them raised."""
        self.closed = True  # even if this is interrupted: nothing may close them again
        if errors := close_all(self.envs):
            raise errors[0]
