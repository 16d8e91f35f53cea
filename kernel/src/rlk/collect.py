"""The default collector: steps the vector environment into the storage.

Per vector step: one actor call, one environment call, one `storage.add`, and whoever listens to
    `rlk_step`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from rlk import spaces
from rlk.errors import NotFinite
from rlk.protocols import State
from rlk.records import Step

if TYPE_CHECKING:
    from rlk.run import Run

_NOTHING_FINAL: dict[int, Any] = {}


class StepCollector:
    """Collects `algorithm.steps_per_collect()` vector steps at a time."""

    def __init__(self, run: Run) -> None:
        self.run = run
        self._steps = run.algorithm.steps_per_collect()
        self._finite = spaces.finite_check(run.plan.observation_space)
        self._n_envs = run.plan.n_envs
        self._carry = run.actor.start(self._n_envs)
        self._start = np.ones(self._n_envs, dtype=bool)
        self._observation: Any = None
        self._cut_short = False

    def _reset(self) -> Any:
        seeds = self.run.streams.integers("environments", self._n_envs)
        observation, _ = self.run.env.reset(seed=seeds)
        self._check_observation(observation)
        return observation

    def collect(self) -> bool:
        """One collection; False if a listener stopped the run in the middle of it."""
        run = self.run
        if self._cut_short:
            self._cut_short = False
            run.storage.restart()
        if self._observation is None:
            self._observation = self._reset()
        act, env_step, add = run.actor.act, run.env.step, run.storage.add
        clock, episodes, finite = run.clock, run.episodes, self._finite
        listeners = run.listeners("rlk_step")
        observation, carry, start = self._observation, self._carry, self._start
        timesteps = self._n_envs * run.communicator.size
        for _ in range(self._steps):
            action, env_action, carry, extras = act(observation, carry, start)
            following, reward, terminated, truncated, infos = env_step(env_action)
            if not finite(following) or not spaces.finite(reward):
                self._name_bad_step(following, reward, env_action)
            start = terminated | truncated
            episodes.step(reward)
            final = self._ended(start, infos) if start.any() else _NOTHING_FINAL
            step = Step(
                observation, action, reward, terminated, truncated, following, final, extras
            )
            add(step)
            clock.timesteps += timesteps
            observation = following
            if listeners:
                self._observation, self._carry, self._start = observation, carry, start
                for listener in listeners:
                    if listener(run=run, step=step) is False:
                        run.stop("a listener of rlk_step stopped it")
                        self._cut_short = True
                        return False
        self._observation, self._carry, self._start = observation, carry, start
        return True

    def _ended(self, ended: Any, infos: dict[str, Any]) -> dict[int, Any]:
        """The final observations where an episode ended, and the episodes' figures."""
        final = {}
        figures = infos.get("final_info", {}).get("episode") or infos.get("episode")
        for env in np.flatnonzero(ended):
            index = int(env)
            final[index] = infos["final_obs"][index]
            if not self._finite(final[index]):
                self._check_observation(final[index])
            own = None if figures is None else {key: figures[key][index] for key in ("r", "l")}
            self.run.episodes.ended(index, own)
        return final

    def _check_observation(self, observation: Any) -> None:
        if not self._finite(observation):
            self._name_bad_step(observation, np.zeros(self._n_envs), None)

    def _name_bad_step(self, observation: Any, reward: Any, action: Any) -> None:
        """Says which field of which environment is not finite."""
        fields = (
            dict(observation) if isinstance(observation, dict) else {"observation": observation}
        )
        for name, values in {**fields, "reward": reward}.items():
            array = np.asarray(values)
            if not np.issubdtype(array.dtype, np.floating) or np.isfinite(array).all():
                continue
            where = np.argwhere(~np.isfinite(array))[0]
            batched = array.ndim > 0 and len(array) == self._n_envs
            env = int(where[0]) if batched else 0
            place = [int(i) for i in (where[1:] if batched else where)] or ""
            shown = "" if action is None else f" after action {np.asarray(action)[env]!r}"
            raise NotFinite(
                f"environment {env} ({self.run.plan.env.name}) gave {array[tuple(where)]} in {name}"
                f"{place} at timestep "
                f"{self.run.timesteps}{shown}.\n"
                "Nothing of this step was stored. Mend the environment, or wrap it to clip what "
                "it returns."
            )

    def state_dict(self) -> State:
        """What the next collection starts from; the environments' own state is kept beside it."""
        observation = (
            spaces.map_observation(np.copy, self._observation)
            if self._observation is not None
            else None
        )
        return {"observation": observation, "carry": self._carry, "start": self._start.copy()}

    def load_state_dict(self, state: State) -> None:
        self._observation, self._carry = state["observation"], state["carry"]
        self._start = np.asarray(state["start"], dtype=bool)

    def forget(self) -> None:
        """Start from a reset at the next collection: another environment, or its state is lost."""
        self._observation = None
        self._carry = self.run.actor.start(self._n_envs)
        self._start = np.ones(self._n_envs, dtype=bool)
        self.run.episodes.reset()
