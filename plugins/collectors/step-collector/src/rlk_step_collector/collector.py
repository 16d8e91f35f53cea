"""`steps`: steps the vector environment into the storage.

Per vector step: one actor call, one environment call, one `run.add`, and the listeners of
`rlk_step`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from rlk.abilities import beginning
from rlk.episode_ends import counted, reported_return, success, was_lost
from rlk.errors import RlkError
from rlk.finite import finite, finite_check
from rlk.protocols import State
from rlk.records import Step
from rlk.running.actors import check_actors
from rlk.running.resets import told_of_resets
from rlk.spaces import map_observation
from rlk.strict_types import own_number
from rlk_step_collector.batch_shapes import (
    check_observation,
    check_rewards_and_flags,
    final_observation,
)
from rlk_step_collector.finite import refuse_non_finite
from rlk_step_collector.reused_arrays import copied, copying, share_memory
from rlk_step_collector.rollout_metrics import RolloutMetrics

if TYPE_CHECKING:
    from rlk.running.run import Run

_NOTHING_FINAL: dict[int, Any] = {}
_STEPPED = (
    "the environments of training were reset or stepped in the middle of a collection, by a "
    "listener of rlk_step. This collection is lost. Step them between collections "
    "(rlk_rollout_end, rlk_update_end), or use environments of your own."
)


class StepCollector:
    """Collects `algorithm.steps_per_collect()` vector steps at a time."""

    def __init__(self, run: Run) -> None:
        self.run = run
        self._steps = run.algorithm.steps_per_collect()
        self._finite = finite_check(run.observation_space)
        self._n_envs, self._keeps_infos = run.n_envs, bool(run.plan.info_keys)
        self._returns = np.zeros(run.n_envs)  # of the unfinished episodes
        self._lengths = np.zeros(run.n_envs, dtype=np.int64)
        self._begin = beginning(run.actor)
        self._told_of_resets = told_of_resets(run)
        self.forget()
        self._cut_short = False
        run.hooks.activate(RolloutMetrics(run), "steps", "rlk-step-collector")

    def forget(self) -> None:
        """Make the next collection start from a reset.

        This is needed for another environment, if an environment's state is lost, and if the
        program has stepped it.
        """
        self._cut_short = True  # an unfinished collection cannot be continued after a reset
        self._observation: Any = None
        self._is_checked = False  # whether two steps of these environments were checked completely
        self._given: Any = None  # what the first of the two returned
        self._copies = False  # whether the environments return the same arrays in every step
        self._carry = self.run.actor.start(self._n_envs)
        self._start = np.ones(self._n_envs, dtype=bool)
        self._returns[:] = self._lengths[:] = 0

    def collect(self) -> bool:
        """Make one collection; False if a listener stopped the run in the middle of it.

        If an error ends it, the next one begins with a reset, because this collection is lost while
        the environments have moved on.

        Raises:
            NotFinite: if an environment returns a non-finite number.
            RlkError: if a listener has stepped the environments, or an actor returns no Act.
        """
        if self._cut_short:
            self._cut_short = False
            self.run.storage.restart()
        if self._observation is None:
            self._observation = self._reset()
        self._carry = self._begin(self._carry)
        try:
            return self._collect()
        except BaseException as error:
            self._look_at_actors(error)
            self.forget()
            raise

    def _look_at_actors(self, error: BaseException) -> None:
        """After a failed collection: BrokenPlugin if the cause is an actor that returns no Act.

        Errors that rlk raises on purpose have another cause, except about the first action.
        """
        is_meant = self._is_checked and isinstance(error, RlkError)
        if isinstance(error, Exception) and not is_meant and self._observation is not None:
            check_actors(self.run.actors, self._observation, self.run.n_envs)

    def _collect(self) -> bool:
        run = self.run
        act, env_step, add = run.actor.act, self._env_step(), run.add
        clock, observed_finite, listeners = run.clock, self._finite, run.listeners["rlk_step"]
        returns, lengths = self._returns, self._lengths
        observation, carry, start = self._observation, self._carry, self._start
        timesteps, is_checked = self._n_envs * run.communicator.size, self._is_checked
        for _ in range(self._steps):
            action, env_action, carry, extras = act(observation, carry, start)
            following, reward, terminated, truncated, infos = env_step(env_action)
            if not is_checked:
                following = self._checked(following, reward, terminated, truncated)
                is_checked, env_step = self._is_checked, self._env_step()
            if not observed_finite(following) or not finite(reward):
                refuse_non_finite(run, reward, following, env_action)
            start = terminated | truncated
            if self._keeps_infos:
                extras = {**extras, **infos["kept"]}
            returns += reward
            lengths += 1
            final = self._ended(start, infos) if np.count_nonzero(start) else _NOTHING_FINAL
            step = Step(
                observation, action, reward, terminated, truncated, following, final, extras
            )
            add(step)
            clock.timesteps += timesteps
            observation = following
            if listeners:
                self._observation, self._carry, self._start = observation, carry, start
                for plugin, listener in listeners:
                    answer = listener(run=run, step=step)
                    if answer is not None and own_number(answer) is False:  # or numpy's False
                        run.stop_by_listener(plugin)
                        self._cut_short = True
                        return False
                if self._observation is None:
                    raise RlkError(_STEPPED)
        self._observation, self._carry, self._start = observation, carry, start
        return True

    def _checked(self, following: Any, *rewards_and_flags: Any) -> Any:
        """Check one of the first two steps completely; returns a copy of its observations.

        The second shows whether the environments write into the arrays of the first: then the
        observations of all later steps are copied, too.
        """
        check_observation(self.run, following)
        check_rewards_and_flags(self.run, *rewards_and_flags)
        if self._given is None:
            self._given = following
        else:
            self._copies, self._given = share_memory(self._given, following), None
            self._is_checked = True
        return copied(following)

    def _env_step(self) -> Callable[[Any], Any]:
        step = self.run.env.step
        return copying(step) if self._copies else step

    def _reset(self) -> Any:
        observation, _ = self.run.env.reset(seed=self.run.streams.reset_seeds(self._n_envs))
        check_observation(self.run, observation)
        if not self._finite(observation):
            refuse_non_finite(self.run, None, observation)
        for tell in self._told_of_resets:
            tell()
        return copied(observation)  # the first step may write into the same arrays

    def _ended(self, ended: Any, infos: dict[str, Any]) -> dict[int, Any]:
        """The final observations of episodes that ended; adds their returns to the run's metrics.

        A monitor's returns take precedence, because rewards may be normalised here. Episodes that
        broke off, because their environments were lost, are left out.
        """
        run, final = self.run, {}
        is_counted = counted(ended, infos)
        final_info = infos.get("final_info", {})
        for env in map(int, np.flatnonzero(ended)):
            final[env] = final_observation(run, infos, env)
            if not self._finite(final[env]):
                row = map_observation(lambda part: part[None], final[env])
                refuse_non_finite(run, None, row, env=env)
            if not is_counted[env]:
                continue
            if not was_lost(final_info, env):
                around_all = reported_return(infos, env, self._returns[env])
                return_, length = reported_return(final_info, env, around_all), self._lengths[env]
                run.metrics.episode_ended(return_, int(length), success(final_info, env))
                run.clock.episodes += 1
            self._returns[env] = self._lengths[env] = 0
        return final

    def state_dict(self) -> State:
        """The state that the next collection starts from, without that of the environments."""
        observation = self._observation
        if observation is not None:
            observation = copied(observation)
        return {
            "observation": observation,
            "carry": self._carry,
            "start": self._start.copy(),
            "returns": self._returns.copy(),
            "lengths": self._lengths.copy(),
        }

    def load_state_dict(self, state: State) -> None:
        """Continue from a saved state.

        Raises:
            RlkError: if it has no observation of these environments, or no carry for this actor.
        """
        observation, carry = state["observation"], state["carry"]
        if observation is not None:
            check_observation(self.run, observation)
        if (carry is None) != (self._carry is None):
            raise RlkError("the saved carry is not one of this actor's.")
        self._cut_short = True  # the storage may hold a collection that a listener stopped
        self._observation, self._carry = observation, carry
        self._start = np.asarray(state["start"], dtype=bool)
        self._returns[:], self._lengths[:] = state["returns"], state["lengths"]
