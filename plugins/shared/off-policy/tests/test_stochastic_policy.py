"""The head and the actor of stochastic policies, and what a plan with one refuses."""

from __future__ import annotations

from types import SimpleNamespace

import gymnasium as gym
import numpy as np
import pytest

from rlk.errors import PlanError
from rlk_mlp.config import MlpConfig
from rlk_mlp.network import Mlp
from rlk_networks.actor import DistributionActor
from rlk_networks.held_noise import HeldNoiseActor
from rlk_off_policy.checks import check_maximum_entropy
from rlk_off_policy.defaults import CONTINUOUS, SQUASHED_GSDE, STOCHASTIC
from rlk_off_policy.stochastic_policy import sampling_actor, stochastic_head
from rlk_squashed_gaussian.distribution import SquashedGaussian

SPACE = gym.spaces.Box(-2.0, 2.0, (2,), np.float32)
OBSERVATIONS = gym.spaces.Box(-1.0, 1.0, (3,), np.float32)
START = np.zeros(4, np.bool_)


class Held(SquashedGaussian):
    """Holds its noise for two steps."""

    hold_steps = 2


def run_with(distribution):
    algorithm = SimpleNamespace(title="algorithm 'mine'")
    run = SimpleNamespace(
        distribution=distribution,
        plan=SimpleNamespace(algorithm=algorithm),
        device="cpu",
    )
    heads = {"pi": stochastic_head(run)}
    run.policy = Mlp(MlpConfig(layers=[8])).build(OBSERVATIONS, heads)
    return run


def schedule(is_new=True):
    return SimpleNamespace(is_new_collection=lambda: is_new)


def test_a_distribution_without_a_gradient_is_refused_with_what_it_lacks():
    with pytest.raises(PlanError, match=r"algorithm 'mine' needs .* object has none\. Leave"):
        run_with(object())


def test_its_actor_samples_from_the_generator_and_stores_only_actions():
    run, observation = run_with(SquashedGaussian(SPACE)), np.ones((4, 3), np.float32)
    actor = sampling_actor(run, schedule(), np.random.default_rng(0))
    assert type(actor) is DistributionActor
    found = actor.act(observation, None, START)
    assert found.extras == {} and found.action[0].tolist() != found.action[1].tolist()
    again = sampling_actor(run, schedule(), np.random.default_rng(0))
    assert np.array_equal(again.act(observation, None, START).action, found.action)
    assert not np.array_equal(actor.act(observation, None, START).action, found.action)


def test_noise_is_held_until_the_first_step_after_updates():
    run = run_with(Held(SPACE))
    held = [sampling_actor(run, schedule(new), np.random.default_rng(0)) for new in (True, False)]
    carry = {**held[0].start(4), "noise": np.zeros((4, 2), np.float32)}
    assert all(type(actor) is HeldNoiseActor for actor in held)
    assert [actor.begin(carry)["noise"] is None for actor in held] == [True, False]


# ---- the plan ------------------------------------------------------------------------------------


def checked(squash_output=None, **settings):
    """The check of settings; `squash_output` is the distribution's, if it has that setting."""
    config = SimpleNamespace(**{"ent_coef": "auto", "target_entropy": "auto", **settings})
    own = SimpleNamespace(squash_output=squash_output)
    distribution = SimpleNamespace(config=None if squash_output is None else own)
    algorithm = SimpleNamespace(title="algorithm 'mine'")
    check_maximum_entropy(config, SimpleNamespace(algorithm=algorithm, distribution=distribution))


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"squash_output": False}, "'mine' learns values .* squash_output=false leaves them"),
        (
            {"use_sde": False, "use_sde_at_warmup": True},
            "no effect without use_sde. Use --set use_sde=true, or",
        ),
        ({"ent_coef": 0.1, "target_entropy": -1.0}, "ent_coef=0.1 is fixed. Use .*ent_coef=auto"),
    ],
)
def test_settings_that_would_have_no_effect_are_refused(settings, message):
    with pytest.raises(PlanError, match=message):
        checked(**settings)


def test_an_algorithm_without_state_dependent_noise_need_not_have_its_settings():
    checked()


def test_settings_that_have_an_effect_are_taken():
    checked(squash_output=True, use_sde=True, use_sde_at_warmup=True, target_entropy=-1.0)
    checked(ent_coef=0.1)


def test_the_default_distribution_is_squashed_whichever_it_is():
    assert {**CONTINUOUS, **SQUASHED_GSDE}.items() <= STOCHASTIC.items()
    assert STOCHASTIC["distribution"] == {"Box": "squashed-gaussian"}
    assert SQUASHED_GSDE["distribution.squash_output"] is True
