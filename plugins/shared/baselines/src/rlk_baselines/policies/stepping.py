"""The policy of a model for single steps: actions, values and probabilities as arrays.

In Stable Baselines, a policy object has tensors of TensorFlow's graph, and methods that run them.
These classes have the methods. Shapes: B observations, A discrete actions, S numbers of a recurrent
state.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, ClassVar, cast

import numpy as np
import torch
from torch import Tensor

from rlk import spaces
from rlk.records import Array
from rlk.running.acting import episode_starts
from rlk_action_scaling import scaled
from rlk_baselines.common.distributions import (
    ProbabilityDistributionType,
    make_proba_dist_type,
)
from rlk_baselines.common.math_util import scale_action
from rlk_baselines.noise_objects import parameter_noise, samples
from rlk_networks import as_tensor
from rlk_networks.actor import mode, sample
from rlk_networks.recurrent import is_recurrent
from rlk_on_policy.recurrent import checked_state, stepped

if TYPE_CHECKING:
    from rlk_baselines.common.base_class import BaseRLModel


#: Names of tensors in TensorFlow's graph -> what to use instead: of all policies, and of some.
_GRAPH = {
    **dict.fromkeys(("obs_ph", "action_ph", "processed_obs"), "step(obs), which takes arrays"),
    **dict.fromkeys(("sess", "reuse", "policy"), "model.agent.run.policy, the torch module"),
    "policy_proba": "proba_step(obs)",
}
_OF_ACTOR_CRITICS = {
    **dict.fromkeys(("action", "neglogp"), "step(obs), which gives actions, values, … and neglogp"),
    **dict.fromkeys(("value_fn", "value_flat"), "value(obs)"),
    "deterministic_action": "step(obs, deterministic=True)",
    "proba_distribution": "proba_step(obs), or pdtype, which makes distributions of tensors",
}
_OF_ACTORS = {
    "make_actor": "model.agent.run.policy.pi, the actor as a torch module",
    **dict.fromkeys(
        ("make_critic", "make_critics"), "model.agent.run.policy.qf, the critic as a torch module"
    ),
}


class SteppedPolicy:
    """The base class of the policies.

    Args:
        model: the model. Every call uses its current parameters.
    """

    n_steps = 1  #: steps per call
    graph: ClassVar[Mapping[str, str]] = _GRAPH  #: unavailable names, and what to use instead

    def __init__(self, model: BaseRLModel) -> None:
        self._model = model

    def __getattr__(self, name: str) -> Any:
        """Raise AttributeError, with what to use instead of a tensor in TensorFlow's graph."""
        instead = f": it is TensorFlow's. Write {self.graph[name]}" if name in self.graph else ""
        raise AttributeError(f"the policy has no attribute {name!r}{instead}")

    @property
    def _run(self) -> Any:
        return self._model.agent.run

    @property
    def ob_space(self) -> Any:
        """The observation space of one environment."""
        return self._model.observation_space

    @property
    def ac_space(self) -> Any:
        """The action space of one environment."""
        return self._model.action_space

    @property
    def n_env(self) -> int:
        """The number of environments that the model learns from."""
        return int(self._run.n_envs)

    @property
    def n_batch(self) -> int:
        """The number of observations in one step of all environments."""
        return self.n_env * self.n_steps

    @property
    def is_discrete(self) -> bool:
        """Whether the action space is a Discrete."""
        return spaces.kind(self.ac_space) == "Discrete"

    @property
    def recurrent(self) -> bool:
        """Whether the policy is recurrent."""
        return is_recurrent(self._run.policy)

    @property
    def initial_state(self) -> Array | None:
        """The state before the first step, float [n_envs, S]; None if it is not recurrent."""
        return self._before(self._run.n_envs)

    def proba_step(self, obs: Any, state: Any = None, mask: Any = None) -> Any:
        """The probabilities of actions, for observations [B, ...]: see `action_probability`."""
        batch, _ = spaces.batched(self._run.plan.observation_space, obs)
        return self._model.action_probability(batch, state, mask)

    def _before(self, n_envs: int) -> Any:
        """The state of `n_envs` environments before their first step, [n_envs, S]."""
        return self._run.algorithm.actor(self._run.streams.numpy("predict")).start(n_envs)

    def _encoded(self, obs: Any, state: Any, mask: Any) -> tuple[Tensor, Array | None]:
        """Features [B, F] and the next state [B, S], for observations [B, ...] or a single one."""
        run = self._run
        batch, _ = spaces.batched(run.plan.observation_space, obs)
        if not self.recurrent:
            return run.policy.encode(as_tensor(batch, run.device)), None
        size = spaces.batch_size(batch)
        start = episode_starts(size, state, mask)
        before = self._before(size) if state is None else checked_state(run.policy, state, size)
        features, after = stepped(run.policy, batch, before, start, run.device)
        return features, after.cpu().numpy()

    def _head(self, name: str, features: Tensor) -> Any:
        return self._run.policy.get_submodule(name)(features)


class ActorCriticStep(SteppedPolicy):
    """The policy of A2C, ACER, ACKTR, GAIL, PPO1, PPO2 and TRPO, with its value function."""

    graph: ClassVar[Mapping[str, str]] = {**_GRAPH, **_OF_ACTOR_CRITICS}

    @property
    def pdtype(self) -> ProbabilityDistributionType:
        """The family of distributions of the actions."""
        return make_proba_dist_type(self.ac_space)

    @torch.inference_mode()
    def step(
        self, obs: Any, state: Any = None, mask: Any = None, deterministic: bool = False
    ) -> tuple[Array, Array, Array | None, Array]:
        """Choose actions for observations [B, ...], and evaluate them.

        Args:
            obs: observations as the environment returns them; a single one is a batch of one.
            state: float [B, S], from the previous call; None starts an episode.
            mask: bool [B], whether the observation is the first of an episode.
            deterministic: whether to take the most likely actions instead of samples.

        Returns:
            Actions [B, ...] as the environment takes them; values float [B]; the next states
            [B, S], or None; and the negative log-probabilities of the unclipped actions, float [B].
        """
        features, after = self._encoded(obs, state, mask)
        distribution, parameters = self._run.distribution, self._head("pi", features)
        if deterministic:
            act = mode(distribution, parameters)
        else:
            stream = self._run.streams.numpy("predict")
            noise = distribution.noise(stream, len(parameters))
            act = sample(distribution, parameters, noise, (), ())
        log_prob = distribution.log_prob(parameters, as_tensor(act.action, self._run.device))
        value = self._value(features, parameters)
        return act.env_action, value.cpu().numpy(), after, -log_prob.cpu().numpy()

    @torch.inference_mode()
    def value(self, obs: Any, state: Any = None, mask: Any = None) -> Array:
        """The values of observations, float [B]; arguments as in `step`."""
        features, _ = self._encoded(obs, state, mask)
        return self._value(features, self._head("pi", features)).cpu().numpy()

    def _value(self, features: Tensor, parameters: Tensor) -> Tensor:
        """The value [B]; for ACER, which has no value head, the expectation of its Q values."""
        if hasattr(self._run.policy, "vf"):
            value: Tensor = self._head("vf", features)[:, 0]
        else:
            value = (torch.softmax(parameters, -1) * self._head("qf", features)).sum(-1)
        return value


class QStep(SteppedPolicy):
    """The policy of DQN."""

    graph: ClassVar[Mapping[str, str]] = {
        **_GRAPH,
        "q_values": "step(obs), which gives actions and Q values",
    }

    @torch.inference_mode()
    def step(
        self, obs: Any, state: Any = None, mask: Any = None, deterministic: bool = True
    ) -> tuple[Array, Array, None]:
        """Actions [B], Q values float [B, A], and None, for observations [B, ...].

        Args:
            obs: observations as the environment returns them; a single one is a batch of one.
            state, mask: ignored, because the policy is not recurrent.
            deterministic: whether to take the actions with the largest Q values, instead of samples
                from the softmax of the Q values.
        """
        features, _ = self._encoded(obs, state, mask)
        q = self._head("qf", features)
        chosen: Array = q.argmax(1).cpu().numpy()
        if not deterministic:
            noise = self._run.streams.numpy("predict").gumbel(size=q.shape)
            chosen = (q.cpu().numpy() + noise).argmax(1)
        return chosen + int(self.ac_space.start), q.cpu().numpy(), None

    def sample(self, batch: Any) -> Array:
        """Actions of the environment for observations [B, ...], from the softmax of Q values."""
        return self.step(batch, deterministic=False)[0]


class ContinuousStep(SteppedPolicy):
    """The policy of SAC."""

    graph: ClassVar[Mapping[str, str]] = {**_GRAPH, **_OF_ACTORS}

    def step(
        self, obs: Any, state: Any = None, mask: Any = None, deterministic: bool = False
    ) -> Array:
        """Actions in [-1, 1], float [B, ...]; `unscale_action` scales them to the action space.

        Args:
            obs: observations as the environment returns them; a single one is a batch of one.
            state, mask: ignored, because the policy is not recurrent.
            deterministic: whether to take the most likely actions instead of samples.
        """
        batch, _ = spaces.batched(self._run.plan.observation_space, obs)
        actions, _ = self._model.agent.predict(batch, state, mask, deterministic)
        return scale_action(self.ac_space, actions)

    @torch.inference_mode()
    def proba_step(self, obs: Any, state: Any = None, mask: Any = None) -> Any:
        """Mean and standard deviation of the Gaussian before its tanh, each float [B, D]."""
        features, _ = self._encoded(obs, state, mask)
        parameters = self._run.distribution.gaussian(self._head("pi", features))
        mean, log_std = parameters.chunk(2, -1)
        return mean.cpu().numpy(), log_std.exp().cpu().numpy()

    def sample(self, batch: Any) -> Array:
        """Actions of the environment for observations [B, ...], sampled from the policy."""
        return self._model.agent.predict(batch, deterministic=False)[0]


class DeterministicStep(ContinuousStep):
    """The policy of TD3, which is deterministic."""

    def sample(self, batch: Any) -> Array:
        """Actions of the environment for observations [B, ...], with the model's noise.

        Parameter noise uses the perturbed policy of the first environment; action noise is sampled
        once per observation.
        """
        run, perturbed = self._run, parameter_noise(self._run)
        policy = run.policy if perturbed is None else perturbed.actor.policies[0]
        size = spaces.batch_size(batch)
        actor = run.algorithm.actor(run.streams.numpy("predict")).with_policy(policy)
        act = actor.act(batch, None, np.ones(size, bool), deterministic=True)
        noise = self._model.action_noise
        if noise is None:
            return cast(Array, act.env_action)
        drawn = samples(noise, run.streams.numpy("predict"), size)
        return scaled(self.ac_space)(np.clip(act.action + drawn, -1.0, 1.0))

    def proba_step(self, obs: Any, state: Any = None, mask: Any = None) -> Array:
        """As `step`, because a deterministic policy has no probabilities."""
        return self.step(obs, state, mask)


class ValuedStep(DeterministicStep):
    """The policy of DDPG."""

    @torch.inference_mode()
    def value(self, obs: Any, action: Any, state: Any = None, mask: Any = None) -> Array:
        """The critic's Q values of actions, float [B].

        Args:
            obs: observations as the environment returns them, [B, ...].
            action: actions in [-1, 1], float [B, ...].
            state, mask: ignored, because the policy is not recurrent.
        """
        features, _ = self._encoded(obs, state, mask)
        own = as_tensor(np.asarray(action, np.float32).reshape(len(features), -1), self._run.device)
        q = self._run.policy.qf(features, own)
        return self._run.algorithm.scale.value(q).cpu().numpy()
