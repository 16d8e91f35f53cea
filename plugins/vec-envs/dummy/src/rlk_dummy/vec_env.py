"""All environments in this process, one after the other: the fastest backend where a step is cheap.

N is the number of environments.
"""

from __future__ import annotations

import traceback
from collections.abc import Callable, Iterable, Sequence
from typing import Any, NamedTuple

import gymnasium as gym
import numpy as np
from gymnasium.vector import AutoresetMode, VectorEnv
from gymnasium.vector.utils import batch_space

from rlk.errors import EnvironmentFailed, PlanError
from rlk_vector_rows import arguments, infos, rows
from rlk_vector_rows.adopted import adopt
from rlk_vector_rows.env_state import Unsupported, capture, restore

Array = np.ndarray[Any, np.dtype[Any]]
Result = tuple[Any, Array, Array, Array, dict[str, Any]]


class Slot(NamedTuple):
    """What one step writes; there are two, used in turn."""

    observation: rows.Tree
    reward: Array
    terminated: Array
    truncated: Array


class DummyVecEnv(VectorEnv[Any, Any, Array]):
    """A Gymnasium vector environment with same-step autoreset: a loop over its environments.

    What `step` returns is overwritten by the step after the next: an observation stays valid while
    the following step runs. Rewards are float32 [N] (Gymnasium's own are float64), terminated and
    truncated bool [N]. Where an episode ended, the observation is the first of the next episode,
    and `infos["final_obs"]` and `infos["final_info"]` hold what it ended with.

    Args:
        env_fns: functions without arguments, each returning an environment of its own.
        config: nothing can be set; the kernel passes None.
        info_keys: numbers of every info to keep: `infos["kept"]` has them after every step, as
            `info.KEY` -> float32 [N], where an episode ended those of its last step. None gathers
            all infos instead, as Gymnasium does: those of the reset where an episode ended.

    Raises:
        EnvironmentFailed: if an environment cannot be made, or they differ in their spaces; in a
            step, if one raises, or lacks an info that is kept.
        rlk.errors.PlanError: for a space that does not fit into arrays.
    """

    #: Brings a vector environment that was passed into the form of this one.
    adopt = staticmethod(adopt)

    def __init__(
        self,
        env_fns: Sequence[Callable[[], gym.Env[Any, Any]]],
        *,
        config: None = None,
        info_keys: Sequence[str] | None = (),
    ) -> None:
        if not env_fns:
            raise ValueError(
                "a vector environment needs at least one environment; env_fns is empty."
            )
        self.envs: list[gym.Env[Any, Any]] = []
        try:
            self._make(env_fns)
            first, n = self.envs[0], len(self.envs)
            self.single_observation_space = first.observation_space
            self.single_action_space = first.action_space
            self._slots = [self._new_slot(n), self._new_slot(n)]
            self._final = rows.allocate(self.single_observation_space, n)
            self._actions = rows.allocate(self.single_action_space, n)
        except BaseException:
            self.close()
            raise
        self.num_envs = n
        self.observation_space = batch_space(self.single_observation_space, n)
        self.action_space = batch_space(self.single_action_space, n)
        self.metadata = {**first.metadata, "autoreset_mode": AutoresetMode.SAME_STEP}
        self.render_mode = first.render_mode
        self._info_keys = None if info_keys is None else tuple(info_keys)
        self._is_plain = isinstance(self._final, np.ndarray)
        self._turn = 0
        self._pending = False

    def _make(self, env_fns: Sequence[Callable[[], gym.Env[Any, Any]]]) -> None:
        for i, env_fn in enumerate(env_fns):
            try:
                self.envs.append(env_fn())
            except PlanError:
                raise  # says by itself what to type instead
            except Exception as error:
                raise _failure(i, None, "when it was made", error) from error
            self._check(i)

    def _check(self, i: int) -> None:
        first, env = self.envs[0], self.envs[i]
        for other, made in enumerate(self.envs[:i]):
            if made.unwrapped is env.unwrapped:
                raise EnvironmentFailed(
                    f"environments {other} and {i} are one and the same object. "
                    "Let every function in env_fns make a new one: lambda: gym.make(...)."
                )
        for name in ("observation_space", "action_space"):
            if getattr(env, name) != getattr(first, name):
                raise EnvironmentFailed(
                    f"environment {i} has the {name} {getattr(env, name)}, but environment 0 has "
                    f"{getattr(first, name)}. All environments of a vector must have equal spaces."
                )

    def _new_slot(self, n: int) -> Slot:
        observation = rows.allocate(self.single_observation_space, n)
        return Slot(observation, np.zeros(n, np.float32), np.zeros(n, bool), np.zeros(n, bool))

    # ---- stepping ------------------------------------------------------------------------------

    def reset(
        self,
        *,
        seed: int | Sequence[int | None] | None = None,
        options: dict[str, Any] | None = None,
    ) -> tuple[Any, dict[str, Any]]:
        """Starts new episodes: observations [N, ...] and infos.

        Args:
            seed: an int gives environment i `seed + i`; a list has one entry for each; None leaves
                the generators as they are, as later automatic resets do.
            options: for every environment's reset. `reset_mask`, bool [N], resets only those.

        Raises:
            EnvironmentFailed: if one raises, or its observation has another shape than its space.
        """
        seeds, selected, options = arguments.resolve_reset(self.num_envs, seed, options)
        self._pending = False
        slot = self._slots[self._turn]
        if len(selected) < self.num_envs:
            rows.copy_into(slot.observation, self._slots[self._turn ^ 1].observation)
        entries: list[tuple[int, dict[str, Any]]] = []
        for i in selected:
            try:
                observation, info = self.envs[i].reset(seed=seeds[i], options=options)
                rows.write_checked(slot.observation, i, observation)
            except Exception as error:
                raise _failure(i, self.envs[i], "in reset", error) from error
            if self._info_keys is None and info:
                entries.append((i, info))
        self._turn ^= 1
        return rows.view(slot.observation), infos.gather(self.num_envs, entries)

    def step(self, actions: Any) -> Result:
        """One step of every environment: observation, reward, terminated, truncated, infos.

        Args:
            actions: [N, ...], of the action space's structure; cast to its dtype.

        Raises:
            EnvironmentFailed: naming the environment that raised.
        """
        self.step_async(actions)
        return self.step_wait()

    def step_async(self, actions: Any) -> None:
        """Takes the actions; `step_wait` does the work."""
        if self._pending:
            raise gym.error.AlreadyPendingCallError("step_async was called twice", "step")
        if self.closed:
            raise gym.error.ClosedEnvironmentError(
                "this vector environment is closed; make a new one."
            )
        rows.copy_into(self._actions, actions)
        self._pending = True

    def step_wait(self) -> Result:
        """The result of the step that `step_async` began."""
        if not self._pending:
            raise gym.error.NoAsyncCallError("step_wait needs a step_async before it", "step")
        self._pending = False
        observation, reward, terminated, truncated = self._slots[self._turn]
        terminated.fill(False)
        truncated.fill(False)
        actions = rows.samples(self._actions, self.num_envs)
        keys, plain = self._info_keys, self._is_plain
        ends: list[tuple[int, Any, dict[str, Any]]] = []
        entries: list[tuple[int, dict[str, Any]]] = []
        taken: dict[int, dict[str, Any]] = {}
        i = 0
        try:
            for i, env in enumerate(self.envs):
                sample, reward[i], over, cut, info = env.step(actions[i])
                if keys:
                    taken[i] = {key: info[key] for key in keys if key in info}
                if over or cut:
                    terminated[i], truncated[i] = over, cut
                    rows.write(self._final, i, sample)
                    ends.append((i, rows.read(self._final, i), dict(info)))
                    sample, info = env.reset()
                if plain:
                    observation[i] = sample
                else:
                    rows.write(observation, i, sample)
                if keys is None and info:
                    entries.append((i, info))
        except Exception as error:
            raise _failure(i, self.envs[i], "in step", error) from error
        self._turn ^= 1
        found = infos.ended(self.num_envs, ends) if ends else {}
        if entries:
            found.update(infos.gather(self.num_envs, entries))
        if keys:
            found["kept"] = infos.kept(self.num_envs, keys, taken)
        return rows.view(observation), reward, terminated, truncated, found

    # ---- reaching into the environments --------------------------------------------------------

    def call(self, name: str, *args: Any, **kwargs: Any) -> tuple[Any, ...]:
        """Calls that method of every environment (or reads the attribute), through its wrappers."""
        return self.call_at(range(self.num_envs), name, *args, **kwargs)

    def call_at(
        self, indices: Iterable[int], name: str, *args: Any, **kwargs: Any
    ) -> tuple[Any, ...]:
        """The same for the environments with these indices."""
        found = []
        for i in indices:
            member = self._member(i, name)
            try:
                found.append(member(*args, **kwargs) if callable(member) else member)
            except Exception as error:
                raise _failure(i, self.envs[i], f"in {name}", error) from error
        return tuple(found)

    def get_attr(self, name: str, *, indices: Iterable[int] | None = None) -> tuple[Any, ...]:
        """That attribute of every environment, or of those with these indices; never a call."""
        chosen = range(self.num_envs) if indices is None else indices
        return tuple(self._member(i, name) for i in chosen)

    def _member(self, i: int, name: str) -> Any:
        try:
            return self.envs[i].get_wrapper_attr(name)
        except AttributeError as error:
            raise AttributeError(f"environment {i} has no attribute {name!r}") from error

    def set_attr(self, name: str, values: Any, *, indices: Iterable[int] | None = None) -> None:
        """Sets an attribute: a list or tuple has one value for each, all else is for all."""
        chosen = list(range(self.num_envs) if indices is None else indices)
        for i, value in zip(chosen, arguments.spread(values, len(chosen)), strict=True):
            self.envs[i].set_wrapper_attr(name, value)

    def render(self) -> tuple[Any, ...]:
        """Every environment's frame."""
        return tuple(env.render() for env in self.envs)

    def get_state(self) -> list[dict[str, Any] | None]:
        """The state of every environment, or None where it cannot be had."""
        states: list[dict[str, Any] | None] = []
        for env in self.envs:
            try:
                states.append(capture(env))
            except Unsupported:
                states.append(None)
        return states

    def set_state(self, states: Sequence[dict[str, Any]]) -> None:
        """Puts every environment where `get_state` found it; the last observation is not kept.

        Raises:
            rlk_vector_rows.env_state.Unsupported: for the state of another kind of environment.
        """
        for env, state in zip(
            self.envs, arguments.spread(list(states), self.num_envs), strict=True
        ):
            restore(env, state)

    def close_extras(self, **kwargs: Any) -> None:
        """Closes every environment, then raises the first error that one of them raised."""
        errors = []
        for env in self.envs:
            try:
                env.close()
            except Exception as error:
                errors.append(error)
        if errors:
            self.closed = True
            raise errors[0]


def _failure(
    i: int, env: gym.Env[Any, Any] | None, when: str, error: Exception
) -> EnvironmentFailed:
    frames = error.__traceback__
    inner = frames.tb_next if frames is not None and frames.tb_next is not None else frames
    text = "".join(traceback.format_exception(type(error), error, inner)).rstrip()
    name = "" if env is None or env.spec is None else f" of {env.spec.id}"
    return EnvironmentFailed(
        f"environment {i} failed {when}: {type(error).__name__}: {error}\n"
        f"The traceback{name}:\n{text}"
    )
