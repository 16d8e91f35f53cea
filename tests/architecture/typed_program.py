"""What type checkers know of a program that uses rlk; mypy checks this file, and nothing runs it.

Lines that a checker must refuse have an `ignore`, which mypy refuses where it is not needed.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, assert_type

import gymnasium as gym
from torch import Tensor

import rlk
from rlk.agent import Agent
from rlk.hookspecs import (
    Add,
    Collect,
    LossFunction,
    UpdateFunction,
    WrapsAdd,
    WrapsCollect,
    WrapsLoss,
    WrapsUpdate,
)
from rlk.optimise import Optimiser
from rlk.planning.plan import Plan
from rlk.protocols import Optimise
from rlk.records import Array, Batch, Loss, Schema, Step, Update
from rlk.registry.entry import Entry
from rlk.registry.registry import Registry
from rlk.running.lent_env import LentEnv
from rlk.running.run import Run
from rlk_baselines import HER, PPO2
from rlk_baselines import SAC as SAC2
from rlk_replay.protocol import ReplayBase
from rlk_sb3 import PPO, SAC
from rlk_sb3_contrib import MaskablePPO


def agents(table: Mapping[str, Any]) -> None:
    made = rlk.make("ppo2", env="CartPole-v1", n_envs=4, settings={"policy.layers": [64, 64]})
    assert_type(made, Agent)
    rlk.make("ppo2", policy={"layers": [64]}, learning_rate=1e-3, settings=table)
    rlk.make("ppo2", n_envs="four")  # type: ignore[arg-type]
    rlk.load("model", plugins=["monitor"], settings={"env.gravity": 5.0}, seed=1)
    rlk.load("model", plugins=3)  # type: ignore[arg-type]
    assert_type(made.get_env(), LentEnv)


def models(env: gym.Env[Any, Any], rate: Callable[[float], float]) -> None:
    model = PPO2("MlpPolicy", env, 0.9, learning_rate=rate, cliprange="lin_0.2")
    assert_type(model.learn(1e5), PPO2)
    assert_type(model.gamma, float)
    PPO2("MlpPolicy", env, gama=0.9)  # type: ignore[call-arg]
    PPO2("MlpPolicy", env, gamma="0.9")  # type: ignore[arg-type]
    HER("MlpPolicy", env, SAC2, n_sampled_goal=4, verbose=1)
    SAC("MlpPolicy", "Pendulum-v1", train_freq=(1, "episode"), policy_kwargs={"net_arch": [64]})
    assert_type(PPO.load("model", env, device=None), PPO)
    for kind in (PPO, MaskablePPO):
        kind("MlpPolicy", env, n_steps=128).learn(1000, callback=lambda *_: True)
    PPO("MlpPolicy", env, nsteps=128)  # type: ignore[call-arg]
    MaskablePPO("MlpPolicy", env, use_sde=True)  # type: ignore[call-arg]


def parts_of(run: Run) -> None:
    assert_type(run.device, str)
    assert_type(run.plan, Plan)
    assert_type(run.action_space, gym.Space[Any])
    assert_type(run.observation_space, gym.Space[Any])
    print(run.device.type)  # type: ignore[attr-defined]


class MyReplay:
    """Registered below."""


@rlk.registry.environments.register("my-environments")
def my_environment(name: str) -> int | None:
    return 1 if name == "mine" else None


def registered() -> None:
    assert_type(rlk.registry.storages, Registry)
    assert_type(rlk.registry.storages.register("mine", MyReplay, summary="mine"), type[MyReplay])
    assert_type(rlk.registry.find("mine"), Entry)
    accepted: Callable[[str], int | None] = my_environment
    print(rlk.registry.storagez, accepted(3))  # type: ignore[attr-defined, arg-type]


class Watch:
    """A listener of every vector step."""

    @rlk.hookimpl
    def rlk_step(self, run: Run) -> bool:
        return run.timesteps < 5


def learning(agent: Agent) -> None:
    agent.learn(10, callback=lambda run: run.timesteps < 5)
    agent.learn(10, callback=[Watch(), lambda run: None])
    agent.learn_until(10, callback=Watch())
    agent.learn(10, callback=lambda run: run.timestepz < 5)  # type: ignore[attr-defined]


class Learner:
    """Its two updates call `optimise` with arguments that fit the loss, and that do not."""

    def loss(self, batch: Batch, weight: Tensor, scale: float = 1.0) -> Loss:
        return Loss(scale * weight * batch.reward.mean())

    def update(self, batch: Batch, optimise: Optimise) -> Update:
        done = optimise("policy", self.loss, batch, batch.weight)
        optimise("policy", self.loss, batch, batch.weight, 0.5)
        return Update(metrics=done.metrics)

    def wrong_update(self, batch: Batch, optimise: Optimise) -> None:
        optimise("policy", self.loss, batch)  # type: ignore[arg-type]
        optimise("policy", self.loss, batch, 1.0)  # type: ignore[arg-type]
        optimise("policy", self.update, batch, optimise)  # type: ignore[arg-type]


def seam(optimiser: Optimiser) -> Optimise:
    return optimiser


class Wraps:
    """Wrappers, and some that forget what they return."""

    @rlk.hookimpl
    def rlk_wrap_collector(self, run: Run) -> WrapsCollect:
        def wrap(collect: Collect) -> Collect:
            return lambda: collect() and run.timesteps < 5

        return wrap

    @rlk.hookimpl
    def rlk_wrap_loss(self, run: Run, group: str) -> WrapsLoss | None:
        def wrap(loss: LossFunction) -> LossFunction:
            return lambda *args: loss(*args)._replace(accept=None)

        return wrap if group == "policy" else None

    @rlk.hookimpl
    def rlk_wrap_add(self, run: Run) -> WrapsAdd:
        def wrap(add: Add) -> Add:  # type: ignore[return]
            def stores(step: Step) -> None:
                add(step._replace(reward=step.reward + 1))

            print(stores)

        return wrap

    @rlk.hookimpl
    def rlk_wrap_update(self, run: Run) -> WrapsUpdate:
        def wrap(update: UpdateFunction) -> UpdateFunction:
            def updates(batch: Batch, optimise: Optimise) -> None:
                update(batch, optimise)

            return updates  # type: ignore[return-value]

        return wrap


class Decorates:
    """Asks the storage that it decorates, once for what it has not."""

    def open(self, base: ReplayBase, schema: Schema) -> None:
        self.size = base.slots * base.variants + len(base)
        self.base = base

    def offered(self, index: Array) -> None:
        self.base.offer(self.base.following(index, -1))
        self.base.offered(index)  # type: ignore[attr-defined]
