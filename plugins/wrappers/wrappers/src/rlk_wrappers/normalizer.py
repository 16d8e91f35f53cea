"""The statistics that all environments of a run share, and when they change.

Environments return raw observations, and the policy normalises its own input. So observations are
raw everywhere (in `predict`, in a replay, for hindsight's goals), and the policy normalises by the
same statistics from the start of a collection to the end of its updates.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from rlk.hookspecs import hookimpl
from rlk.records import Array, Update
from rlk_running_statistics import Fresh, ObservationStatistics
from rlk_wrappers.chosen_keys import chosen
from rlk_wrappers.config import NormalizeConfig

if TYPE_CHECKING:
    import gymnasium as gym

    from rlk.protocols import State
    from rlk.running.run import Run


class Statistics(ObservationStatistics):
    """Normalises observations, and keeps the moments of the returns by which rewards are scaled.

    Attributes:
        returns: moments of the discounted return, a single number.
    """

    def __init__(self, space: gym.Space[Any] | None, clip_obs: float, epsilon: float) -> None:
        super().__init__(space, clip_obs, epsilon)
        self.returns = self.add_moments("return", 1)


class Normalizer:
    """Keeps the statistics up to date; a run has one, among its plugins.

    Args:
        config: the settings of `normalize`.
        space: of one environment's observations.
    """

    def __init__(self, config: NormalizeConfig, space: gym.Space[Any]) -> None:
        self.config = config
        normalised = chosen(space, config.norm_obs_keys) if config.norm_obs else None
        self.statistics = Statistics(normalised, config.clip_obs, config.epsilon)
        self.statistics.fixed = not config.training
        self._observation, self._returns = Fresh(self.statistics.size), Fresh(1)
        self._sees = config.training and self.statistics.size > 0
        self._follows = config.training and config.norm_reward
        #: Whether environments return scaled rewards; else rewards are scaled when they are
        #: sampled.
        self.at_collection = config.norm_reward

    # ---- called by the environments --------------------------------------------------------------

    def see(self, observation: Any, which: Array | None = None) -> None:
        """Add observations [N, ...] to the moments: all, or those of the rows in `which`."""
        if self._sees:
            rows = self.statistics.rows(observation)
            self._observation.add(rows if which is None else rows[which])

    def follow(self, returns: Array) -> None:
        """Add the discounted returns of all environments, float64 [N], to the moments."""
        if self._follows:
            self._returns.add(returns[:, None])

    def scaled(self, reward: Array) -> Array:
        """Rewards [N] divided by the standard deviation of returns, including this collection's."""
        clip = self.config.clip_reward
        found: Array = reward / np.float32(math.sqrt(self._variance() + self.config.epsilon))
        return np.minimum(np.maximum(found, -clip, out=found), clip, out=found)

    def _variance(self) -> float:
        """The variance of all returns so far."""
        base, (mean, var, count) = self.statistics.returns, self._returns.moments()
        before = base.count
        total, delta = before + count, float(mean[0] - base.mean[0])
        squares = float(base.var[0]) * before + float(var[0]) * count
        return (squares + delta * delta * before * count / total) / total

    # ---- hooks of a run --------------------------------------------------------------------------

    @hookimpl
    def rlk_filter_observation(self) -> Statistics:
        """Part of the policy even if it changes nothing, so that every model has the statistics."""
        return self.statistics

    @hookimpl
    def rlk_wrap_update(self, run: Run) -> Callable[..., Any] | None:
        """Off-policy, rewards are stored unscaled, and scaled when they are sampled."""
        if run.plan.algorithm.component.collects != "off-policy" or not self.config.norm_reward:
            return None
        self.at_collection = False
        clip, epsilon, returns = (
            self.config.clip_reward,
            self.config.epsilon,
            self.statistics.returns,
        )

        def wrapper(update: Callable[..., Update]) -> Callable[..., Update]:
            def scaled(batch: Any, optimise: Any) -> Update:
                std = math.sqrt(float(returns.var[0]) + epsilon)
                reward = (batch.reward / std).clamp(-clip, clip)
                return update(dataclasses.replace(batch, reward=reward), optimise)

            return scaled

        return wrapper

    @hookimpl(tryfirst=True)
    def rlk_wrap_collector(self, run: Run) -> Callable[..., Any] | None:
        """On-policy, the very first collection only gives statistics; a second one is learnt from.

        Else a policy would learn from raw observations in its first updates, and then find all of
        them changed.
        """
        if run.plan.algorithm.component.collects != "on-policy" or not self._sees:
            return None

        def wrapper(collect: Callable[[], bool]) -> Callable[[], bool]:
            def with_statistics() -> bool:
                if self.statistics.observation.count < 1:  # as they begin
                    if not collect():
                        return False
                    self._merge(run)
                    self.statistics.refresh()
                return collect()

            return with_statistics

        return wrapper

    @hookimpl
    def rlk_rollout_start(self) -> None:
        self.statistics.refresh()

    @hookimpl
    def rlk_rollout_end(self, run: Run) -> None:
        self._merge(run)

    def _merge(self, run: Run) -> None:
        """Merge what all ranks have seen in this collection, so that all have the same moments."""
        mine = self._observation.moments(), self._returns.moments()
        for observation, returns in run.communicator.gather(mine):
            self.statistics.observation.merge(*observation)
            self.statistics.returns.merge(*returns)
        self._observation.clear()
        self._returns.clear()

    # ---- what the moments do not hold yet, in the middle of a collection -------------------------

    def state_dict(self) -> State:
        return {
            "observation": self._observation.state_dict(),
            "returns": self._returns.state_dict(),
        }

    def load_state_dict(self, state: State) -> None:
        self._observation.load_state_dict(state["observation"])
        self._returns.load_state_dict(state["returns"])
