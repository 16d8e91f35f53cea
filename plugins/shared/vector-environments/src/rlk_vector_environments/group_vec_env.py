"""Vector environments whose environments are in this process, in one group or several.

A backend only decides who makes the calls of the groups: this thread, or a `Runner` of its own. N
is the number of environments.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from functools import partial
from typing import Any, Protocol

import gymnasium as gym
import numpy as np

from rlk.errors import EnvironmentFailed
from rlk_vector_environments import arguments, failures, infos, making, rows, step_arrays
from rlk_vector_environments.arguments import Indices
from rlk_vector_environments.same_step import Result, SameStepVecEnv
from rlk_vector_environments.step_arrays import shares
from rlk_vector_environments.stepping import EnvironmentGroup, Infos, close_all

Call = Callable[[], Any]


class Runner(Protocol):
    """Makes one call for each group, for example all at the same time in threads."""

    @property
    def n_groups(self) -> int:
        """How many groups there are, at least 1 and at most one for each environment."""

    def begin(self, calls: Sequence[Call]) -> None:
        """Begin these calls, one for each group in order, and do not wait for them."""

    def results(self) -> list[Any]:
        """Wait until all calls have ended: their results, or the first error that one raised."""

    def working(self) -> Collection[int]:
        """The numbers of the groups, counting from 0, whose latest call has not ended."""

    def close(self) -> None:
        """Take no more calls. Wait a few seconds at most for a call: its environment may hang.

        Python waits at its end for every thread that is no daemon, as those of a
        ThreadPoolExecutor.
        """


class GroupVecEnv(SameStepVecEnv):
    """A vector environment (`SameStepVecEnv`) whose environments are in this process.

    Args:
        env_fns: functions without arguments, each of which returns a new environment.
        info_keys: keys of numbers in infos that are kept: `infos["kept"]` has them after every
            step, as `info.KEY` -> float32 [N]; where an episode ended, those of its last step. With
            None, all infos are gathered instead, as Gymnasium does; where an episode ended, those
            of the reset.
        runner: resets and steps the groups, which are contiguous shares of the environments; it is
            closed with this object. With None there is one group, which this thread steps. All
            other calls are made by this thread, while no step runs.

    Attributes:
        envs: the environments.

    Raises:
        EnvironmentFailed: if an environment cannot be made, or their spaces differ; in a step, if
            an environment raises an exception, or a kept info is no number.
        rlk.errors.PlanError: for a space that cannot be stored in arrays.
    """

    def __init__(
        self,
        env_fns: Sequence[Callable[[], gym.Env[Any, Any]]],
        *,
        info_keys: Sequence[str] | None = (),
        runner: Runner | None = None,
    ) -> None:
        arguments.refuse_no_environment(env_fns)
        self._runner = runner
        self._shares = shares(len(env_fns), 1 if runner is None else runner.n_groups)
        self.envs: list[gym.Env[Any, Any]] = []
        try:
            for env in making.make_environments(env_fns):
                self.envs.append(env)
            descriptions = [making.describe(env) for env in self.envs]
            making.check_equal_spaces(descriptions)
            self._arrays = step_arrays.allocate(
                descriptions[0].observation_space,
                descriptions[0].action_space,
                len(self.envs),
                info_keys,
            )
            making.describe_vector(self, descriptions)
        except BaseException as error:
            try:
                self.close()
            except EnvironmentFailed as another:
                error.add_note(str(another))
            raise
        keys = None if info_keys is None else tuple(info_keys)
        self._groups = [self._group(start, stop, keys) for start, stop in self._shares]
        self._is_array = isinstance(self._arrays.final, np.ndarray)
        self._turn = 0
        self._pending = False

    def _group(self, start: int, stop: int, keys: tuple[str, ...] | None) -> EnvironmentGroup:
        arrays = self._arrays.part(start, stop)
        return EnvironmentGroup(self.envs[start:stop], arrays, start=start, info_keys=keys)

    # ---- stepping ------------------------------------------------------------------------------

    def reset(
        self,
        *,
        seed: int | Sequence[int | None] | None = None,
        options: dict[str, Any] | None = None,
    ) -> tuple[Any, dict[str, Any]]:
        """Start new episodes: observations [N, ...] and infos.

        Args:
            seed: an int seeds environment i with `seed + i`; a list has one seed for each; None
                leaves the random generators unchanged, as later automatic resets do.
            options: for the reset of every environment. `reset_mask`, bool [N], resets only those.

        Raises:
            EnvironmentFailed: if one raises an exception, or its observation does not fit its
                space.
        """
        if self.closed:
            raise failures.closed()
        seeds, selected, options = arguments.resolve_reset(self.num_envs, seed, options)
        self._drop_pending_step()
        slots, turn = self._arrays.slots, self._turn
        if len(selected) < self.num_envs:
            rows.copy_into(slots[turn].observation, slots[turn ^ 1].observation)
        calls: list[Call] = []
        for group, (start, stop) in zip(self._groups, self._shares, strict=True):
            chosen = {index: seeds[index] for index in selected if start <= index < stop}
            calls.append(partial(group.reset, turn, chosen, options))
        entries = [entry for found in self._results(calls) for entry in found]
        self._turn ^= 1
        return rows.view(slots[turn].observation), infos.gather(self.num_envs, entries)

    def step_async(self, actions: Any) -> None:
        """Store the actions, and let a runner begin the step; `step_wait` returns its result."""
        if self._pending:
            raise gym.error.AlreadyPendingCallError("step_async was called twice", "step")
        if self.closed:
            raise failures.closed()
        if self._runner is None:
            rows.copy_into(self._arrays.actions, actions)
        else:
            self._check_idle(self._runner)
            rows.copy_into(self._arrays.actions, actions)
            self._runner.begin([partial(group.step, self._turn) for group in self._groups])
        self._pending = True

    def step_wait(self) -> Result:
        """The result of the step that `step_async` began."""
        if not self._pending:
            raise gym.error.NoAsyncCallError("step_wait needs a step_async before it", "step")
        self._pending = False
        if self._runner is None:
            ended, entries = self._groups[0].step(self._turn)
        else:
            ended, entries = _joined(self._runner.results())
        observation, reward, terminated, truncated, kept = self._arrays.slots[self._turn]
        self._turn ^= 1
        found: dict[str, Any] = {}
        if ended or entries or kept:
            final = self._arrays.final
            ends = [(index, rows.read(final, index), info) for index, info in ended]
            found = infos.of_step(self.num_envs, kept, ends, entries)
        if not self._is_array:
            observation = rows.view(observation)
        return observation, reward, terminated, truncated, found

    def _drop_pending_step(self) -> None:
        """Forget a step that was begun; a runner may have taken it already."""
        if self._pending:
            self._pending = False
            if self._runner is not None:
                self._runner.results()

    def _results(self, calls: Sequence[Call]) -> list[Any]:
        """The results of one call for each group."""
        if self._runner is None:
            return [call() for call in calls]
        self._check_idle(self._runner)
        self._runner.begin(calls)
        return self._runner.results()

    def _check_idle(self, runner: Runner) -> None:
        """Raises an error while a runner is in an environment."""
        if self._pending:
            raise gym.error.AlreadyPendingCallError("call step_wait first", "step")
        if working := runner.working():
            busy = [i for number in working for i in range(*self._shares[number])]
            raise EnvironmentFailed(
                "a call that was interrupted has not ended in these environments, one of which "
                f"may hang: {', '.join(map(str, busy))}. Close this vector environment and make a "
                "new one."
            )

    # ---- reaching into the environments --------------------------------------------------------

    def _idle_groups(self) -> list[EnvironmentGroup]:
        """The group of every environment, by its index, when no call is in one and all are open."""
        if self.closed:
            raise failures.closed()
        if self._runner is not None:
            self._check_idle(self._runner)
        return [group for group in self._groups for _ in group.envs]

    def call_at(self, indices: Indices, name: str, *args: Any, **kwargs: Any) -> tuple[Any, ...]:
        """The same for the environments with these indices."""
        chosen, groups = arguments.resolve_indices(self.num_envs, indices), self._idle_groups()
        return tuple(groups[index].call(name, [index], args, kwargs)[0] for index in chosen)

    def get_attr(self, name: str, *, indices: Indices | None = None) -> tuple[Any, ...]:
        """That attribute of every environment, or of those with these indices; never calls it."""
        chosen, groups = arguments.resolve_indices(self.num_envs, indices), self._idle_groups()
        return tuple(groups[index].get_attr(name, [index])[0] for index in chosen)

    def set_attr(self, name: str, values: Any, *, indices: Indices | None = None) -> None:
        """Set an attribute: a list or tuple has one value for each; any other value is for all."""
        chosen, groups = arguments.resolve_indices(self.num_envs, indices), self._idle_groups()
        for index, value in zip(chosen, arguments.spread(values, len(chosen)), strict=True):
            groups[index].set_attr(name, {index: value})

    def render(self) -> tuple[Any, ...]:
        """The frame of every environment; `rlk_vector_environments.tiling.tile` joins them."""
        self._idle_groups()
        return tuple(frame for group in self._groups for frame in group.render())

    def get_state(self) -> list[dict[str, Any] | None]:
        """The state of every environment, or None if one of them cannot be captured."""
        self._idle_groups()
        return [state for group in self._groups for state in group.get_state()]

    def set_state(self, states: Sequence[dict[str, Any]]) -> None:
        """Restore the states that `get_state` returned; the latest observation is not restored.

        Raises:
            Unsupported: (of rlk_vector_environments.env_state) for the state of another kind of
                environment.
        """
        given = arguments.spread(list(states), self.num_envs)
        self._idle_groups()
        for group, (start, stop) in zip(self._groups, self._shares, strict=True):
            group.set_state(given[start:stop])

    def close_extras(self, **kwargs: Any) -> None:
        """Close every environment, then raise the first error that one of them raised.

        One that hangs in a call of a runner is left open.
        """
        self.closed = True  # even if this is interrupted: nothing may close them again
        working: Collection[int] = ()
        if self._runner is not None:
            self._runner.close()
            working = self._runner.working()
        errors: list[EnvironmentFailed] = []
        for number, (start, stop) in enumerate(self._shares):
            if number not in working:
                errors += close_all(self.envs[start:stop], start)
        if errors:
            raise errors[0]


def _joined(found: Sequence[tuple[Infos, Infos]]) -> tuple[Infos, Infos]:
    """What `EnvironmentGroup.step` returns, of several groups, in the order of the environments."""
    ended = [one for group, _ in found for one in group]
    return ended, [one for _, group in found for one in group]
