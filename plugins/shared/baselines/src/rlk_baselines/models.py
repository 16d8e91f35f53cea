"""Base classes of models: actor-critic, off-policy, and off-policy with a deterministic policy."""

from __future__ import annotations

import warnings
from typing import Any, ClassVar

from rlk import spaces
from rlk.agent import Agent
from rlk.records import Array
from rlk.running.clock import Clock
from rlk.running.observation_check import observation_check
from rlk_baselines.callback_variables import AccumulatedVariables
from rlk_baselines.callback_variables.episodes import Episodes
from rlk_baselines.callback_variables.segment import Segment
from rlk_baselines.common.base_class import BaseRLModel
from rlk_baselines.common.vec_env import VecEnv
from rlk_baselines.environments.spaces import planned_spaces
from rlk_baselines.noise_objects import show_strength, with_objects
from rlk_baselines.policies.stepping import (
    ActorCriticStep,
    ContinuousStep,
    DeterministicStep,
    SteppedPolicy,
)
from rlk_baselines.refusals import Refused
from rlk_baselines.replays.normalized_replay import NormalizedReplay, originals_of
from rlk_baselines.replays.replay_view import ReplayView
from rlk_baselines.replays.transitions import add_transition


class ActorCriticRLModel(BaseRLModel):
    """The base class of models that learn a policy and a value function on-policy, and of ACER."""

    @property
    def n_batch(self) -> int:
        """Timesteps per collection, summed over all environments (A2C, ACER, ACKTR, PPO2)."""
        return int(self.n_steps) * (self.n_envs or 1)

    @property
    def act_model(self) -> ActorCriticStep:
        """The policy, for single steps; Stable Baselines has several graphs, with other names."""
        return ActorCriticStep(self)

    step_model = train_model = policy_pi = act_model

    @property
    def initial_state(self) -> Array | None:
        """The state before the first step, float [n_envs, S]; None if there is no recurrence."""
        return self.act_model.initial_state

    def step(
        self, obs: Any, state: Any = None, mask: Any = None, deterministic: bool = False
    ) -> tuple[Array, Array, Array | None, Array]:
        """Actions, values, states and negative log-probabilities: see `act_model.step`."""
        return self.act_model.step(obs, state, mask, deterministic)

    def value(self, obs: Any, state: Any = None, mask: Any = None) -> Array:
        """The values of observations: see `act_model.value`."""
        return self.act_model.value(obs, state, mask)

    def proba_step(self, obs: Any, state: Any = None, mask: Any = None) -> Any:
        """The probabilities of actions: see `act_model.proba_step`."""
        return self.act_model.proba_step(obs, state, mask)


class SegmentModel(ActorCriticRLModel):
    """The base class of GAIL, PPO1 and TRPO, which learn from one environment on every rank."""

    trains_over_mpi = True
    learns_from_vectors = False
    rows_every = 1
    lam: float
    entcoeff: float
    #: Whether the model learns from the environment's rewards, not from those of a discriminator.
    knows_rewards: ClassVar[bool] = True

    def own_constants(self, total_timesteps: int) -> dict[str, Any]:
        found = {"policy": self.policy_pi, "env": self.get_env(), "gail": not self.knows_rewards}
        found["horizon"] = self.agent.run.algorithm.steps_per_collect()
        return found | ({"reward_giver": None} if self.knows_rewards else {})

    def accumulated(self, before: Clock) -> list[AccumulatedVariables]:
        """As in `BaseRLModel`, unless the model learns from one environment."""
        run = self.agent.run
        if run.n_envs > 1:
            return super().accumulated(before)
        return [Segment(run, knows_rewards=self.knows_rewards)]


class OffPolicyRLModel(BaseRLModel):
    """The base class of models that learn from a replay storage."""

    is_off_policy = True
    learns_from_vectors = False
    acts_deterministically = True
    buffer_size: int
    batch_size: int
    #: Whether policy and critics each have a CNN of their own.
    has_cnns_apart: ClassVar[bool] = False
    #: The class of `step_model`.
    stepped: ClassVar[type[SteppedPolicy]] = ContinuousStep
    #: The class of `replay_buffer`.
    replayed: ClassVar[type[ReplayView]] = ReplayView

    @property
    def step_model(self) -> Any:
        """The policy, for single steps."""
        return self.stepped(self)

    policy_tf = step_model

    def accumulated(self, before: Clock) -> list[AccumulatedVariables]:
        """As in `BaseRLModel`; an episode that an earlier call left unfinished goes on."""
        run = self.agent.run
        if self.learns_from_vectors or run.n_envs > 1:
            return []
        running, normalize = run.collector.state_dict(), self.get_vec_normalize_env()
        return_, length = float(running["returns"][0]), int(running["lengths"][0])
        is_reset_first = running["observation"] is None
        if normalize is not None and not is_reset_first:
            return_ = float(normalize.get_original_returns()[0])
        return [Episodes(normalize, [return_], length)]

    def _set_initial(self, given: dict[str, Any], env: VecEnv | None) -> None:
        super()._set_initial(with_objects(given), env)

    def _use(self, agent: Agent) -> None:
        super()._use(agent)
        show_strength(self._given.get("param_noise"), agent.run)
        self._check_observation = observation_check(agent.run)

    def _policy_settings(self) -> dict[str, Any]:
        settings = super()._policy_settings()
        if self.has_cnns_apart and settings["policy"] in ("CnnPolicy", "LnCnnPolicy"):
            settings.setdefault("policy.share_encoder", False)
        return settings

    def _act(self, observation: Any, state: Any, mask: Any, deterministic: bool) -> tuple[Any, Any]:
        if deterministic:
            return super()._act(observation, state, mask, deterministic)
        batch, was_batched = spaces.batched(self.observation_space, observation)
        self._check_observation(batch)
        actions = self.step_model.sample(batch)
        return (actions if was_batched else actions[0]), None

    def _plugins(self) -> list[Any]:
        """As in `Constructed`, with a plugin for `VecNormalize`."""
        found = [*super()._plugins(), *self.own_plugins()]
        normalize = originals_of(self._env)
        if normalize is not None:
            found.append(NormalizedReplay(normalize))
        return found

    def _can_keep_agent(self, old: VecEnv) -> bool:
        """As in `Constructed`; also, the replay needs the same `VecNormalize`, or none in both."""
        return super()._can_keep_agent(old) and originals_of(old) is originals_of(self._env)

    def awaited_spaces(self, like: VecEnv) -> tuple[Any, Any]:
        """The spaces of observations and of actions that environments to act in must have.

        Args:
            like: such environments; HER takes two forms of observations.
        """
        return planned_spaces(self._env)

    def own_plugins(self) -> list[Any]:
        """The plugins that this model class needs; HER uses those of its `model_class`."""
        return []

    @property
    def replay_buffer(self) -> ReplayView:
        """A view of the replay storage."""
        return self.replayed(self)

    @replay_buffer.setter
    def replay_buffer(self, value: Any) -> None:
        raise Refused(
            f"{type(self).__name__}.replay_buffer cannot be set: each model has a replay of its "
            "own. The other model's agent.save_replay_buffer(path) and agent.load_replay_buffer("
            "path) of this one's copy the contents."
        )

    def is_using_her(self) -> bool:
        """Whether the replay relabels goals in hindsight."""
        return any(one.name == "hindsight-replay" for one in self.agent.plan.storages)

    def replay_buffer_add(
        self, obs_t: Any, action: Any, reward: float, obs_tp1: Any, done: bool, info: Any
    ) -> None:
        """Add a transition to the replay.

        Args:
            obs_t, obs_tp1: the observations before and after the step, unnormalised.
            action: in a Box, scaled to -1 to 1 as in the replay (`scale_action` of
                `common.math_util` does this); otherwise as the environment takes it.
            reward: the reward, unnormalised.
            done: whether the episode ended. It was truncated if `info` says so.
            info: the info of the step.

        Raises:
            ValueError: for an action that the policy cannot choose.
        """
        add_transition(self.agent.run, obs_t, action, reward, obs_tp1, done, info)


class DeterministicModel(OffPolicyRLModel):
    """The base class of models with a deterministic policy."""

    stepped = DeterministicStep

    def action_probability(
        self,
        observation: Any,
        state: Any = None,
        mask: Any = None,
        actions: Any = None,
        logp: bool = False,
    ) -> Any:
        """Warn and return None, because a deterministic policy has no probabilities.

        Raises:
            ValueError: if `actions` are passed.
        """
        text = f"{type(self).__name__} acts by a deterministic policy, without probabilities."
        if actions is not None:
            raise ValueError(text)
        warnings.warn(text, stacklevel=2)
