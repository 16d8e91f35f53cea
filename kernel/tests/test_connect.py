"""What connects the processes that share a run is called before any of them can be refused."""

from __future__ import annotations

import attrs
import pytest

from rlk.component import Component
from rlk.errors import BrokenPlugin, PlanError
from rlk.planning.layers import Origin, Rank
from rlk.planning.resolve import resolve
from rlk.planning.spec import make_spec, plugin_key
from rlk.restoring.saved_plan import as_json, spec_of


@pytest.fixture
def calls(planning_kernel):
    """The names whose `connects` was called; an extension, and two of one slot, have one."""
    found = []

    def joins(name):
        return {"connects": lambda: found.append(name)}

    registries = planning_kernel.registries
    registries.extensions.register("together", lambda: None, **joins("together"))
    registries.extensions.register("jointly", registries.find("together").component())
    registries.vec_envs.register("elsewhere", lambda: None, **joins("elsewhere"))
    registries.vec_envs.register("nowhere", lambda: None, **joins("nowhere"))
    return found


@pytest.mark.parametrize(
    ("algo", "wrong"),
    [
        ("no-such", {}),
        (None, {}),
        ("algo", {"plugins": ["no-such", "together"]}),
        ("algo", {"plugins": ["watches:", "watches:a=1,a=2", "no:no-such", "together"]}),
        ("algo", {"plugins": ["together:no_such=1"]}),
        ("algo", {"no_such": 1}),
        ("algo", {"env": "./no_such.py:World"}),
    ],
)
def test_processes_are_connected_before_one_is_refused(plan, calls, algo, wrong):
    with pytest.raises(PlanError):
        plan(algo, **{"plugins": ["together"], "vec_env": "elsewhere", **wrong})
    assert sorted(calls) == ["elsewhere", "together"]


@pytest.mark.parametrize(
    ("given", "file", "expected"),
    [
        ({}, {}, []),
        ({"plugins": ["no:together"]}, {"plugins": ["together"]}, []),
        ({"plugins": ["no:jointly"]}, {"plugins": ["together"]}, []),
        ({"plugins": ["no:together", "together"]}, {}, ["together"]),
        ({"plugins": ["elsewhere"]}, {"vec_env": "nowhere"}, ["elsewhere"]),
        ({"vec_env": "elsewhere"}, {"plugins": ["nowhere"]}, ["elsewhere"]),
        ({"plugins": ["no:elsewhere"]}, {"vec_env": "elsewhere"}, []),
    ],
)
def test_only_what_is_asked_for_and_not_left_out_connects(plan, calls, given, file, expected):
    lower = make_spec("algo", file, origin="spec.toml")
    plugins = dict.fromkeys(map(plugin_key, lower.plugins), Origin("spec.toml", Rank.FILE))
    lower = attrs.evolve(lower, origins={**lower.origins, **plugins})
    with pytest.raises(PlanError):
        plan("no-such", lower=lower, **given)
    assert calls == expected


def test_what_connects_may_be_a_place_and_one_that_is_not_there_is_a_broken_plugin(
    plan, planning_kernel
):
    extensions = planning_kernel.registries.extensions
    extensions.register("together", lambda: None, connects="rlk_nowhere_at_all:connect")
    with pytest.raises(BrokenPlugin, match=r"'together' .*No module named 'rlk_nowhere_at_all'"):
        plan(plugins=["together"])
    with pytest.raises(ValueError, match="connects must be callable or 'module:object', got 'no"):
        Component(name="together", factory="a:b", connects="nowhere")


@pytest.mark.parametrize(
    ("again", "expected"),
    [
        ({}, ["elsewhere", "together"]),
        ({"plugins": ("no:together",)}, ["elsewhere"]),
        ({"changes": {"vec_env": "nowhere"}}, ["nowhere", "together"]),
    ],
)
def test_processes_are_connected_before_one_of_them_lacks_what_must_be_passed_again(
    planning_kernel, calls, again, expected
):
    given = {"plugins": ["together"], "vec_env": "elsewhere"}
    plan = as_json(resolve(planning_kernel, make_spec("algo", given)))
    plan["components"][0]["dist"] = "./mine.py"  # the algorithm is code, and is not passed
    calls.clear()
    with pytest.raises(PlanError, match="Pass it again"):
        spec_of(plan, planning_kernel, resumes=True, **again)
    assert sorted(calls) == expected
