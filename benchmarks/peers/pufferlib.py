"""PufferLib's vectors `Serial` and `Multiprocessing`, and its trainer of PPO, `PuffeRL`.

After the last step of an episode, its vectors take a step that only resets the environment.
"""

from __future__ import annotations

import atexit
import itertools
from collections.abc import Callable
from functools import partial
from typing import Any

import pufferlib
from cases._training import Subject, environment
from pufferlib import pufferl
from pufferlib.emulation import GymnasiumPufferEnv
from pufferlib.vector import Multiprocessing, Serial, make
from torch import Tensor, nn

from peers import Count, OnPolicy

MakeEnv = Callable[[], Any]
#: What a benchmark has no use for is off, and the rest is what the other libraries do.
FIXED = {
    "seed": 0,
    "device": "cpu",
    "torch_deterministic": True,
    "cpu_offload": False,
    "use_rnn": False,
    "compile": False,
    "precision": "float32",
    "anneal_lr": False,
    "checkpoint_interval": 10**9,
    "total_timesteps": 10**9,
    "optimizer": "adam",
    "adam_beta1": 0.9,
    "adam_beta2": 0.999,
    "adam_eps": 1e-5,
    "vf_clip_coef": 1e9,
    "vtrace_rho_clip": 1.0,
    "vtrace_c_clip": 1.0,
    "prio_alpha": 0.0,
    "prio_beta0": 1.0,
}


def in_one_process(make_env: MakeEnv, n_envs: int, count_returns: bool = False) -> Any:
    """Serial steps one environment after the other."""
    return make(_creator(make_env, count_returns), backend=Serial, num_envs=n_envs)


def in_several_processes(make_env: MakeEnv, n_envs: int, n_workers: int) -> Any:
    """Multiprocessing allows one worker for each core. The workers and it wait in busy loops."""
    creator = _creator(make_env, count_returns=False)
    envs = make(creator, backend=Multiprocessing, num_envs=n_envs, num_workers=n_workers)
    atexit.register(envs.close)  # or the interpreter would wait for workers that never end
    return envs


def ppo(settings: OnPolicy) -> Subject:
    """Its minibatches are whole collections of single environments, drawn anew for each update."""
    envs = in_one_process(partial(environment, settings.env), settings.n_envs, count_returns=True)
    config = {
        **FIXED,
        "learning_rate": settings.learning_rate,
        "batch_size": settings.collected,
        "bptt_horizon": settings.n_steps,
        "minibatch_size": settings.batch_size,
        "max_minibatch_size": settings.batch_size,
        "update_epochs": settings.n_epochs,
        "gamma": settings.gamma,
        "gae_lambda": settings.gae_lambda,
        "clip_coef": settings.clip,
        "vf_coef": 2 * settings.vf_coef,  # its loss of the value is halved
        "ent_coef": settings.ent_coef,
        "max_grad_norm": settings.max_grad_norm,
    }
    pufferl.ADVANTAGE_CUDA = False  # True wherever a CUDA compiler is, even without a GPU
    pufferl.PuffeRL.print_dashboard = lambda *_, **__: None
    trainer = pufferl.PuffeRL(config, envs, _ActorCritic(envs, settings))
    trainer.utilization.stop()
    count = Count(trainer.optimizer)

    def learn(steps: int) -> None:
        for _ in range(steps // settings.collected):
            trainer.evaluate()
            trainer.train()

    return Subject(learn, lambda: count.steps)


class _ActorCritic(nn.Module):
    """A network for the policy and one for the value, as in the other libraries."""

    def __init__(self, envs: Any, settings: OnPolicy) -> None:
        super().__init__()
        size = envs.single_observation_space.shape[0]
        self.actor = _net(size, settings, envs.single_action_space.n)
        self.critic = _net(size, settings, 1)

    def forward(self, observation: Tensor, state: Any = None) -> tuple[Tensor, Tensor]:
        return self.actor(observation), self.critic(observation)

    forward_eval = forward


def _net(size: int, settings: OnPolicy, outputs: int) -> nn.Sequential:
    widths = [size, *settings.layers]
    hidden: list[nn.Module] = []
    for inputs, width in itertools.pairwise(widths):
        hidden += [nn.Linear(inputs, width), nn.Tanh()]
    return nn.Sequential(*hidden, nn.Linear(widths[-1], outputs))


def _creator(make_env: MakeEnv, count_returns: bool) -> Callable[..., Any]:
    if count_returns:
        return partial(GymnasiumPufferEnv, env_creator=partial(_counting, make_env))
    return partial(GymnasiumPufferEnv, env_creator=make_env)


def _counting(make_env: MakeEnv) -> Any:
    return pufferlib.EpisodeStats(make_env())
