"""The default collector: steps the vector environment into the storage.

Per vector step: one actor call, one environment call, one `storage.add`, and whoever listens to
`rlk_step`."""

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
        self._finite = spaces.finite_check(run.observation_space)
        self._n_envs, self._keeps_infos = run.n_envs, bool(run.plan.info_keys)
        self._cut_short = False
        self.forget()

    def forget(self) -> None:
        """Start from a reset at the next collection: another environment, or its state is lost."""
        self._observation: Any = None
        self._carry = self.run.actor.start(self._n_envs)
        self._start = np.ones(self._n_envs, dtype=bool)
        self.run.episodes.reset()

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
        listeners = run.listeners["rlk_step"]
        observation, carry, start = self._observation, self._carry, self._start
        timesteps = self._n_envs * run.communicator.size
        for _ in range(self._steps):
            action, env_action, carry, extras = act(observation, carry, start)
            following, reward, terminated, truncated, infos = env_step(env_action)
            if not finite(following) or not spaces.finite(reward):
                self._name_bad({"reward": reward}, following, env_action)
            start = terminated | truncated
            if self._keeps_infos:
                extras = {**extras, **infos["kept"]}
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

    def _reset(self) -> Any:
        seeds = self.run.streams.integers("environments", self._n_envs)
        observation, _ = self.run.env.reset(seed=seeds)
        if not self._finite(observation):
            self._name_bad({}, observation)
        return observation

    def _ended(self, ended: Any, infos: dict[str, Any]) -> dict[int, Any]:
        """The final observations where an episode ended, and the episodes' figures."""
        final = {}
        figures = infos.get("final_info", {}).get("episode") or infos.get("episode")
        for env in map(int, np.flatnonzero(ended)):
            final[env] = infos["final_obs"][env]
            if not self._finite(final[env]):
                row = spaces.map_observation(lambda part: part[None], final[env])
                self._name_bad({}, row, env=env)
            own = None if figures is None else {key: figures[key][env] for key in ("r", "l")}
            self.run.episodes.ended(env, own)
        return final

    def _name_bad(
        self, fields: dict[str, Any], observation: Any, action: Any = None, env: int | None = None
    ) -> None:
        """Says which field of which environment is not finite; of `env` where only it is given."""
        parts = observation if isinstance(observation, dict) else {"observation": observation}
        for name, values in {**parts, **fields}.items():
            array = np.asarray(values)
            if not np.issubdtype(array.dtype, np.floating) or np.isfinite(array).all():
                continue
            first, *place = map(int, np.argwhere(~np.isfinite(array))[0])
            which = first if env is None else env
            shown = "" if action is None else f" after action {np.asarray(action)[first]!r}"
            raise NotFinite(
                f"environment {which} ({self.run.plan.env.name}) gave {array[first, *place]} in "
                f"{name}{place or ''} at timestep {self.run.timesteps}{shown}.\nNothing of this "
                "step was stored. Mend the environment, or wrap it to clip what it returns."
            )

    def state_dict(self) -> State:
        """What the next collection starts from; the environments' own state is kept beside it."""
        observation = self._observation
        if observation is not None:
            observation = spaces.map_observation(np.copy, observation)
        return {"observation": observation, "carry": self._carry, "start": self._start.copy()}

    def load_state_dict(self, state: State) -> None:
        self._observation, self._carry = state["observation"], state["carry"]
        self._start = np.asarray(state["start"], dtype=bool)
