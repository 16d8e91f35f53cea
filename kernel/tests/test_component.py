"""What a component is made of."""

import random
import sys

import pytest

from rlk.component import Component
from rlk.running.seeding import Streams


def test_a_factory_is_imported_when_it_is_loaded(tmp_path, monkeypatch):
    (tmp_path / "loaded_late.py").write_text("class Made: ...\n")
    monkeypatch.syspath_prepend(tmp_path)
    component = Component(name="drawn", factory="loaded_late:Made")
    assert "loaded_late" not in sys.modules
    assert component.load() is sys.modules.pop("loaded_late").Made


def test_an_import_of_a_factory_leaves_pythons_global_generator_as_it_was(tmp_path, monkeypatch):
    (tmp_path / "rlk_drawing.py").write_text("import random\ndrawn = random.random()\nMade = dict")
    monkeypatch.syspath_prepend(tmp_path)
    before = random.getstate()
    Component(name="mine", factory="rlk_drawing:Made").load()
    del sys.modules["rlk_drawing"]
    assert random.getstate() == before


def test_a_path_may_lead_into_a_class_and_a_callable_is_its_own_factory():
    inside = Component(name="drawn", factory="rlk.running.seeding:Streams.state_dict")
    assert inside.load() is Streams.state_dict
    assert Component(name="mine", factory=Streams).load() is Streams


@pytest.mark.parametrize("factory", ["rlk.running.seeding", "a:b:c", 3, None])
def test_a_factory_is_a_callable_or_a_path(factory):
    with pytest.raises(ValueError, match="factory must be callable or"):
        Component(name="x", factory=factory)


@pytest.mark.parametrize("name", ["", "1x", "a b", "-x", "ä"])
def test_a_name_can_be_typed(name):
    with pytest.raises(ValueError, match=r"^name must begin with a letter, .* got '"):
        Component(name=name, factory=Streams)


@pytest.mark.parametrize("config", [dict, {"size": 3}, Streams])
def test_settings_are_those_of_an_attrs_class(config):
    with pytest.raises(ValueError, match="config must be an attrs class"):
        Component(name="x", factory=Streams, config=config)


@pytest.mark.parametrize(
    ("fields", "said"),
    [
        ({"autostart": "allways"}, "'terminal' or 'always', got 'allways'"),
        ({"wraps": "vectors"}, "wraps must be 'env' or 'vector', got 'vectors'"),
        ({"collects": "offpolicy"}, "collects must be 'on-policy', .*, got 'offpolicy'"),
        ({"needs": ("td_error")}, r"Write a comma: needs=\('td_error',\)"),
        ({"action_spaces": "Box"}, r"Write a comma: action_spaces=\('Box',\)"),
        ({"known_as": ("A", 3)}, r"known_as must be a tuple of texts, got \('A', 3\)"),
        ({"instead_of": ("lr", "rate")}, r"instead_of must map texts to texts, got \('lr', 'ra"),
        ({"instead_of": {"lr": 3}}, r"instead_of must map texts to texts, got \{'lr': 3\}"),
        ({"instead_of": {"lr": "rate={value"}}, r"'lr': 'rate=\{value': expected '}' .* Double a"),
        ({"instead_of": {"lr": "Use {0}."}}, r"'lr': 'Use \{0\}.' has a field that is no word"),
        ({"instead_of": {"lr": "rate={value:x}"}}, r"a field that is no word such as \{value\}"),
        ({"stages": ("fold")}, r"Write a comma: stages=\('fold',\)"),
        ({"stages": ("folds",)}, "stages may have choose, window, relabel, fold, got 'folds'"),
        ({"kind": 3}, "'kind' must be <class 'str'>"),
    ],
)
def test_a_field_with_fixed_words_has_one_of_them(fields, said):
    with pytest.raises((ValueError, TypeError), match=said):
        Component(name="x", factory=Streams, **fields)
