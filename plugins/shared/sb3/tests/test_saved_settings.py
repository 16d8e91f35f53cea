"""A model's class and settings in the files of Stable-Baselines3."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any

import pytest

from rlk_baselines.foreign_files.making import LeftOut
from rlk_sb3 import A2C, DQN, PPO
from rlk_sb3.common.buffers import ReplayBuffer
from rlk_sb3.saved import files
from rlk_testing.tools.sb3_model_files import (
    CART,
    OF_A2C,
    OF_ALL,
    OF_DQN,
    OF_PPO,
    SIZES,
    actor_critic,
    mlp,
    saved,
)
from rlk_testing.tools.stable_baselines_pickles import object_there, packed, stand_in


def test_a_schedule_that_is_a_number_is_read(tmp_path: Path) -> None:
    where = "stable_baselines3.common.utils"
    with (
        stand_in(f"{where}.FloatSchedule") as schedule,
        stand_in(f"{where}.ConstantSchedule") as constant,
        stand_in(f"{where}.LinearSchedule") as linear,
    ):
        outer, inner, falling = schedule(), constant(), linear()
        inner.val, outer.value_schedule, falling.start = 0.13, inner, 0.1
        clip_range, rate = packed(outer), packed(falling)
    n, policy = actor_critic(4, 2), "common.policies.ActorCriticPolicy"
    own = {**OF_PPO, "clip_range": clip_range, "learning_rate": rate}
    with pytest.warns(LeftOut, match="learning_rate are functions or objects") as said:
        model = PPO.load(saved(tmp_path, policy, own, n, **CART, **SIZES))
    assert model.clip_range == 0.13
    (left_out,) = [one.message for one in said if isinstance(one.message, LeftOut)]
    assert left_out.names == ("learning_rate",)


def test_a_replay_of_hindsight_is_passed_again(tmp_path: Path) -> None:
    n: dict[str, Any] = {"q_net.q_net": mlp(4, 6, 2), "q_net_target.q_net": mlp(4, 6, 2)}
    where = "stable_baselines3.her.her_replay_buffer.HerReplayBuffer"
    own = {**CART, "policy_kwargs": {"net_arch": [6]}, "replay_buffer_class": object_there(where)}
    own["replay_buffer_kwargs"] = {"n_sampled_goal": 4}
    path = saved(tmp_path, "dqn.policies.DQNPolicy", OF_DQN, n, **own)
    with pytest.warns(LeftOut, match="replay_buffer_class are functions or objects"):
        assert DQN.load(path).replay_buffer_class is ReplayBuffer
    usual = {**own, "replay_buffer_kwargs": {}}
    usual["replay_buffer_class"] = object_there("stable_baselines3.common.buffers.ReplayBuffer")
    with warnings.catch_warnings():
        warnings.simplefilter("error", LeftOut)
        DQN.load(saved(tmp_path, "dqn.policies.DQNPolicy", OF_DQN, n, **usual))


def test_returns_of_several_steps_come_from_its_file(tmp_path: Path) -> None:
    n: dict[str, Any] = {"q_net.q_net": mlp(4, 6, 2), "q_net_target.q_net": mlp(4, 6, 2)}
    own = {**CART, "policy_kwargs": {"net_arch": [6]}}
    path = saved(tmp_path, "dqn.policies.DQNPolicy", OF_DQN | {"n_steps": 3}, n, **own)
    model = DQN.load(path)
    assert model.n_steps == 3
    assert model.agent.plan.storages[-1].config.n_steps == 3


def test_an_object_that_no_model_here_takes_is_not_to_be_passed_again(tmp_path: Path) -> None:
    own: dict[str, Any] = {**OF_PPO, "rollout_buffer_class": object_there("program.Buffer")}
    n, policy = actor_critic(4, 2), "common.policies.ActorCriticPolicy"
    path = saved(tmp_path, policy, own, n, **CART, **SIZES)
    with pytest.warns(UserWarning, match="rollout_buffer_class is an object in the file") as said:
        PPO.load(path)
    assert not any(isinstance(one.message, LeftOut) for one in said)


def test_the_episodes_that_means_are_of(tmp_path: Path) -> None:
    n, policy = actor_critic(4, 2), "common.policies.ActorCriticPolicy"
    own = {**OF_PPO, "_stats_window_size": 17}
    model = PPO.load(saved(tmp_path, policy, own, n, **CART, **SIZES))
    assert model.stats_window_size == 17
    assert model.agent.run.metrics.recent_episodes.maxlen == 17


def of_a2c(folder: Path, optimiser: str | None, **keywords: Any) -> Path:
    kwargs: dict[str, Any] = dict(SIZES["policy_kwargs"])
    with stand_in(optimiser or "unused.Optimiser") as kind:
        if optimiser:
            kwargs |= {"optimizer_class": kind, "optimizer_kwargs": keywords}
        own: dict[str, Any] = {**CART, "policy_kwargs": packed(kwargs)}
    name = "common.policies.ActorCriticPolicy"
    return saved(folder, name, OF_A2C, actor_critic(4, 2), **own)


def test_the_optimiser_of_a2c_comes_from_its_file(tmp_path: Path) -> None:
    rmsprop = "torch.optim.rmsprop.RMSprop"
    usual = {"alpha": 0.99, "weight_decay": 0}
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model = A2C.load(of_a2c(tmp_path, rmsprop, eps=0.001, **usual))
        assert (model.use_rms_prop, model.rms_prop_eps) == (True, 0.001)
        assert A2C.load(of_a2c(tmp_path, None)).agent.plan.optimiser.name == "adam"
        other = A2C.load(of_a2c(tmp_path, rmsprop, alpha=0.5)).agent.plan.optimiser.config
        assert (other.kind, other.arguments["alpha"]) == ("RMSprop", 0.5)
        other = A2C.load(of_a2c(tmp_path, "torch.optim.adamw.AdamW")).agent.plan.optimiser.config
        assert (other.kind, other.arguments["eps"]) == ("AdamW", 1e-8)
    with pytest.warns(UserWarning, match=r"optimiser was LBFGS\(history_size=2\), which A2C does"):
        A2C.load(of_a2c(tmp_path, "torch.optim.lbfgs.LBFGS", history_size=2))
    like_there = "stable_baselines3.common.sb2_compat.rmsprop_tf_like.RMSpropTFLike"
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model = A2C.load(of_a2c(tmp_path, like_there, eps=0.1))
    assert model.agent.plan.optimiser.config.variant == "tensorflow"
    assert model.agent.run.optimise.groups["policy"].options["eps"] == 0.1
    with pytest.warns(UserWarning, match=r"optimiser was RMSpropTFLike\(momentum=0\.5\)"):
        A2C.load(of_a2c(tmp_path, like_there, momentum=0.5))


def test_adams_epsilon_and_betas_come_from_the_file(tmp_path: Path) -> None:
    n, policy = actor_critic(4, 2), "common.policies.ActorCriticPolicy"
    for given, expected in (
        ({"eps": 1e-3}, (1e-3, 0.9)),
        ({"betas": [0.5, 0.9]}, (1e-8, 0.5)),
        ({"eps": 1e-5}, (1e-5, 0.9)),
    ):
        kwargs = {**SIZES["policy_kwargs"], "optimizer_kwargs": given}
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            own: dict[str, Any] = {**CART, "policy_kwargs": kwargs}
            model = PPO.load(saved(tmp_path, policy, OF_PPO, n, **own))
        (step,) = model.agent.run.optimise.steps.values()
        assert (step.eps, step.beta1) == expected
    kwargs = {**SIZES["policy_kwargs"], "optimizer_kwargs": {"weight_decay": 0.1}}
    model = PPO.load(saved(tmp_path, policy, OF_PPO, n, **CART, policy_kwargs=kwargs))
    assert model.agent.plan.optimiser.config.arguments["weight_decay"] == 0.1
    kwargs = {**SIZES["policy_kwargs"], "optimizer_kwargs": {"fused": True}}
    with pytest.warns(UserWarning, match=r"optimiser was Adam\(fused=True\)"):
        PPO.load(saved(tmp_path, policy, OF_PPO, n, **CART, policy_kwargs=kwargs))


def test_the_class_shows_whoever_wrote_the_policy(tmp_path: Path) -> None:
    own = object_there("program.Policy")
    path = saved(tmp_path, "", OF_A2C, actor_critic(4, 2), **CART, **SIZES, policy_class=own)
    assert files.read(path)[0] == "A2C"
    new = "sb3_contrib.new.policies.NewPolicy"
    for policy, owner in ((new, "sb3-contrib"), ("program.Policy", "a class of a program's own")):
        given = {**CART, "policy_class": object_there(policy)}
        with pytest.raises(ValueError, match=f"a model of {owner}, which is not loaded: only "):
            files.read(saved(tmp_path, "", OF_ALL, {}, **given))
