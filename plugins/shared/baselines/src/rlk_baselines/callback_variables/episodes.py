"""The variables of callbacks on the episodes of one environment."""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING, Any

import attrs
import numpy as np

from rlk.records import Step
from rlk_baselines.callback_variables import (
    AccumulatedVariables,
    Infos,
    Variables,
    after,
    env_actions,
    first,
)
from rlk_baselines.common.vec_env.vector_view import copied

if TYPE_CHECKING:
    from rlk.running.run import Run
    from rlk_baselines.common.vec_env import VecNormalize


@attrs.define
class Episodes(AccumulatedVariables):
    """The episodes of one environment so far, in this call of `learn`.

    Attributes:
        normalize: the `VecNormalize` around the environment, or None.
        episode_rewards: their returns; the last one is that of the current episode.
        length: steps of the current episode.
        finished: the returns of finished episodes alone.
        episode_lengths, episode_successes: of finished episodes.
        latest: the returns of the latest 100 finished episodes.
    """

    normalize: VecNormalize | None = None
    episode_rewards: list[float] = attrs.field(factory=lambda: [0.0])
    length: int = 0
    finished: list[float] = attrs.field(factory=list)
    episode_lengths: list[int] = attrs.field(factory=list)
    episode_successes: list[float] = attrs.field(factory=list)
    latest: deque[float] = attrs.field(factory=lambda: deque(maxlen=100))
    _mean: float = -np.inf
    _step: int = 0
    _remaining: float = 1.0
    _of_updates: Variables = attrs.field(factory=dict)

    def begin(self, run: Run) -> None:
        """Note the learning rate, and the remaining fraction of the run, of the latest updates."""
        rate = float(next(iter(run.optimise.groups.values())).learning_rate)
        self._of_updates = {"current_lr": rate, "frac": self._remaining}
        self._remaining = run.clock.remaining()

    def see(self, run: Run, step: Step, infos: Infos, found: Variables) -> None:
        algorithm = run.plan.algorithm.name
        ended, reward = bool(found["dones"][0]), float(step.reward[0])
        env_action = env_actions(run, step.action)[0]
        found |= {
            "obs": first(step.observation),
            "new_obs": after(step),
            **dict.fromkeys(("reward", "rew"), reward),
            **dict.fromkeys(("env_action", "unscaled_action", "clipped_action"), env_action),
            **dict.fromkeys(("mean_reward", "mean_100ep_reward"), self._mean),
            "action": step.action[0],
            "done": ended,
            "maybe_is_success": infos[0].get("is_success"),
            "num_episodes": len(self.episode_rewards),
            "can_sample": _can_sample(run),
            "step": self._step,
            "episode_rewards": self.episode_rewards,
            "episode_successes": self.episode_successes,
        }
        found["obs_"], found["new_obs_"], found["reward_"] = self._originals(found, ended)
        if algorithm == "dqn":
            del found["actions"], found["rewards"], found["dones"]  # a sampled batch in DQN's learn
            rate = run.actor.metrics().get("rollout/exploration_rate")
            found |= {} if rate is None else {"update_eps": rate}
        elif algorithm == "ddpg":
            found |= self._by_epoch()
        else:
            found |= self._of_updates

    def _originals(self, found: Variables, ended: bool) -> tuple[Any, Any, float]:
        """Observation, next observation and reward before `VecNormalize` normalised them."""
        if self.normalize is None:
            return found["obs"], found["new_obs"], found["reward"]
        before, now, ends = self.normalize.originals()
        last = copied(ends[0]) if ended and 0 in ends else first(now)
        return first(before), last, float(self.normalize.get_original_reward()[0])

    def _by_epoch(self) -> Variables:
        """The variables of DDPG, for which the whole call of `learn` is one epoch."""
        ended = len(self.episode_lengths)
        return {
            "total_steps": self._step,
            "episode_step": self.length,
            "episode_reward": self.episode_rewards[-1],
            **dict.fromkeys(("episodes", "epoch_episodes"), ended),
            "episode_rewards_history": self.latest,
            "epoch_episode_rewards": self.finished,
            "epoch_episode_steps": self.episode_lengths,
        }

    def add(self, step: Step, infos: Infos) -> None:
        reward = step.reward if self.normalize is None else self.normalize.get_original_reward()
        self.episode_rewards[-1] += float(reward[0])
        self._step += 1
        self.length += 1
        if step.terminated[0] or step.truncated[0]:
            self.finished.append(self.episode_rewards[-1])
            self.latest.append(self.episode_rewards[-1])
            self._mean = round(float(np.mean(self.latest)), 1)
            self.episode_rewards.append(0.0)
            self.episode_lengths.append(self.length)
            self.length = 0
            if infos[0].get("is_success") is not None:
                self.episode_successes.append(float(infos[0]["is_success"]))


def _can_sample(run: Run) -> bool:
    """Whether there is a replay storage that has enough transitions for a batch."""
    size = getattr(run.plan.algorithm.config, "batch_size", None)
    return size is not None and hasattr(run.storage, "__len__") and len(run.storage) >= size
