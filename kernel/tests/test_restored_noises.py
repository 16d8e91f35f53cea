"""The noises of a saved plan: left out, replaced by others, or passed again."""

from __future__ import annotations

import attrs
import pytest

from rlk.component import Component
from rlk.errors import PlanError
from rlk.planning.resolve import resolve
from rlk.planning.spec import make_spec
from rlk.restoring.saved_plan import as_json, spec_of
from rlk_testing.stand_ins import COMPONENTS, IdleNoise


@attrs.frozen(kw_only=True)
class Much:
    much: float = 0.1


@pytest.fixture
def kernel(rlk_stand_in_kernel):
    return rlk_stand_in_kernel


def again(kernel, plan, **keywords):
    return resolve(kernel, spec_of(plan, kernel, **keywords))


def test_a_default_that_was_left_out_or_emptied_does_not_come_back(kernel):
    kernel.registries.noises.register("shakes", IdleNoise)
    kernel.registries.algorithms.register(
        "noisy",
        attrs.evolve(
            COMPONENTS["algorithms"],
            name="noisy",
            defaults={**COMPONENTS["algorithms"].defaults, "noise": "shakes"},
        ),
    )
    given = ({}, ["shakes"]), ({"plugins": ["no:shakes"]}, []), ({"noise": "none"}, [])
    for settings, noises in given:
        plan = resolve(kernel, make_spec("noisy", settings))
        assert [c.name for c in (*plan.noises, *again(kernel, as_json(plan)).noises)] == noises * 2


@attrs.frozen(kw_only=True)
class Stirring:
    stirring: bool = False


@pytest.mark.parametrize("key", ["stirring", "noisy.stirring"])
def test_a_default_comes_back_where_a_switch_now_turns_off_what_took_its_place(kernel, key):
    kernel.registries.noises.register("shakes", IdleNoise)
    kernel.registries.noises.register("stirs", IdleNoise)
    component = COMPONENTS["algorithms"]
    switching = attrs.evolve(
        component,
        name="noisy",
        config=Stirring,
        defaults={**component.defaults, "noise": "shakes"},
        activates={"stirring": "stirs"},
    )
    kernel.registries.algorithms.register("noisy", switching)
    plan = resolve(kernel, make_spec("noisy", {"stirring": True}))
    assert [one.name for one in plan.noises] == ["stirs"]
    found = again(kernel, as_json(plan), changes={key: False})
    assert [one.name for one in found.noises] == ["shakes"]


@pytest.mark.parametrize("plugins", [["shakes:much=0.5"], ["shakes:much=0.5", "stirs"]])
def test_a_noise_that_is_left_out_takes_its_settings_along(kernel, plugins):
    kernel.registries.noises.register("shakes", IdleNoise, config=Much)
    kernel.registries.noises.register("stirs", IdleNoise)
    plan = as_json(resolve(kernel, make_spec("stand-in", {"plugins": plugins})))
    names = [plugin for plugin in plugins if plugin == "stirs"]
    found = again(kernel, plan, plugins=("no:shakes",))
    assert [choice.name for choice in found.noises] == names
    kernel.registries.noises.unregister("shakes")
    assert [choice.name for choice in again(kernel, plan, plugins=("no:shakes",)).noises] == names
    with pytest.raises(PlanError, match=r"noise 'shakes' .*, or leave out 'shakes': --pl"):
        again(kernel, plan)


OWN = Component(name="own", factory=IdleNoise, kind="noises", config=Much)


@pytest.mark.parametrize(
    ("now", "names"),
    [((), []), ("stirs", ["stirs"]), (OWN, ["own"]), ([OWN, "stirs"], ["own", "stirs"])],
)
def test_other_noises_replace_one_from_a_program_and_its_settings(kernel, now, names):
    kernel.registries.noises.register("stirs", IdleNoise)
    spec = make_spec("stand-in", {"noise": OWN, "own.much": 0.5})
    found = again(kernel, as_json(resolve(kernel, spec)), changes={"noise": now})
    assert [choice.name for choice in found.noises] == names
    assert all(one.config.much == 0.5 for one in found.noises if one.name == "own")
