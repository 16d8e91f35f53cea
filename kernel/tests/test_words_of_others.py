"""What is said of a setting by a name of another library, and how its value is read."""

from __future__ import annotations

import attrs
import numpy as np
import pytest

from rlk.component import Component
from rlk.errors import PlanError, UnknownName
from rlk.planning.python_values import parse_python
from rlk.planning.references import wrong_references


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("dict(a=-2, b=[1, 2.5])", {"a": -2, "b": [1, 2.5]}),
        ("{'a': True, 'b': dict(c=None)}", {"a": True, "b": {"c": None}}),
        ("(1, 'episode')", [1, "episode"]),
        ("[dict(pi=[8])]", [{"pi": [8]}]),
        ("torch.nn.ReLU", "torch.nn.ReLU"),
    ],
)
def test_a_value_of_python_is_read(text, value):
    assert parse_python(text) == value


@pytest.mark.parametrize(
    "text",
    [
        *("dict(**a)", "dict([(1, 2)])", "open('x')", "lambda: 0", "{1: 2}", "{**a}", "1 +"),
        *("[x for x in y]", "b''", "a[0]", "{{'a': 1}}", "dict(a=open('x'))", "(" * 9999),
    ],
)
def test_what_is_no_value_of_python_is_refused_and_nothing_is_run(text):
    with pytest.raises(ValueError, match=r"^not |malformed"):
        parse_python(text)


@pytest.fixture
def knows(planning_kernel):
    """Registers a component again with words of others."""

    def again(kind, name, words):
        registry = planning_kernel.registries[kind]
        component = registry.get(name).component()
        registry.unregister(name)
        registry.register(name, attrs.evolve(component, name=name, instead_of=words))

    return again


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"rate": 0.5}, "rate: use --set learning_rate=0.5, or in Python learning_rate=0.5."),
        ({"both": 3}, "both: use --set gamma=3 --set n_steps=3, or"),
        ({"one": True, "two": 7}, "one: use --set n_steps=7, or"),
        ({"one": True}, "one: use --set n_steps=VALUE, or"),
        ({"some": True}, r"""some: use --set 'n_steps=\["VALUE"\]', or"""),
        ({"other": 3}, r"other: a \{2\} of 3 and VALUE is of no use. Leave it out."),
        ({"gone": 3}, "gone: 3 is of no use. Leave it out."),
        ({"big": 4}, r"big: use --set policy.size=4, or in Python settings=\{'policy.size': 4\}."),
        ({"policy.big": 4}, "big: use --set policy.size=4, or"),
        ({"watch": 4}, r"use --plugin watches:size=4, or in Python plugins=\['watches:size=4'\]."),
        ({"plugins": ["watches"], "watch_it": True}, "watches is in this run already. Leave it"),
        ({"watch": {"a": 1}}, "use --plugin 'watches:parts=.*', or"),
        ({"policy_kwargs": {"rate": 1, "big": 2}}, "learning_rate=1 --set policy.size=2, or"),
        ({"policy_kwargs": {"nobody": 1}}, "policy_kwargs: No component has nobody: leave it out."),
        ({"watches": np.zeros(2)}, "watches: use --plugin watches, or"),
        ({"policy_kwargs": np.zeros(2)}, r"write dict\(name=value, …\), .*, got array"),
        ({"policy_kwargs": "dict(open('x'))"}, r"write dict\(name=value, …\), .*, got"),
    ],
)
def test_a_word_is_answered_by_the_record_of_a_component(plan, knows, given, said):
    words = {"rate": "learning_rate={value}", "both": "gamma={value},n_steps={value}"}
    words |= {"one=True": "n_steps={two}", "gone": "{value} is of no use. Leave it out."}
    words |= {"some": "n_steps=[{two}]", "other": "a {{2}} of {value} and {two} is of no use. "}
    words["other"] += "Leave it out."
    knows("algorithms", "algo", words)
    knows("policies", "plain", {"big": "size={value}"})
    watching = {"watch": "size={value}", "watch={…}": "parts={value}", "watch_it": ""}
    knows("callbacks", "watches", watching)
    with pytest.raises(PlanError, match=said):
        plan(**given)


@pytest.mark.parametrize("given", [{"rate": 1, "one": False}, {"policy.rate": 1}])
def test_words_of_another_algorithm_are_nobodys(plan, knows, given):
    knows("algorithms", "other", {"rate": "gamma={value}", "one=True": ""})
    with pytest.raises(UnknownName, match="unknown setting"):
        plan(**given)


def test_a_word_for_a_setting_that_does_not_exist_is_a_wrong_reference(planning_kernel):
    component = Component(
        name="mine", factory=print, instead_of={"a=1": "size={value}", "b": "It is there."}
    )
    (found,) = wrong_references(component, "callbacks", planning_kernel.registries)
    assert found.startswith("instead_of 'a=1': unknown setting of its own 'size'.")
