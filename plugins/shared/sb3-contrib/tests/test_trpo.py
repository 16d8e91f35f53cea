"""TRPO with the parameters of sb3-contrib."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import torch

from rlk_baselines.refusals import Refused
from rlk_sb3.common.env_util import make_vec_env
from rlk_sb3_contrib import TRPO
from rlk_sb3_contrib.trpo import MlpPolicy
from rlk_testing.tools.sb3_model_files import CART, OF_A2C, SIZES, actor_critic, saved


def settings(model: Any) -> Any:
    return model.agent.plan.algorithm.config


def test_its_parameters_reach_trpo_and_the_natural_gradient() -> None:
    model = TRPO(
        "MlpPolicy", make_vec_env("CartPole-v1", 2), n_steps=8, batch_size=4, target_kl=0.02
    )
    config = settings(model)
    assert config.vf_batch_size == 4
    assert (config.timesteps_per_batch, config.vf_stepsize, config.vf_iters) == (16, 1e-3, 10)
    assert (config.gamma, config.lam) == (0.99, 0.95)
    chosen = {part.name: part.config for part in model.agent.plan.choices()}
    step = chosen["natural-gradient"]
    assert (step.max_kl, step.cg_iters, step.cg_damping) == (0.02, 15, 0.1)
    assert (step.line_search_factor, step.line_search_steps, step.kl_slack) == (0.8, 10, 1.0)
    assert chosen["adam"].eps == 1e-5


def test_it_learns_and_is_loaded_for_another_number_of_environments(tmp_path: Path) -> None:
    model = TRPO(MlpPolicy, make_vec_env("CartPole-v1", 2), n_steps=16, seed=0)
    seen: list[int] = []
    model.learn(64, callback=lambda found, _: seen.append(found["self"].num_timesteps) or True)
    assert (model.num_timesteps, seen[-1]) == (64, 64)
    model.save(tmp_path / "model")
    loaded = TRPO.load(tmp_path / "model", env=make_vec_env("CartPole-v1", 3))
    assert (loaded.n_steps, settings(loaded).timesteps_per_batch) == (16, 48)
    loaded.set_env(make_vec_env("CartPole-v1", 1))
    assert settings(loaded.learn(16)).timesteps_per_batch == 16
    loaded.n_steps = 32
    assert settings(loaded).timesteps_per_batch == 32


def test_state_dependent_exploration() -> None:
    model = TRPO("MlpPolicy", "Pendulum-v1", n_steps=16, use_sde=True, sde_sample_freq=4).learn(16)
    assert model.agent.plan.distribution.name == "gsde"
    assert model.agent.plan.distribution.config.sample_freq == 4


@pytest.mark.parametrize("other", [{"normalize_advantage": False}, {"sub_sampling_factor": 2}])
def test_what_has_one_value_here_is_refused(other: dict[str, Any]) -> None:
    with pytest.raises(Refused, match=next(iter(other))):
        TRPO("MlpPolicy", "CartPole-v1", **other)


def test_a_model_that_sb3_contrib_has_saved_acts_as_there(tmp_path: Path) -> None:
    n = actor_critic(4, 2)
    own = {"cg_max_steps": 15, "n_steps": 8, "target_kl": 0.03, "n_critic_updates": 4}
    there = {k: v for k, v in OF_A2C.items() if k not in ("vf_coef", "ent_coef", "max_grad_norm")}
    path = saved(tmp_path, "common.policies.ActorCriticPolicy", there | own, n, **CART, **SIZES)
    model = TRPO.load(path)
    config = settings(model)
    assert (config.timesteps_per_batch, config.max_kl, config.vf_iters) == (8, 0.03, 4)
    seen = torch.randn(3, 4, generator=torch.Generator().manual_seed(0))
    expected = n["action_net"](n["mlp_extractor.policy_net"](seen)).softmax(1)
    found = model.action_probability(seen.numpy())
    torch.testing.assert_close(torch.as_tensor(found), expected.detach(), rtol=1e-4, atol=1e-6)


def test_what_may_be_set_while_it_learns_has_the_names_of_its_parameters() -> None:
    model: Any = TRPO("MlpPolicy", "CartPole-v1", n_steps=16)

    def set_it(*_: Any) -> bool:
        model.gamma = 0.9
        return True

    with pytest.raises(Refused, match=r"TRPO.gamma .*\(only learning_rate can be\)"):
        model.learn(16, callback=set_it)
