"""The two families of models, and those of the second whose policy is deterministic."""

from __future__ import annotations

import warnings
from typing import Any

from rlk_baselines.common.base_class import BaseRLModel
from rlk_baselines.normalized_replay import NormalizedReplay
from rlk_baselines.refusals import Refused
from rlk_baselines.replay_view import ReplayView
from rlk_baselines.transitions import add_transition


class ActorCriticRLModel(BaseRLModel):
    """The models that learn a policy and a value from what they have just collected."""

    @property
    def n_batch(self) -> int:
        """Timesteps of a collection, over all environments (A2C, ACER, ACKTR, PPO2)."""
        return int(self.n_steps) * (self.n_envs or 1)


class OffPolicyRLModel(BaseRLModel):
    """The models that learn from a replay."""

    learns_from_vectors = False
    acts_deterministically = True

    def _plugins(self) -> list[Any]:
        """Whatever keeps a replay that a `VecNormalize` around the environment calls for."""
        normalize = self.get_vec_normalize_env()
        if normalize is None or normalize.observation_space != self._space("observation"):
            return []
        return [NormalizedReplay(normalize)]

    @property
    def replay_buffer(self) -> ReplayView:
        """What it has collected."""
        return ReplayView(self)

    def is_using_her(self) -> bool:
        """Whether goals are relabelled in hindsight."""
        return any(one.name == "hindsight-replay" for one in self.agent.plan.storages)

    def replay_buffer_add(
        self, obs_t: Any, action: Any, reward: float, obs_tp1: Any, done: bool, info: Any
    ) -> None:
        """Put a transition into the replay.

        Args:
            obs_t, obs_tp1: the observation before and after.
            action: of the environment.
            reward: for it.
            done: whether the episode ended; by a time limit, if info says so.
            info: of the step.
        """
        add_transition(self.agent.run, obs_t, action, reward, obs_tp1, done, info)


class DeterministicModel(OffPolicyRLModel):
    """The models whose policy gives one action for an observation."""

    def action_probability(
        self,
        observation: Any,
        state: Any = None,
        mask: Any = None,
        actions: Any = None,
        logp: bool = False,
    ) -> Any:
        """None, with a warning: its actions have no probabilities.

        Raises:
            ValueError: if that of given actions is asked for.
        """
        text = f"{type(self).__name__} acts by a deterministic policy, without probabilities."
        if actions is not None:
            raise ValueError(text)
        warnings.warn(text, stacklevel=2)


def refuse_replay_wrapper(replay_wrapper: Any) -> None:
    """ValueError for a wrapper of the replay, which HER passes to `learn` in Stable Baselines."""
    if replay_wrapper is not None:
        raise Refused(
            "replay_wrapper has no effect here. For hindsight make HER(policy, env, model_class)."
        )
