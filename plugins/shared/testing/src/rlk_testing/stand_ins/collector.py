"""The smallest collector with which a run works."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from rlk.abilities import beginning
from rlk.episode_ends import counted, reported_return, success, was_lost
from rlk.errors import NotFinite, RlkError
from rlk.protocols import State
from rlk.records import Step
from rlk.running.resets import told_of_resets
from rlk.spaces import map_observation
from rlk.strict_types import own_number

if TYPE_CHECKING:
    from rlk.running.run import Run


class StandInCollector:
    """Steps the environments and meets the contract of collectors.

    It has no metrics of its own, so rows have no `rollout/…` and `time/…`.
    """

    def __init__(self, run: Run) -> None:
        self.run = run
        self.told_of_resets = told_of_resets(run)
        self.forget()
        self.cut_short = False

    def forget(self) -> None:
        n_envs = self.run.n_envs
        self.cut_short = True
        self.observation: Any = None
        self.carry = self.run.actor.start(n_envs)
        self.start = np.ones(n_envs, dtype=bool)
        self.figures = np.zeros((n_envs, 2))  # return and length of running episodes

    def collect(self) -> bool:
        run: Any = self.run
        if self.cut_short:
            run.storage.restart()
        if self.observation is None:
            first, _ = run.env.reset(seed=run.streams.reset_seeds(run.n_envs))
            self.observation = map_observation(np.copy, first)
            self._refuse_bad("observation", self.observation)
            for tell in self.told_of_resets:
                tell()
        self.carry = beginning(run.actor)(self.carry)
        try:
            going = all(self._step() for _ in range(run.algorithm.steps_per_collect()))
        except BaseException:
            self.forget()
            raise
        self.cut_short = not going
        return going

    def _step(self) -> bool:
        run, observation = self.run, self.observation
        act = run.actor.act(observation, self.carry, self.start)
        reached, reward, terminated, truncated, infos = run.env.step(act.env_action)
        following = map_observation(np.copy, reached)  # a vector may return the same arrays again
        ended = terminated | truncated
        final = {env: infos["final_obs"][env] for env in np.flatnonzero(ended).tolist()}
        self._refuse_bad("reward", reward)
        for seen in (following, *final.values()):
            self._refuse_bad("observation", seen)
        self.figures += np.stack([reward, np.ones(run.n_envs)], axis=1)
        last = infos.get("final_info", {})
        for env in np.flatnonzero(counted(ended, infos)).tolist():
            own_return, length = self.figures[env].tolist()
            if not was_lost(last, env):
                return_ = reported_return(last, env, own_return)
                run.metrics.episode_ended(return_, int(length), success(last, env))
                run.clock.episodes += 1
            self.figures[env] = 0
        extras = {**act.extras, **infos.get("kept", {})}
        step = Step(
            observation, act.action, reward, terminated, truncated, following, final, extras
        )
        run.add(step)
        run.clock.timesteps += run.n_envs * run.communicator.size
        self.observation, self.carry, self.start = following, act.carry, ended
        for plugin, listener in run.listeners["rlk_step"]:
            if own_number(listener(run=run, step=step)) is False:
                run.stop_by_listener(plugin)
                return False
        if self.observation is None:
            raise RlkError("a listener of rlk_step has stepped the environments of training")
        return True

    def _refuse_bad(self, field: str, numbers: Any) -> None:
        for part in numbers.values() if isinstance(numbers, dict) else [numbers]:
            if not np.isfinite(part).all():
                raise NotFinite(
                    f"an environment gave the {field} {part} at timestep {self.run.timesteps}"
                )

    def state_dict(self) -> State:
        observation = self.observation
        now = {"observation": observation, "carry": self.carry, "start": self.start}
        return {**now, "figures": self.figures.copy()}

    def load_state_dict(self, state: State) -> None:
        self.cut_short = True  # it may be: a listener may have stopped the run before it was saved
        self.observation, self.carry = state["observation"], state["carry"]
        self.start, self.figures = np.array(state["start"]), np.array(state["figures"])
