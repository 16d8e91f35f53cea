"""Numbers with which nothing could be learnt, though no formula fails: refused while planning."""

from __future__ import annotations

import math
import typing

import attrs
import pytest

from rlk.errors import PlanError
from rlk.registry.kernel import default_kernel
from rlk.settings import structure

#: Where inf makes every step, or what is learnt from, 0 or not a number.
FINITE = {
    "a2c": ("epsilon",),
    "acer": ("rprop_epsilon", "replay_ratio"),
    "acktr": ("vf_fisher_coef",),
    "adam": ("eps",),
    "adaptive-parameter-noise": ("initial_stddev", "adoption_coefficient"),
    "bc": ("adam_epsilon",),
    "ddpg": ("reward_scale",),
    "diag-gaussian": ("log_std_init",),
    "evaluation": ("stop_at",),
    "gsde": ("log_std_init",),
    "kfac": ("vf_fisher_coef", "epsilon"),
    "natural-gradient": ("max_kl", "cg_damping"),
    "normal-noise": ("mean", "sigma"),
    "normalize": ("epsilon",),
    "observation-statistics": ("epsilon",),
    "ornstein-uhlenbeck-noise": ("mean", "sigma", "theta", "dt", "initial_noise"),
    "ppo1": ("adam_epsilon",),
    "prioritized-replay": ("alpha", "eps"),
    "stop-on-reward": ("reward_threshold",),
    "trpo": ("max_kl", "cg_damping"),
}
#: Bounds that a tensor is clipped to, which takes no numbers beyond float32 but inf.
BOUNDS = {
    "acer": ("correction_term",),
    "ddpg": ("observation_range", "return_range"),
    "gsde": ("clip_mean",),
    "normalize": ("clip_obs",),
    "observation-range": ("range",),
    "td3": ("target_noise_clip",),
}


def refuse(component, setting, value):
    """Check that a component refuses a value; its other settings have their defaults."""
    with pytest.raises(PlanError, match=setting):
        structure(component.config, {setting: value}, component.name)


@pytest.mark.parametrize(("name", "setting"), [(n, s) for n in FINITE for s in FINITE[n]])
def test_an_infinite_number_is_refused(name, setting):
    component = default_kernel().registries.find(name).component()
    refuse(component, setting, math.inf)


@pytest.mark.parametrize(("name", "setting"), [(n, s) for n in FINITE for s in FINITE[n]])
def test_a_number_beyond_float32_is_refused_where_an_infinite_one_is(name, setting):
    component = default_kernel().registries.find(name).component()
    refuse(component, setting, 1e300)


@pytest.mark.parametrize(("name", "setting"), [(n, s) for n in BOUNDS for s in BOUNDS[n]])
def test_a_bound_beyond_float32_is_refused_and_inf_is_none(name, setting):
    component = default_kernel().registries.find(name).component()
    too_large, no_bound = 1e300, math.inf
    if "range" in setting:
        too_large, no_bound = [0.0, too_large], [0.0, no_bound]
    structure(component.config, {setting: no_bound}, component.name)
    refuse(component, setting, too_large)


def with_nan(kind):
    """Values of a type of numbers that are not numbers."""
    if "tuple" in kind:
        return [(math.nan, 0.9), (0.1, math.nan)]
    return [math.nan, [math.nan]] if "list" in kind else [math.nan]


def test_no_setting_is_nan():
    registries, tried = default_kernel().registries, set()
    for component in (entry.component() for entries in registries for entry in entries):
        kinds = typing.get_type_hints(component.config) if component.config else {}
        for field in attrs.fields(component.config) if component.config else ():
            kind = str(kinds[field.name])  # what an alias stands for
            if field.init and "float" in kind:
                tried.add((component.name, field.name))
                for value in with_nan(kind):
                    refuse(component, field.name, value)
    assert {("dqn", "learning_rate"), ("adam", "betas"), ("ddpg", "return_range")} <= tried
    assert len(tried) > 140


def test_rewards_may_be_costs_and_are_never_scaled_to_nothing():
    component = default_kernel().registries.algorithms.get("ddpg").component()
    assert structure(component.config, {"reward_scale": -1.0}, "ddpg").reward_scale == -1.0
    refuse(component, "reward_scale", 0.0)
