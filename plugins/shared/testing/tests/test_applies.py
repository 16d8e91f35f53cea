"""Checks are deselected if they do not apply, and in no other case."""

from __future__ import annotations

from types import SimpleNamespace

import attrs
import pytest

import rlk_testing
from rlk.component import Component
from rlk.settings import setting
from rlk_testing import Contract, fixtures
from rlk_testing.contracts.shared.applies import applies, is_applicable, questions

CONTRACTS = [name for name in rlk_testing.__all__ if name.endswith("Contract")]
#: Suite -> number of its own checks that have conditions, without those that it inherits. A new one
#: must be added here, because a wrong condition would leave out checks unnoticed.
CONDITIONAL = {
    "AlgorithmContract": 15,
    "CallbackContract": 7,
    "CollectorContract": 30,
    "CommandContract": 1,
    "Contract": 4,
    "DecoratorContract": 3,
    "DistributionContract": 9,
    "EnvironmentContract": 5,
    "ExtensionContract": 9,
    "FinderContract": 3,
    "LoggerContract": 2,
    "NoiseContract": 6,
    "OffPolicyContract": 6,
    "PolicyContract": 14,
    "PresetContract": 4,
    "SerializerContract": 9,
    "StorageContract": 25,
    "VecEnvContract": 12,
    "WrapperContract": 29,
}


def checks(suite):
    return {name: value for name, value in vars_of(suite) if name.startswith("test_")}


def vars_of(suite):
    return [(name, getattr(suite, name)) for name in dir(suite)]


@pytest.mark.parametrize("name", CONTRACTS)
def test_the_checks_of_a_suite_that_may_be_left_out_are_counted(name):
    suite = getattr(rlk_testing, name)
    inherited = [base for base in suite.__mro__[1:] if base.__name__ in CONTRACTS]
    found = conditional(suite).difference(*map(conditional, inherited))
    assert len(found) == CONDITIONAL.get(name, 0), sorted(found)


def conditional(suite):
    return {name for name, check in checks(suite).items() if questions(check)}


def item(suite, check):
    return SimpleNamespace(cls=suite, function=getattr(suite, check), name=check)


@attrs.frozen(kw_only=True)
class Settings:
    size: int = attrs.field(default=1, **setting("how large"))


@pytest.mark.parametrize(("config", "left"), [(None, CONDITIONAL["Contract"]), (Settings, 0)])
def test_what_does_not_apply_is_deselected_and_reported(config, left):
    component = Component(name="mine", factory=print, summary="mine", config=config)
    suite = type("TestMine", (Contract,), {"component": component, "kind": "callbacks"})
    every = [item(suite, name) for name in checks(suite)]
    items, told = list(every), []
    hook = SimpleNamespace(pytest_deselected=lambda items: told.extend(items))
    fixtures.pytest_collection_modifyitems(SimpleNamespace(hook=hook), items)
    assert len(told) == left and len(items) == len(every) - left
    assert {one.name for one in items} | {one.name for one in told} == set(checks(suite))


def test_functions_and_checks_without_a_question_stay():
    items = [
        SimpleNamespace(cls=None, function=print),
        item(Contract, "test_its_factory_can_be_imported"),
    ]
    before = list(items)
    fixtures.pytest_collection_modifyitems(None, items)
    assert items == before


def test_a_question_that_fails_leaves_the_check_to_fail_for_itself():
    suite = type(
        "TestNothing", (Contract,), {"component": "no-such-component", "kind": "callbacks"}
    )
    assert is_applicable(suite(), suite.test_every_setting_has_a_help_text)


def test_a_class_asks_for_the_checks_that_it_defines_and_a_check_may_ask_twice():
    @applies(lambda suite: suite.large)
    class Large:
        large, red = True, True

        @applies(lambda suite: suite.red)
        def test_red(self):
            pass

        def test_any(self):
            pass

        def helper(self):
            pass

    def found(**fields):
        suite = type("Suite", (Large,), fields)()
        return [
            name for name in ("test_red", "test_any") if is_applicable(suite, getattr(suite, name))
        ]

    assert found() == ["test_red", "test_any"]
    assert found(red=False) == ["test_any"]
    assert found(large=False) == []
    assert questions(Large.helper) == ()
