"""What was asked for, from keywords, and one spec on top of another."""

from __future__ import annotations

import attrs
import numpy as np
import pytest

from rlk.planning.spec import RunSpec, flatten, make_spec

# ---- keywords -----------------------------------------------------------------------------------


def test_keywords_are_what_was_said():
    given = {"n_envs": 2, "policy": "mlp", "gamma": 0.5, "learning_rate": 1e-3}
    spec = make_spec("dqn", given)
    assert (spec.algo, spec.given) == ("dqn", given)
    assert (spec.given.get("policy"), spec.given.get("seed")) == ("mlp", None)


def test_none_says_nothing_of_the_run_and_is_a_value_of_a_setting():
    given = {"seed": None, "policy": None, "out": None, "preset": None, "env": None, "act": None}
    assert make_spec("dqn", given).given == {"act": None}


def test_a_table_under_a_slot_is_the_settings_of_its_component():
    spec = make_spec("dqn", {"policy": {"layers": [64]}, "prioritized-replay": {"alpha": 0.5}})
    assert spec.given.get("policy") is None
    assert spec.given == {"policy.layers": [64], "prioritized-replay.alpha": 0.5}


def test_a_table_under_env_is_an_id_and_keywords():
    spec = make_spec("dqn", {"env": {"id": "CartPole-v1", "gravity": 9.0}})
    assert spec.given == {"env": "CartPole-v1", "env.gravity": 9.0}


def test_a_table_that_an_environment_takes_stays_a_table():
    spec = make_spec("dqn", {"env": {"id": "roads", "config": {"lanes": 3, 0: {}}}})
    assert spec.given == {"env": "roads", "env.config": {"lanes": 3, 0: {}}}


def test_an_array_is_one_value():
    sigma = np.zeros(2)
    assert make_spec("algo", {"noise": {"sigma": sigma}}).given == {"noise.sigma": sigma}


def test_one_plugin_may_be_given_without_a_list():
    assert make_spec("dqn", {"plugins": "monitor"}).plugins == ("monitor",)


def test_zero_and_false_are_something_that_was_said():
    spec = make_spec("dqn", {"seed": 0, "double_q": False, "verbose": 0})
    assert spec.given == {"seed": 0, "double_q": False, "verbose": 0}


# ---- one spec on top of another -----------------------------------------------------------------


def test_what_the_upper_spec_leaves_unsaid_comes_from_the_lower():
    upper = make_spec("", {"n_envs": 2, "gamma": 0.5})
    lower = make_spec("dqn", {"n_envs": 8, "seed": 3, "gamma": 0.9, "lam": 0.8}, origin="spec.toml")
    found = upper.over(lower)
    assert found.algo == "dqn"
    assert found.given == {"n_envs": 2, "seed": 3, "gamma": 0.5, "lam": 0.8}


def test_plugins_of_both_are_joined_the_lower_ones_first():
    upper, lower = make_spec("dqn", {"plugins": ["b"]}), make_spec("dqn", {"plugins": ["a"]})
    assert upper.over(lower).plugins == ("a", "b")


def test_who_said_something_is_known_after_joining():
    upper = make_spec("dqn", {"gamma": 0.5})
    lower = make_spec("dqn", {"gamma": 0.9, "lam": 0.8, "seed": 1}, origin="spec.toml")
    origin = upper.over(lower).origins
    assert origin["lam"].by == origin["seed"].by == "spec.toml"
    assert "gamma" not in origin  # the command line's, which is what no origin means


def test_a_seed_of_zero_is_not_overruled():
    assert make_spec("dqn", {"seed": 0}).over(make_spec("dqn", {"seed": 5})).given["seed"] == 0


def test_a_spec_cannot_be_changed():
    with pytest.raises(attrs.exceptions.FrozenInstanceError):
        RunSpec(algo="dqn").algo = "sac"


def test_nested_tables_become_dotted_keys():
    tree = {"a": 1, "b": {"c": 2, "d": {"e": 3}}, "f": {}, "g": [1, {"h": 2}]}
    assert flatten(tree) == {"a": 1, "b.c": 2, "b.d.e": 3, "g": [1, {"h": 2}]}
