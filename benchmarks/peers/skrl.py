"""skrl's agents with its sequential trainer, which neither tracks nor writes anything."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import torch
from cases._training import Subject, environment
from skrl.agents.torch.a2c import A2C
from skrl.agents.torch.ddpg import DDPG
from skrl.agents.torch.dqn import DQN
from skrl.agents.torch.ppo import PPO
from skrl.agents.torch.sac import SAC
from skrl.agents.torch.td3 import TD3
from skrl.envs.wrappers.torch import wrap_env
from skrl.memories.torch import RandomMemory
from skrl.models.torch import CategoricalMixin, DeterministicMixin, GaussianMixin, Model
from skrl.resources.noises.torch import GaussianNoise
from skrl.trainers.torch import SequentialTrainer
from torch import nn

from peers import Count, OffPolicy, OnPolicy, gymnasium_vector

SILENT = {"write_interval": 0, "checkpoint_interval": 0}


class Network(Model):
    """An MLP of the observations, or of these and the actions if `critic`."""

    def __init__(
        self,
        env: Any,
        layers: Sequence[int],
        outputs: int,
        act: Any = nn.ReLU,
        critic: bool = False,
    ) -> None:
        spaces = {"observation_space": env.observation_space, "action_space": env.action_space}
        super().__init__(**spaces, device="cpu")
        self.critic = critic
        sizes = (self.num_observations + self.num_actions * critic, *layers)
        hidden = [
            part for before, after in pairwise(sizes) for part in (nn.Linear(before, after), act())
        ]
        self.net = nn.Sequential(*hidden, nn.Linear(sizes[-1], outputs))

    def compute(self, inputs: dict[str, Any], role: str) -> tuple[torch.Tensor, dict[str, Any]]:
        given = inputs["observations"]
        if self.critic:
            given = torch.cat([given, inputs["taken_actions"]], dim=1)
        return self.net(given), {}


class Values(DeterministicMixin, Network):
    """Values, of states, of actions, or of both."""

    def __init__(self, *arguments: Any, **keywords: Any) -> None:
        Network.__init__(self, *arguments, **keywords)
        DeterministicMixin.__init__(self)


class Discrete(CategoricalMixin, Network):
    """The policy of A2C and PPO."""

    def __init__(self, *arguments: Any, **keywords: Any) -> None:
        Network.__init__(self, *arguments, **keywords)
        CategoricalMixin.__init__(self)


class Deterministic(Values):
    """The policy of DDPG and TD3."""

    def compute(self, inputs: dict[str, Any], role: str) -> tuple[torch.Tensor, dict[str, Any]]:
        return self._d_max_actions * torch.tanh(self.net(inputs["observations"])), {}


class Gaussian(GaussianMixin, Network):
    """The policy of SAC, as skrl's examples have it: the mean is squashed, not the action."""

    def __init__(self, *arguments: Any, **keywords: Any) -> None:
        Network.__init__(self, *arguments, **keywords)
        GaussianMixin.__init__(self)

    def compute(self, inputs: dict[str, Any], role: str) -> tuple[torch.Tensor, dict[str, Any]]:
        mean, log_std = self.net(inputs["observations"]).chunk(2, dim=1)
        return self._g_max_actions * torch.tanh(mean), {"log_std": log_std}


def a2c(settings: OnPolicy) -> Subject:
    """Its optimiser is always Adam, and the value's loss has no coefficient."""
    return _on_policy(A2C, settings, {"mini_batches": 1})


def ppo(settings: OnPolicy) -> Subject:
    own = {
        "mini_batches": settings.collected // settings.batch_size,
        "learning_epochs": settings.n_epochs,
        "ratio_clip": settings.clip,
        "value_clip": 0,
        "value_loss_scale": settings.vf_coef,
    }
    return _on_policy(PPO, settings, own)


def dqn(settings: OffPolicy) -> Subject:
    """Its loss is the squared error."""
    env = wrap_env(environment(settings.env), verbose=False)
    models = {
        name: Values(env, settings.layers, int(env.action_space.n))
        for name in ("q_network", "target_q_network")
    }
    own = {
        "learning_rate": settings.learning_rate,
        "polyak": 1.0,
        "target_update_interval": settings.target_every,
        "exploration_scheduler": lambda timestep, timesteps: settings.epsilon,
    }
    agent = _agent(DQN, env, models, settings, own)
    return _off_policy(agent, env, agent.optimizer)


def ddpg(settings: OffPolicy) -> Subject:
    env = wrap_env(environment(settings.env), verbose=False)
    models = _policies(env, settings, "policy", "target_policy")
    models |= _critics(env, settings, "critic", "target_critic")
    agent = _agent(DDPG, env, models, settings, _deterministic_settings(settings))
    return _off_policy(agent, env, agent.critic_optimizer)


def td3(settings: OffPolicy) -> Subject:
    env = wrap_env(environment(settings.env), verbose=False)
    models = _policies(env, settings, "policy", "target_policy") | _twins(env, settings)
    own = {
        "policy_delay": settings.policy_delay,
        "smooth_regularization_noise": GaussianNoise,
        "smooth_regularization_noise_kwargs": {"mean": 0.0, "std": settings.target_policy_noise},
        "smooth_regularization_clip": settings.target_noise_clip,
    }
    agent = _agent(TD3, env, models, settings, _deterministic_settings(settings) | own)
    return _off_policy(agent, env, agent.critic_optimizer)


def sac(settings: OffPolicy) -> Subject:
    env = wrap_env(environment(settings.env), verbose=False)
    policy = Gaussian(env, settings.layers, 2 * env.action_space.shape[0])
    own = {
        "learning_rate": settings.learning_rate,
        "polyak": settings.tau,
        "initial_entropy_value": 1.0,
    }
    agent = _agent(SAC, env, {"policy": policy} | _twins(env, settings), settings, own)
    return _off_policy(agent, env, agent.critic_optimizer)


def _policies(env: Any, settings: OffPolicy, *names: str) -> dict[str, Model]:
    return {name: Deterministic(env, settings.layers, env.action_space.shape[0]) for name in names}


def _critics(env: Any, settings: OffPolicy, *names: str) -> dict[str, Model]:
    return {name: Values(env, settings.layers, 1, critic=True) for name in names}


def _twins(env: Any, settings: OffPolicy) -> dict[str, Model]:
    names = ("critic_1", "critic_2", "target_critic_1", "target_critic_2")
    return _critics(env, settings, *names)


def _deterministic_settings(settings: OffPolicy) -> dict[str, Any]:
    """What DDPG and TD3 share."""
    return {
        "learning_rate": settings.learning_rate,
        "polyak": settings.tau,
        "exploration_noise": GaussianNoise,
        "exploration_noise_kwargs": {"mean": 0.0, "std": settings.sigma},
    }


def _agent(
    make: Any, env: Any, models: dict[str, Model], settings: OffPolicy, own: dict[str, Any]
) -> Any:
    # Without replacement, the memory would shuffle the indices of all transitions for each batch.
    memory = RandomMemory(memory_size=settings.buffer_size, device="cpu", replacement=True)
    shared = {
        "batch_size": settings.batch_size,
        "discount_factor": settings.gamma,
        "learning_starts": settings.learning_starts,
        "random_timesteps": settings.learning_starts,
        "experiment": SILENT,
    }
    spaces = {"observation_space": env.observation_space, "action_space": env.action_space}
    return make(models=models, memory=memory, **spaces, device="cpu", cfg=shared | own)


def _on_policy(make: Any, settings: OnPolicy, own: dict[str, Any]) -> Subject:
    env = wrap_env(gymnasium_vector(settings), verbose=False)
    models = {
        "policy": Discrete(env, settings.layers, int(env.action_space.n), nn.Tanh),
        "value": Values(env, settings.layers, 1, nn.Tanh),
    }
    shared = {
        "rollouts": settings.n_steps,
        "discount_factor": settings.gamma,
        "gae_lambda": settings.gae_lambda,
        "learning_rate": settings.learning_rate,
        "grad_norm_clip": settings.max_grad_norm,
        "entropy_loss_scale": settings.ent_coef,
        "time_limit_bootstrap": True,
        "experiment": SILENT,
    }
    spaces = {"observation_space": env.observation_space, "action_space": env.action_space}
    memory = RandomMemory(memory_size=settings.n_steps, num_envs=settings.n_envs, device="cpu")
    agent = make(models=models, memory=memory, **spaces, device="cpu", cfg=shared | own)
    return _with_trainer(agent, env, agent.optimizer)


def _with_trainer(agent: Any, env: Any, optimiser: Any) -> Subject:
    quiet = {"disable_progressbar": True, "headless": True, "close_environment_at_exit": False}
    trainer = SequentialTrainer(env=env, agents=agent, cfg=quiet)
    count = Count(optimiser)

    def learn(steps: int) -> None:
        trainer.cfg.timesteps = steps // env.num_envs
        trainer.train()

    return Subject(learn, lambda: count.steps)


def _off_policy(agent: Any, env: Any, optimiser: Any) -> Subject:
    subject = _with_trainer(agent, env, optimiser)

    def learn(steps: int) -> None:
        subject.learn(steps)
        # The trainer counts from 0 again, and only the first call is to begin without updates.
        agent.cfg.learning_starts = agent.cfg.random_timesteps = 0

    return subject._replace(learn=learn)
