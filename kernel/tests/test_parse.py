"""Text as values, settings and plugins."""

from __future__ import annotations

import pytest

from rlk.errors import PlanError
from rlk.planning.parse import parse_plugin, parse_setting, parse_value, typed_value


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
        ("True", True),
        ("False", False),
        ('"True"', "True"),
        ("", ""),
        ("1.2.3", "1.2.3"),
        ("50_000", 50_000),
        ("[image, achieved_goal,x-1.5]", ["image", "achieved_goal", "x-1.5"]),
        ("[image]", ["image"]),
        ("[image", "[image"),
        ("[image, 3]", "[image, 3]"),
        ("[]", []),
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


@pytest.mark.parametrize(
    "value",
    [
        *(None, True, False, 0, -3, 1.5, 1e20, float("inf"), "", "word", "two words", "none"),
        *("1", "true", " x ", "a\nb", 'say "x"', "back\\slash", "\x7f", "é", "[image, goal]"),
        *([], [64, 64], ["a", "b c"], [[1], [2.5]], {}, {"a": 1}, {"a b": {"c": [True, "x"]}}),
        {"vehicle": "package.module.Class", "n": 3},
    ],
)
def test_a_value_is_typed_so_that_it_is_read_again(value):
    read = parse_setting(f"key={typed_value(value)}")
    assert read == ("key", value) and type(read[1]) is type(value)


def test_a_key_twice_is_refused():
    with pytest.raises(PlanError, match=r"'noise:sigma=0.1,sigma=0.2' has sigma twice"):
        parse_plugin("noise:sigma=0.1,sigma=0.2")
