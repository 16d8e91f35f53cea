"""Tianshou's procedural interface: algorithm, collector and a trainer without test episodes."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import torch
from cases._training import Subject, environment
from tianshou.algorithm import A2C, DDPG, DQN, PPO, SAC, TD3, TRPO
from tianshou.algorithm.modelfree.ddpg import ContinuousDeterministicPolicy
from tianshou.algorithm.modelfree.dqn import DiscreteQLearningPolicy
from tianshou.algorithm.modelfree.reinforce import DiscreteActorPolicy
from tianshou.algorithm.modelfree.sac import AutoAlpha, SACPolicy
from tianshou.algorithm.optim import AdamOptimizerFactory, RMSpropOptimizerFactory
from tianshou.data import Collector, ReplayBuffer, VectorReplayBuffer
from tianshou.env import DummyVectorEnv
from tianshou.exploration import GaussianNoise
from tianshou.trainer import OffPolicyTrainerParams, OnPolicyTrainerParams
from tianshou.utils.net.common import Net
from tianshou.utils.net.continuous import (
    ContinuousActorDeterministic,
    ContinuousActorProbabilistic,
    ContinuousCritic,
)
from tianshou.utils.net.discrete import DiscreteActor, DiscreteCritic

from peers import Count, OffPolicy, OnPolicy

QUIET = {"max_epochs": 1, "test_collector": None, "show_progress": False, "verbose": False}


def a2c(settings: OnPolicy) -> Subject:
    factory = RMSpropOptimizerFactory(lr=settings.learning_rate, eps=1e-5)
    return _actor_critic(A2C, settings, factory)


def ppo(settings: OnPolicy) -> Subject:
    factory = AdamOptimizerFactory(lr=settings.learning_rate, eps=1e-5)
    return _actor_critic(partial(PPO, eps_clip=settings.clip), settings, factory)


def _actor_critic(make: Callable[..., Any], settings: OnPolicy, optim: Any) -> Subject:
    envs = _environments(settings.env, settings.n_envs)
    algorithm = make(
        policy=_discrete_policy(settings),
        critic=DiscreteCritic(preprocess_net=_hidden(settings)),
        optim=optim,
        vf_coef=settings.vf_coef,
        ent_coef=settings.ent_coef,
        max_grad_norm=settings.max_grad_norm,
        gae_lambda=settings.gae_lambda,
        gamma=settings.gamma,
        max_batchsize=settings.collected,
    )
    return _on_policy(algorithm, envs, settings, settings.n_epochs)


def trpo(settings: OnPolicy) -> Subject:
    """The damping (0.1) and the ten iterations cannot be set, nor minibatches of the value."""
    algorithm = TRPO(
        policy=_discrete_policy(settings),
        critic=DiscreteCritic(preprocess_net=_hidden(settings)),
        optim=AdamOptimizerFactory(lr=settings.learning_rate),
        max_kl=settings.max_kl,
        backtrack_coeff=0.5,
        optim_critic_iters=settings.n_epochs,
        gae_lambda=settings.gae_lambda,
        gamma=settings.gamma,
        max_batchsize=settings.collected,
    )
    envs = _environments(settings.env, settings.n_envs)
    subject, of_value = _on_policy(algorithm, envs, settings, 1), settings.n_epochs
    # One step of the policy for each collection, besides those of the value.
    return subject._replace(updates=lambda: subject.updates() * (1 + of_value) // of_value)


def dqn(settings: OffPolicy) -> Subject:
    env = environment(settings.env)
    policy = DiscreteQLearningPolicy(
        model=Net(
            state_shape=env.observation_space.shape,
            action_shape=_actions(env),
            hidden_sizes=settings.layers,
        ),
        action_space=env.action_space,
        eps_training=settings.epsilon,
    )
    algorithm = DQN(
        policy=policy,
        optim=AdamOptimizerFactory(lr=settings.learning_rate),
        gamma=settings.gamma,
        target_update_freq=settings.target_every,
        is_double=False,
        huber_loss_delta=1.0,
    )
    return _off_policy(algorithm, algorithm.optim, settings)


def ddpg(settings: OffPolicy) -> Subject:
    algorithm = DDPG(policy=_deterministic_policy(settings), **_shared_keywords(settings))
    return _off_policy(algorithm, algorithm.critic_optim, settings)


def td3(settings: OffPolicy) -> Subject:
    algorithm = TD3(
        policy=_deterministic_policy(settings),
        policy_noise=settings.target_policy_noise,
        noise_clip=settings.target_noise_clip,
        update_actor_freq=settings.policy_delay,
        **_shared_keywords(settings),
    )
    return _off_policy(algorithm, algorithm.critic_optim, settings)


def sac(settings: OffPolicy) -> Subject:
    env = environment(settings.env)
    size = env.action_space.shape
    actor = ContinuousActorProbabilistic(
        preprocess_net=Net(state_shape=env.observation_space.shape, hidden_sizes=settings.layers),
        action_shape=size,
        unbounded=True,
        conditioned_sigma=True,
    )
    factory = AdamOptimizerFactory(lr=settings.learning_rate)
    algorithm = SAC(
        policy=SACPolicy(actor=actor, action_space=env.action_space),
        alpha=AutoAlpha(-float(np.prod(size or ())), 0.0, factory),
        **_shared_keywords(settings),
    )
    return _off_policy(algorithm, algorithm.critic_optim, settings)


def _environments(name: str, count: int) -> Any:
    return DummyVectorEnv([partial(environment, name)] * count)


def _actions(env: Any) -> int:
    return int(env.action_space.n)


def _hidden(settings: OnPolicy) -> Any:
    return Net(
        state_shape=environment(settings.env).observation_space.shape,
        hidden_sizes=settings.layers,
        activation=torch.nn.Tanh,
    )


def _discrete_policy(settings: OnPolicy) -> Any:
    env = environment(settings.env)
    actor = DiscreteActor(
        preprocess_net=_hidden(settings), action_shape=_actions(env), softmax_output=False
    )
    return DiscreteActorPolicy(actor=actor, action_space=env.action_space)


def _deterministic_policy(settings: OffPolicy) -> Any:
    env = environment(settings.env)
    actor = ContinuousActorDeterministic(
        preprocess_net=Net(state_shape=env.observation_space.shape, hidden_sizes=settings.layers),
        action_shape=env.action_space.shape,
    )
    return ContinuousDeterministicPolicy(
        actor=actor,
        exploration_noise=GaussianNoise(sigma=settings.sigma),
        action_space=env.action_space,
    )


def _shared_keywords(settings: OffPolicy) -> dict[str, Any]:
    """What DDPG, TD3 and SAC share; the latter two copy the critic for their second."""
    env = environment(settings.env)
    net = Net(
        state_shape=env.observation_space.shape,
        action_shape=env.action_space.shape,
        hidden_sizes=settings.layers,
        concat=True,
    )
    factory = AdamOptimizerFactory(lr=settings.learning_rate)
    return {
        "critic": ContinuousCritic(preprocess_net=net),
        "policy_optim": factory,
        "critic_optim": factory,
        "tau": settings.tau,
        "gamma": settings.gamma,
    }


def _on_policy(algorithm: Any, envs: Any, settings: OnPolicy, repetitions: int) -> Subject:
    memory = VectorReplayBuffer(settings.collected, settings.n_envs)
    collector = Collector(algorithm, envs, memory)
    count = Count(algorithm.optim._optim)

    def learn(steps: int) -> None:
        algorithm.run_training(
            OnPolicyTrainerParams(
                training_collector=collector,
                epoch_num_steps=steps,
                collection_step_num_env_steps=settings.collected,
                batch_size=settings.batch_size or None,
                update_step_num_repetitions=repetitions,
                **QUIET,
            )
        )

    return Subject(learn, lambda: count.steps)


def _off_policy(algorithm: Any, optim: Any, settings: OffPolicy) -> Subject:
    collector = Collector(
        algorithm,
        _environments(settings.env, 1),
        ReplayBuffer(settings.buffer_size),
        exploration_noise=True,
    )
    count = Count(optim._optim)
    collector.reset()

    def learn(steps: int) -> None:
        first = 0 if count.steps else settings.learning_starts
        if first:
            collector.collect(n_step=first, random=True)
        algorithm.run_training(
            OffPolicyTrainerParams(
                training_collector=collector,
                epoch_num_steps=steps - first,
                collection_step_num_env_steps=1,
                update_step_num_gradient_steps_per_sample=1.0,
                batch_size=settings.batch_size,
                **QUIET,
            )
        )

    return Subject(learn, lambda: count.steps)
