"""`HindsightExperienceReplayWrapper`: a replay buffer that adds transitions with hindsight goals.

It is for a program's own use; `HER` uses rlk's storage instead, which relabels when it samples.
"""

from __future__ import annotations

import copy
from typing import Any

import numpy as np

from rlk_baselines.common.buffers import ReplayBuffer
from rlk_baselines.her.goal_env_wrapper import HERGoalEnvWrapper
from rlk_her import GoalSelectionStrategy

KEY_TO_GOAL_STRATEGY = {one.value: one for one in GoalSelectionStrategy}
#: obs_t, action, reward, obs_tp1, done, info
Step = tuple[Any, Any, float, Any, bool, dict[str, Any]]


class HindsightExperienceReplayWrapper:
    """Stores an episode when it ends, and copies of its transitions with goals that were achieved.

    As in Stable Baselines 2.10, a goal is what another transition started from (`obs_t`): of a
    later one of its episode (future; the last one has none), of the last, of any, or of any in the
    buffer (random). rlk's storage takes what a step led to instead.

    Args:
        replay_buffer: the buffer for the transitions.
        n_sampled_goal: the number of copies per transition.
        goal_selection_strategy: how their goals are chosen.
        wrapped_env: the environment, which converts observations and computes rewards.
    """

    def __init__(
        self,
        replay_buffer: ReplayBuffer,
        n_sampled_goal: int,
        goal_selection_strategy: GoalSelectionStrategy | str,
        wrapped_env: HERGoalEnvWrapper,
    ) -> None:
        self.n_sampled_goal = n_sampled_goal
        self.goal_selection_strategy = GoalSelectionStrategy(goal_selection_strategy)
        self.env, self.replay_buffer = wrapped_env, replay_buffer
        self.episode_transitions: list[Step] = []

    def add(
        self,
        obs_t: Any,
        action: Any,
        reward: float,
        obs_tp1: Any,
        done: bool,
        info: dict[str, Any],
    ) -> None:
        """Add a transition of the current episode; `done` ends it, and stores all of it."""
        self.episode_transitions.append((obs_t, action, reward, obs_tp1, done, info))
        if done:
            self._store_episode()
            self.episode_transitions = []

    def sample(self, *args: Any, **kwargs: Any) -> Any:
        """As in the buffer."""
        return self.replay_buffer.sample(*args, **kwargs)

    def can_sample(self, n_samples: int) -> bool:
        """Whether the buffer has at least `n_samples` transitions, including those of hindsight."""
        return self.replay_buffer.can_sample(n_samples)

    def __len__(self) -> int:
        return len(self.replay_buffer)

    def _goal(self, t: int) -> Any:
        """An achieved goal for transition t of the episode."""
        episode = self.episode_transitions
        strategy = self.goal_selection_strategy
        chosen: Any
        if strategy == GoalSelectionStrategy.RANDOM:
            chosen = self.replay_buffer.storage[np.random.randint(len(self.replay_buffer))]
        elif strategy == GoalSelectionStrategy.FINAL:
            chosen = episode[-1]
        else:
            first = t + 1 if strategy == GoalSelectionStrategy.FUTURE else 0
            chosen = episode[np.random.randint(first, len(episode))]
        return self.env.convert_obs_to_dict(chosen[0])["achieved_goal"]

    def _store_episode(self) -> None:
        future = self.goal_selection_strategy == GoalSelectionStrategy.FUTURE
        last = len(self.episode_transitions) - 1
        for t, step in enumerate(self.episode_transitions):
            obs_t, action, reward, obs_tp1, done, _ = step
            self.replay_buffer.add(obs_t, action, reward, obs_tp1, done)
            if future and t == last:
                break  # no later transition whose goal it could take
            for _ in range(self.n_sampled_goal):
                self._add_with_goal(step, self._goal(t))

    def _add_with_goal(self, step: Step, goal: Any) -> None:
        obs_t, action, _, obs_tp1, _, info = copy.deepcopy(step)
        before, after = map(self.env.convert_obs_to_dict, (obs_t, obs_tp1))
        before["desired_goal"] = after["desired_goal"] = goal
        reward = self.env.compute_reward(after["achieved_goal"], goal, info)
        rows = (self.env.convert_dict_to_obs(before), self.env.convert_dict_to_obs(after))
        self.replay_buffer.add(rows[0], action, float(reward), rows[1], False)
