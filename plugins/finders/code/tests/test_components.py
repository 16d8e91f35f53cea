"""Components that are code, by their place."""

from __future__ import annotations

import json

import pytest

from rlk.errors import PlanError
from rlk.planning.resolve import resolve
from rlk.planning.spec import make_spec
from rlk.registry.kernel import default_kernel
from rlk.restoring.saved_plan import as_json, spec_of
from rlk_code.components import component_at
from rlk_testing.stand_ins import StandIn, StandInPolicy, StandInStorage

HOOKS = "from rlk import hookimpl\nclass Mine:\n    @hookimpl\n    def rlk_update_end(self): ...\n"


@pytest.mark.parametrize(
    ("found", "kind"),
    [(StandIn, "algorithms"), (StandInPolicy, "policies"), (StandInStorage, "storages")],
)
def test_the_kind_of_a_class_is_guessed_from_its_methods(found, kind):
    component = component_at(f"{found.__module__}:{found.__name__}")
    assert component.kind == kind
    assert component.factory is found


def test_where_it_goes_may_be_said_and_a_component_says_it_itself(file):
    assert component_at("builtins:object", "policies").kind == "policies"
    file.write_text(
        "from rlk.component import Component\n"
        "component = Component(\n"
        "    name='shift', factory=print, kind='callbacks', summary='shifts'\n"
        ")\n"
    )
    found = component_at(str(file), "policies")
    assert (found.name, found.kind, found.summary) == ("shift", "callbacks", "shifts")


def test_what_could_be_anything_is_refused_with_all_kinds():
    with pytest.raises(PlanError, match=r"cannot tell what kind.*algorithms, recipes, policies"):
        component_at("builtins:object")


def test_a_class_in_a_file(file):
    file.write_text("class ModeShift:\n    def build(self): ...\n")
    found = component_at(f"{file}:ModeShift")
    assert (found.kind, found.name) == ("policies", "ModeShift")


def test_a_file_of_hooks_is_an_extension(file):
    file.write_text("from rlk import hookimpl\n@hookimpl\ndef rlk_update_end(run): ...\n")
    found = component_at(str(file))
    assert (found.kind, found.name) == ("extensions", "mine")
    assert found.load()().__name__ == "rlk_file_mine"


def test_a_file_of_hooks_has_the_files_name_with_hyphens(tmp_path):
    file = tmp_path / "stops_early.py"
    file.write_text("from rlk import hookimpl\n@hookimpl\ndef rlk_update_end(run): ...\n")
    assert component_at(str(file)).name == "stops-early"


def test_a_class_with_hooks_is_made_and_an_object_of_it_is_used(file):
    file.write_text(HOOKS + "mine = Mine()\n")
    assert component_at(f"{file}:Mine").kind == "extensions"
    assert type(component_at(f"{file}:Mine").load()()).__name__ == "Mine"


def test_a_file_or_an_object_that_is_not_there_is_refused(file):
    with pytest.raises(PlanError, match="does not exist"):
        component_at(str(file))
    file.write_text("class Other: ...\n")
    with pytest.raises(PlanError, match="Known: Other"):
        component_at(f"{file}:Mine")


def test_a_file_without_anything_of_rlk_is_refused(file):
    file.write_text("x = 1\n")
    for place in (str(file), f"{file}:x"):
        with pytest.raises(PlanError, match=r"mine.py.*must be an rlk.Component"):
            component_at(place)


# ---- in a run ------------------------------------------------------------------------------------


def planned(**settings):
    return resolve(default_kernel(), make_spec("dqn", {"env": "CartPole-v1", **settings}))


def test_a_component_in_a_file_is_put_in_its_slot(file):
    file.write_text(
        "from rlk.component import Component\n"
        "from rlk_testing.stand_ins import StandInPolicy\n"
        "component = Component(name='mine', factory=StandInPolicy, kind='policies')\n"
    )
    for settings in ({"plugins": [str(file)]}, {"policy": str(file)}):
        found = planned(**settings).policy
        assert (found.name, found.dist) == ("mine", str(file))


def test_settings_stand_behind_the_place(file):
    file.write_text(
        "import attrs\nfrom rlk import hookimpl\n"
        "@attrs.frozen\nclass Config:\n    size: int = 1\n"
        "class Mine:\n    config = Config\n    def __init__(self, config): ...\n"
        "    @hookimpl\n    def rlk_update_end(self): ...\n"
    )
    (found,) = [c for c in planned(plugins=[f"{file}:Mine:size=3"]).extensions if c.name == "Mine"]
    assert found.config.size == 3


def test_a_component_from_a_file_must_be_passed_again(file):
    file.write_text(HOOKS)
    saved = json.loads(json.dumps(as_json(planned(plugins=[f"{file}:Mine"]))))
    with pytest.raises(PlanError, match=r"no file may run by itself. Pass it again"):
        spec_of(saved, default_kernel())
    spec = spec_of(saved, default_kernel(), plugins=(f"{file}:Mine",))
    assert "Mine" in [c.name for c in resolve(default_kernel(), spec).extensions]


def test_an_environment_that_is_code_must_be_passed_again():
    saved = as_json(planned(env="rlk_testing.environments:DiscreteMatch"))
    with pytest.raises(
        PlanError, match=r"was code, which no file may run by itself. Pass it again"
    ):
        spec_of(saved, default_kernel())
    assert planned(env="CartPole-v1").env.source == "gymnasium"
