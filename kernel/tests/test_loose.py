from __future__ import annotations

import sys
from pathlib import Path

import pytest

from rlk import hookimpl
from rlk.component import Component
from rlk.errors import PlanError
from rlk.loose import loose_entry
from rlk.testing.stand_ins import StandIn, StandInPolicy, StandInStorage


@pytest.fixture
def file(tmp_path) -> Path:
    path = tmp_path / "mine.py"
    yield path
    sys.modules.pop("rlk_file_mine", None)


@pytest.mark.parametrize(
    ("found", "kind"),
    [(StandIn, "algorithms"), (StandInPolicy, "policies"), (StandInStorage, "storages")],
)
def test_the_kind_of_a_class_is_guessed_from_its_methods(found, kind):
    entry = loose_entry(found)
    assert entry.kind == kind and entry.component().factory is found
    assert entry.dist == "passed as object"


def test_methods_tell_distributions_decorators_extensions_and_wrappers():
    def has(*names):
        return type("Has", (), dict.fromkeys(names, lambda self: None))

    assert loose_entry(has("sample", "log_prob")).kind == "distributions"
    assert loose_entry(has("open", "added", "choose")).kind == "storages"
    assert loose_entry(has("rlk_update_end")).kind == "extensions"
    assert loose_entry(has("step", "reset")).kind == "wrappers"


def test_where_it_goes_may_be_said_and_a_component_says_it_itself():
    assert loose_entry(object, "policies").kind == "policies"
    component = Component(name="mine", factory=object, kind="loggers")
    assert loose_entry(component, "policies").kind == "loggers"
    assert loose_entry(component).component() is component


def test_what_could_be_anything_is_refused_with_all_kinds():
    with pytest.raises(PlanError, match=r"cannot tell what kind.*algorithms, policies"):
        loose_entry(object)


def test_something_that_cannot_be_called_is_refused():
    with pytest.raises(PlanError, match=r"must be an rlk.Component, a class"):
        loose_entry(3)


def test_a_class_in_a_file(file):
    file.write_text("class ModeShift:\n    def build(self): ...\n")
    entry = loose_entry(f"{file}:ModeShift")
    assert (entry.kind, entry.name) == ("policies", "ModeShift")
    assert entry.dist == f"{file}:ModeShift"


def test_a_component_in_a_file(file):
    file.write_text(
        "from rlk.component import Component\n"
        "component = Component(name='shift', factory=print, kind='callbacks')\n"
    )
    assert loose_entry(str(file)).name == "shift"


def test_a_file_of_hooks_is_an_extension(file):
    file.write_text("from rlk import hookimpl\n@hookimpl\ndef rlk_update_end(run): ...\n")
    entry = loose_entry(str(file))
    assert entry.kind == "extensions"
    assert entry.component().load()().__name__ == "rlk_file_mine"


def test_an_object_with_hooks_of_its_class_is_used_as_a_class_is(file):
    file.write_text(
        "from rlk import hookimpl\nclass Mine:\n    @hookimpl\n    def rlk_update_end(self): ...\n"
    )
    assert loose_entry(f"{file}:Mine").kind == "extensions"


def test_a_file_or_an_object_that_is_not_there_is_refused(file):
    with pytest.raises(PlanError, match="does not exist"):
        loose_entry(str(file))
    file.write_text("class Other: ...\n")
    with pytest.raises(PlanError, match="Known: Other"):
        loose_entry(f"{file}:Mine")


def test_a_file_without_anything_of_rlk_is_refused(file):
    file.write_text("x = 1\n")
    with pytest.raises(PlanError, match=r"must be an rlk.Component"):
        loose_entry(str(file))
    assert hookimpl is not None
