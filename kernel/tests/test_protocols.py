"""Asking a component for abilities beyond its kind."""

from __future__ import annotations

import types

import pytest

from rlk.abilities import Discounts, Explores, KeepsEnvironmentState, KeepsInfos, offers


class Keeps:
    def get_state(self):
        return [1]

    def set_state(self, states): ...


class Delegates:
    def __init__(self, inner):
        self._inner = inner

    def __getattr__(self, name):
        return getattr(self._inner, name)


def test_a_part_offers_what_has_every_method_of_the_protocol():
    assert offers(Keeps(), KeepsEnvironmentState)
    assert not offers(object(), KeepsEnvironmentState)
    half = types.SimpleNamespace(get_state=list)
    assert not offers(half, KeepsEnvironmentState)


def test_what_a_wrapper_delegates_counts():
    assert offers(Delegates(Keeps()), KeepsEnvironmentState)
    assert not offers(Delegates(object()), KeepsEnvironmentState)


@pytest.mark.parametrize(("protocol", "name"), [(Discounts, "gamma"), (KeepsInfos, "info_keys")])
def test_attributes_are_asked_for_as_methods_are(protocol, name):
    assert offers(types.SimpleNamespace(**{name: 1}), protocol)
    assert not offers(types.SimpleNamespace(other=1), protocol)
    assert not offers(None, protocol)


def test_a_module_may_offer_something_too():
    module = types.ModuleType("explores")
    module.explore = lambda actor: actor
    assert offers(module, Explores)
