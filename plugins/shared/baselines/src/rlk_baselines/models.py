"""The two families of models, and those of the second whose policy is deterministic."""

from __future__ import annotations

import warnings
from typing import Any, ClassVar

from rlk import spaces
from rlk.agent import Agent
from rlk.records import Array
from rlk_adaptive_parameter_noise import AdaptiveParamNoiseSpec
from rlk_baselines.common.base_class import BaseRLModel
from rlk_baselines.common.vec_env import VecEnv
from rlk_baselines.noise_objects import Following, follow, with_objects
from rlk_baselines.normalized_replay import NormalizedReplay, originals_of
from rlk_baselines.policies.stepping import (
    ActorCriticStep,
    ContinuousStep,
    DeterministicStep,
    SteppedPolicy,
)
from rlk_baselines.refusals import Refused
from rlk_baselines.replay_view import ReplayView
from rlk_baselines.transitions import add_transition


class ActorCriticRLModel(BaseRLModel):
    """The models that learn a policy and a value from what they have just collected."""

    @property
    def n_batch(self) -> int:
        """Timesteps of a collection, over all environments (A2C, ACER, ACKTR, PPO2)."""
        return int(self.n_steps) * (self.n_envs or 1)

    @property
    def act_model(self) -> ActorCriticStep:
        """Its policy, to be asked for one step; it has the other names of its graph there, too."""
        return ActorCriticStep(self)

    step_model = train_model = policy_pi = act_model

    @property
    def initial_state(self) -> Array | None:
        """The state before the first step, float [n_envs, S]; None unless its policy remembers."""
        return self.act_model.initial_state

    def step(
        self, obs: Any, state: Any = None, mask: Any = None, deterministic: bool = False
    ) -> tuple[Array, Array, Array | None, Array]:
        """Actions, values, states and neglogp: see `act_model.step`."""
        return self.act_model.step(obs, state, mask, deterministic)

    def value(self, obs: Any, state: Any = None, mask: Any = None) -> Array:
        """The values of observations: see `act_model.value`."""
        return self.act_model.value(obs, state, mask)

    def proba_step(self, obs: Any, state: Any = None, mask: Any = None) -> Any:
        """How likely actions are: see `act_model.proba_step`."""
        return self.act_model.proba_step(obs, state, mask)


class OffPolicyRLModel(BaseRLModel):
    """The models that learn from a replay."""

    learns_from_vectors = False
    acts_deterministically = True
    #: What its policy does in one step.
    stepped: ClassVar[type[SteppedPolicy]] = ContinuousStep

    @property
    def step_model(self) -> Any:
        """Its policy, to be asked for one step."""
        return self.stepped(self)

    policy_tf = step_model

    def _begin(self, given: dict[str, Any], env: VecEnv | None) -> None:
        super()._begin(self.accepted(with_objects(given)), env)

    def accepted(self, given: dict[str, Any]) -> dict[str, Any]:
        """Arguments of the constructor, with older names replaced."""
        return given

    def _take(self, agent: Agent) -> None:
        super()._take(agent)
        follow(self._given.get("param_noise"), agent.run)

    def _act(self, observation: Any, state: Any, mask: Any, deterministic: bool) -> tuple[Any, Any]:
        if deterministic:
            return super()._act(observation, state, mask, deterministic)
        batch, was_batched = spaces.batched(self.observation_space, observation)
        actions = self.step_model.sample(batch)
        return (actions if was_batched else actions[0]), None

    def _plugins(self) -> list[Any]:
        """With what keeps a replay that a `VecNormalize` around the environment calls for."""
        found = [*super()._plugins(), *self.own_plugins()]
        noise = self._given.get("param_noise")
        if isinstance(noise, AdaptiveParamNoiseSpec):
            found.append(Following(noise))
        normalize = originals_of(self._env)
        if normalize is not None:
            found.append(NormalizedReplay(normalize))
        return found

    def _goes_on_from(self, old: VecEnv) -> bool:
        """Also that a replay keeps the originals of the same `VecNormalize`, or of none."""
        return super()._goes_on_from(old) and originals_of(old) is originals_of(self._env)

    def own_plugins(self) -> list[Any]:
        """Plugins that models of this class need; HER has those of the one that learns."""
        return []

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
            obs_t, obs_tp1: the observation before and after; in a `VecNormalize`, as they were
                before it.
            action: of a Box, from -1 to 1 as the replay holds them (`scale_action` of
                `common.math_util` brings one there); otherwise as the environment takes it.
            reward: for it.
            done: whether the episode ended; by a time limit, if info says so.
            info: of the step.

        Raises:
            ValueError: for an action that the policy cannot choose.
        """
        add_transition(self.agent.run, obs_t, action, reward, obs_tp1, done, info)


class DeterministicModel(OffPolicyRLModel):
    """The models whose policy gives one action for an observation."""

    stepped = DeterministicStep

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
