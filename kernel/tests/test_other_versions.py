"""Files that another version of a component has written."""

from __future__ import annotations

import re

import pytest

from rlk.errors import PlanError, UnknownName
from rlk.planning.resolve import resolve
from rlk.planning.saved_plan import as_json, spec_of
from rlk.planning.spec import make_spec


@pytest.fixture
def saved(planning_kernel):
    """A plan of `algo` in which the components with these names have another version."""

    def planned(*names, version="9.0.0", **settings):
        plan = as_json(resolve(planning_kernel, make_spec("algo", {"plugins": ["shakes:size=3"]})))
        for one in plan["components"]:
            if one["name"] in names:
                one |= {"dist": f"acme-{one['name']}", "version": version}
                one["settings"] |= settings
        return plan

    return planned


def test_settings_that_only_another_version_has_name_both_and_what_to_install(
    planning_kernel, saved
):
    plan = saved("algo", "shakes", newer=1, new=2)
    words = (
        "does not have: 'new', 'newer' of algorithm 'algo' (acme-algo 9.0.0); this program is "
        "installed, and 'new', 'newer' of noise 'shakes' (acme-shakes 9.0.0); this program is "
        "installed. Type: pip install acme-algo==9.0.0 acme-shakes==9.0.0"
    )
    with pytest.raises(PlanError, match=f"{re.escape(words)}$"):
        spec_of(plan, planning_kernel)


def test_another_version_with_the_same_settings_is_taken(planning_kernel, saved):
    found = resolve(planning_kernel, spec_of(saved("algo", "shakes"), planning_kernel))
    assert [one.config.size for one in found.noises] == [3]


def test_a_component_that_is_replaced_or_left_out_may_have_any_settings(planning_kernel, saved):
    plan = saved("shakes", new=1)
    for now in ({"changes": {"noise": "trembles"}}, {"plugins": ("no:shakes",)}):
        found = resolve(planning_kernel, spec_of(plan, planning_kernel, **now))
        assert "shakes" not in [one.name for one in found.noises]


def test_of_the_same_version_an_unknown_setting_is_only_unknown(planning_kernel, saved):
    plan = saved("algo", version="", new=1)
    with pytest.raises(UnknownName, match=r"setting of algorithm 'algo'.*'new'"):
        resolve(planning_kernel, spec_of(plan, planning_kernel))
