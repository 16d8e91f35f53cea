from __future__ import annotations

import attrs
import pytest

from rlk.errors import PlanError
from rlk.planning.parse import parse_plugin, parse_setting, parse_value
from rlk.planning.spec import RunSpec, flatten, make_spec

# ---- text ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("1", 1),
        ("1e-3", 0.001),
        ("0.5", 0.5),
        ("true", True),
        ("[64, 64]", [64, 64]),
        ("[64,{pi=[32],vf=[32]}]", [64, {"pi": [32], "vf": [32]}]),
        ('"quoted"', "quoted"),
        ("plain words", "plain words"),
        ("lin_0.001", "lin_0.001"),
        ("none", None),
        ("None", None),
        ("", ""),
        ("1.2.3", "1.2.3"),
        ("50_000", 50_000),
    ],
)
def test_a_value_is_toml_where_it_parses_and_text_else(text, value):
    found = parse_value(text)
    assert found == value and type(found) is type(value)


@pytest.mark.parametrize(
    ("text", "name", "settings"),
    [
        ("prioritized-replay", "prioritized-replay", {}),
        ("prioritized-replay:alpha=0.7", "prioritized-replay", {"alpha": 0.7}),
        ("evaluation:every=5000,seeds=[1,2]", "evaluation", {"every": 5000, "seeds": [1, 2]}),
        ("x:a={b=1,c=2},d=3", "x", {"a": {"b": 1, "c": 2}, "d": 3}),
        ('x:a="one, two",b=2', "x", {"a": "one, two", "b": 2}),
        ("package.module:Object", "package.module:Object", {}),
        ("package.module:Object:a=1", "package.module:Object", {"a": 1}),
        ("./file.py:Thing:a=1,b=x", "./file.py:Thing", {"a": 1, "b": "x"}),
        ("./file.py", "./file.py", {}),
        ("C:/x/file.py:Thing", "C:/x/file.py:Thing", {}),
        ("no:checkpoint", "no:checkpoint", {}),
    ],
)
def test_a_plugin_is_a_name_and_arguments_from_the_first_identifier_on(text, name, settings):
    assert parse_plugin(text) == (name, settings)


def test_a_setting_is_a_key_and_a_value():
    assert parse_setting("gamma=0.98") == ("gamma", 0.98)
    assert parse_setting(" storage.alpha = 0.7 ") == ("storage.alpha", 0.7)
    assert parse_setting("env.name=a=b") == ("env.name", "a=b")


@pytest.mark.parametrize("text", ["gamma", "=3", " = 3"])
def test_a_setting_without_a_key_or_a_value_is_refused(text):
    with pytest.raises(PlanError, match="key=value"):
        parse_setting(text)


def test_nested_tables_become_dotted_keys():
    tree = {"a": 1, "b": {"c": 2, "d": {"e": 3}}, "f": {}, "g": [1, {"h": 2}]}
    assert flatten(tree) == {"a": 1, "b.c": 2, "b.d.e": 3, "g": [1, {"h": 2}]}


# ---- keywords ------------------------------------------------------------------------------------


def test_keywords_are_what_was_said():
    said = {"n_envs": 2, "policy": "mlp", "gamma": 0.5, "learning_rate": 1e-3}
    spec = make_spec("dqn", said)
    assert (spec.algo, spec.given) == ("dqn", said)
    assert (spec.given.get("policy"), spec.given.get("seed")) == ("mlp", None)


def test_none_says_nothing_of_the_run_and_is_a_value_of_a_setting():
    said = {"seed": None, "policy": None, "out": None, "preset": None, "env": None, "act": None}
    assert make_spec("dqn", said).given == {"act": None}


def test_a_table_under_a_slot_is_the_settings_of_its_component():
    spec = make_spec("dqn", {"policy": {"layers": [64]}, "prioritized-replay": {"alpha": 0.5}})
    assert spec.given.get("policy") is None
    assert spec.given == {"policy.layers": [64], "prioritized-replay.alpha": 0.5}


def test_a_table_under_env_is_an_id_and_keywords():
    spec = make_spec("dqn", {"env": {"id": "CartPole-v1", "gravity": 9.0}})
    assert spec.given == {"env": "CartPole-v1", "env.gravity": 9.0}


def test_one_plugin_may_be_given_without_a_list():
    assert make_spec("dqn", {"plugins": "monitor"}).plugins == ("monitor",)


def test_zero_and_false_are_something_that_was_said():
    spec = make_spec("dqn", {"seed": 0, "double_q": False, "verbose": 0})
    assert spec.given == {"seed": 0, "double_q": False, "verbose": 0}


# ---- one spec on top of another ------------------------------------------------------------------


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
    assert origin["lam"] == origin["seed"] == "spec.toml"
    assert "gamma" not in origin  # the command line's, which is what no origin means


def test_a_seed_of_zero_is_not_overruled():
    assert make_spec("dqn", {"seed": 0}).over(make_spec("dqn", {"seed": 5})).given["seed"] == 0


def test_a_spec_cannot_be_changed():
    with pytest.raises(attrs.exceptions.FrozenInstanceError):
        RunSpec(algo="dqn").algo = "sac"
