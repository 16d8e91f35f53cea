"""A plan as files hold it, and back."""

from __future__ import annotations

import json
from collections.abc import Callable

import attrs
import numpy as np
import pytest

from rlk.component import Component
from rlk.errors import BadFile, PlanError, UnknownName
from rlk.planning.resolve import resolve
from rlk.planning.spec import make_spec
from rlk.restoring.saved_plan import as_json, spec_of
from rlk_testing.environments import DiscreteMatch, Walk, environment_named
from rlk_testing.stand_ins import COMPONENTS, Idle, StandInPolicy


@attrs.frozen(kw_only=True)
class HasteConfig:
    speed: int = 1


class Configured(Idle):
    def __init__(self, config):
        self.config = config


class Wraps:
    def __init__(self, env):
        raise AssertionError("nothing is built here")


def on_the_shelf(place, kind):
    return Component(name=place.rpartition(":")[2], factory=Idle, kind=kind or "extensions")


@pytest.fixture
def kernel(rlk_stand_in_kernel):
    registries = rlk_stand_in_kernel.registries
    registries.callbacks.register("watches", Idle)
    registries.extensions.register("extends", Idle)
    registries.environments.register("classes", environment_named, runs_code=True)
    registries.environments.register("stands", COMPONENTS["environments"].factory)
    registries.environments.unregister("stand-in-environments")
    registries.finders.register("shelf", on_the_shelf, runs_code=True)
    return rlk_stand_in_kernel


@pytest.fixture
def saved(kernel):
    def plan_of(**given):
        plan = resolve(kernel, make_spec("stand-in", {"env": "CartPole-v1", **given}))
        return json.loads(json.dumps(as_json(plan)))

    return plan_of


def again(kernel, plan, **keywords):
    return resolve(kernel, spec_of(plan, kernel, **keywords))


def test_a_saved_plan_makes_the_same_plan(kernel, saved):
    first = saved(n_envs=3, seed=5, gamma=0.25, batch_size=4, plugins=["extends"])
    second = as_json(again(kernel, first))
    for part in ("env", "run"):
        assert second[part] == first[part]
    names = [(c["role"], c["name"], c["settings"]) for c in first["components"]]
    assert [(c["role"], c["name"], c["settings"]) for c in second["components"]] == names


def test_keywords_of_the_environment_are_kept(kernel, saved):
    plan = saved(env={"id": "CartPole-v1", "sutton_barto_reward": True})
    assert dict(again(kernel, plan).env.kwargs) == {"sutton_barto_reward": True}


def test_a_keyword_that_no_file_holds_is_passed_again(kernel, saved):
    def makes(settings=None, **_):
        return Walk()

    makes.__qualname__ = makes.__module__ = "elsewhere"
    plan = saved(env=makes, **{"env.settings": {"f": [len]}, "env.step": np.float32(0.5)})
    assert plan["env"]["kwargs"] == {"settings": {"f": [{"callable": "len"}]}, "step": 0.5}
    with pytest.raises(PlanError, match=r"made with 'len' in env.settings.* Pass it again: in Py"):
        again(kernel, plan, env=makes)
    found = again(kernel, plan, env=makes, changes={"env.settings": {}})
    assert found.env.kwargs == {"settings": {}, "step": 0.5}


def test_what_only_watches_joins_if_asked(kernel, saved):
    plan = saved(plugins=["watches", "extends"])
    assert [c.name for c in again(kernel, plan).callbacks] == []
    assert [c.name for c in again(kernel, plan).extensions] == ["extends"]
    assert [c.name for c in again(kernel, plan, resumes=True).callbacks] == ["watches"]


def test_changes_are_on_top_of_what_was_saved(kernel, saved):
    plan = saved(gamma=0.25, n_envs=3)
    changed = again(kernel, plan, changes={"gamma": 0.75})
    assert changed.algorithm.config.gamma == 0.75 and changed.n_envs == 3
    assert changed.algorithm.sources["gamma"].by == "user"


def test_it_is_reported_that_settings_come_from_the_file(kernel, saved):
    assert again(kernel, saved(gamma=0.25)).algorithm.sources["gamma"].by == "saved plan"


def test_a_plan_knows_whether_it_continues_a_saved_run(kernel, saved):
    assert not resolve(kernel, make_spec("stand-in", {})).restores_state
    changes = {"seed": 5, "total_timesteps": 9, "n_envs": 2}
    assert again(kernel, saved(), env=Walk, changes=changes).restores_state


def test_a_settings_file_is_no_saved_plan_whatever_its_name(kernel):
    given = {"env": "CartPole-v1", "gamma": 0.25}
    plan = resolve(kernel, make_spec("stand-in", given, origin="saved plan"))
    assert not plan.restores_state and plan.algorithm.changed("gamma") == ["gamma"]
    joined = make_spec("stand-in", {"env": "CartPole-v1"}, origin="active in every run")
    assert not any(one["joined"] for one in as_json(resolve(kernel, joined))["components"])


@pytest.mark.parametrize("env", [DiscreteMatch, "rlk_testing.environments:DiscreteMatch"])
def test_an_environment_that_is_code_must_be_passed_again(kernel, saved, env):
    plan = saved(env=env)
    with pytest.raises(PlanError, match="Pass it again"):
        spec_of(plan, kernel)
    assert again(kernel, plan, env=env).env.name == plan["env"]["name"]


@pytest.mark.parametrize("env", [Walk, "rlk_testing.environments:Walk"])
def test_an_environment_that_is_passed_again_keeps_its_keywords(kernel, saved, env):
    plan = saved(env=env, **{"env.observation": "dict", "env.length": 9})
    assert dict(again(kernel, plan, env=env).env.kwargs) == {"observation": "dict", "length": 9}
    changed = again(kernel, plan, env=env, changes={"env.length": 3})
    assert dict(changed.env.kwargs) == {"observation": "dict", "length": 3}


def test_another_environment_has_keywords_of_its_own(kernel, saved):
    plan = saved(env=Walk, **{"env.length": 9})
    assert dict(again(kernel, plan, env=DiscreteMatch).env.kwargs) == {}


def test_a_component_from_a_place_must_be_passed_again(kernel, saved):
    plan = saved(plugins=["shelf:Mine"])
    with pytest.raises(
        PlanError, match=r"no file may run by itself. Pass it again: --plugin shelf:Mine"
    ):
        spec_of(plan, kernel)
    found = again(kernel, plan, plugins=("shelf:Mine",))
    assert [c.name for c in found.extensions] == ["Mine"]


Has_Hooks = type("Has_Hooks", (Idle,), {})


@pytest.mark.parametrize("passed", [Has_Hooks, Has_Hooks()])
@pytest.mark.parametrize("plugin", [Has_Hooks, Has_Hooks(), "shelf:Has-Hooks"])
def test_an_object_with_hooks_or_its_class_is_passed_again(kernel, saved, plugin, passed):
    name = saved(plugins=[passed])["components"][-1]["name"]
    found = again(kernel, saved(plugins=[plugin]), plugins=(passed,), resumes=True)
    assert [c.name for c in found.extensions] == [name]


def test_all_that_must_be_passed_again_is_said_at_once(kernel, saved):
    place = "rlk_testing.environments:Walk"
    in_slots = {"optimiser": "shelf:Moves", "noise": ["shelf:One", "shelf:Two"]}
    plan = saved(env=place, plugins=["shelf:Mine", "shelf:Watch"], **in_slots)
    with pytest.raises(PlanError) as told:
        spec_of(plan, kernel)
    slots = "--set 'noise=[shelf:One,shelf:Two]' --set optimiser=shelf:Moves"
    typed = f"{slots} --plugin shelf:Mine --plugin shelf:Watch --env {place}"
    python = "noise=['shelf:One', 'shelf:Two'], optimiser='shelf:Moves', plugins=['shelf:Mine', 'sh"
    assert f"Pass them again: {typed}, or in Python {python}" in str(told.value)
    with pytest.raises(PlanError, match=r"again: --plugin shelf:Watch, or in"):
        spec_of(plan, kernel, env=place, plugins=("shelf:Mine",), changes=in_slots)


def forged(plan, **component):
    """A plan in which a component that the kernel has is called otherwise."""
    made = {"kind": "extensions", "dist": "rlk-x", "version": "1", "settings": {}, **component}
    others = [c for c in plan["components"] if c["role"] != made["role"]]
    made = {"chosen_by": "", "joined": False, "set_by": {}, "only_trains": False, **made}
    return {**plan, "components": [*others, made]}


@pytest.mark.parametrize(
    "component",
    [
        {"role": "extension", "name": "./evil.py"},
        {"role": "extension", "name": "evil.py"},
        {"role": "noise", "name": "evil:Noise"},
        {"role": "vf_optimiser", "name": "evil:Optimiser"},
        {"role": "algorithm", "name": "./evil.py"},
        {"role": "extension", "name": "env", "settings": {"id": "./evil.py:Env"}},
        {"role": "extension", "name": "env.x", "settings": {"y": "./evil.py:Env"}},
    ],
)
def test_a_place_in_a_file_is_never_looked_at_whatever_its_plan_says(kernel, saved, component):
    with pytest.raises(BadFile, match=r"components\[\d\]: .*name.*"):
        spec_of(forged(saved(), **component), kernel)


@pytest.mark.parametrize("key", ["env", "noise", "out", "plugins", "preset", "vf_optimiser"])
def test_no_setting_of_the_algorithm_is_a_choice_of_the_run(kernel, saved, key):
    plan = forged(saved(), role="algorithm", name="stand-in", settings={key: "./evil.py:Evil"})
    with pytest.raises(UnknownName, match=f"unknown setting of algorithm 'stand-in'.*'{key}'"):
        again(kernel, plan)


def test_only_the_environment_of_a_file_names_the_environment(kernel, saved):
    plan = saved()
    plan["env"]["kwargs"]["id"] = "./evil.py:Env"
    assert spec_of(plan, kernel).given.get("env") == "CartPole-v1"


def test_a_name_that_is_not_installed_any_more_is_refused(kernel, saved):
    plan = saved(plugins=["extends"])
    kernel.registries.extensions.unregister("extends")
    with pytest.raises(PlanError, match="extends"):
        again(kernel, plan)


def test_a_callable_must_be_passed_again_to_continue_training(kernel, saved):
    plan = saved(learning_rate=lambda remaining: remaining)
    with pytest.raises(PlanError, match="learning_rate was the callable"):
        spec_of(plan, kernel, resumes=True)
    spec_of(plan, kernel, resumes=True, changes={"learning_rate": 0.1})
    assert "learning_rate" not in spec_of(plan, kernel).given  # to act, no schedule is needed


def test_what_was_not_passed_again_is_missing_in_the_next_file_too(kernel, saved):
    first = saved(learning_rate=abs)
    second = as_json(again(kernel, first))
    held = [
        {one["name"]: one["settings"] for one in plan["components"]} for plan in (first, second)
    ]
    assert held[1] == held[0] and held[1]["stand-in"]["learning_rate"] == {"callable": "abs"}
    assert spec_of(second, kernel).learns_without == spec_of(first, kernel).learns_without
    for key in ("learning_rate", "stand-in.learning_rate"):
        found = again(kernel, second, changes={key: 0.5})
        (algorithm,) = (one for one in as_json(found)["components"] if one["role"] == "algorithm")
        assert algorithm["settings"]["learning_rate"] == 0.5
        assert not spec_of(first, kernel, changes={key: 0.5}, resumes=True).learns_without


@attrs.frozen(kw_only=True)
class NetworkConfig:
    act_fun: str | Callable[[float], float] = "tanh"


@pytest.mark.parametrize("key", ["policy.act_fun", "network.act_fun"])
def test_a_function_of_the_network_must_be_passed_again_even_to_act(kernel, saved, key):
    kernel.registries.policies.register("network", StandInPolicy, config=NetworkConfig)
    plan = saved(policy="network", **{key: abs})
    with pytest.raises(PlanError) as caught:
        spec_of(plan, kernel)
    message = str(caught.value)
    assert "network.act_fun was the callable abs, which no file holds" in message
    assert "rlk.load(…, settings={'policy.act_fun': …})" in message
    for resumes in (False, True):
        spec = spec_of(plan, kernel, resumes=resumes, changes={key: round})
        assert resolve(kernel, spec).policy.config.act_fun is round
        assert not spec.learns_without


def test_what_stands_in_a_slot_is_passed_again_in_that_slot(kernel, saved):
    plan = saved(policy=StandInPolicy)
    with pytest.raises(PlanError, match="in Python, policy=… with that object"):
        spec_of(plan, kernel)
    assert spec_of(plan, kernel, changes={"policy": StandInPolicy}).given["policy"] is StandInPolicy


def test_a_preset_is_not_applied_once_more(kernel, saved):
    assert spec_of(saved(), kernel).given.get("preset") == "none"


def test_components_are_resolved_and_not_built(kernel, saved):
    kernel.registries.wrappers.register(
        "wraps", Component(name="wraps", factory=Wraps, wraps="vector")
    )
    assert [c.name for c in again(kernel, saved(plugins=["wraps"])).wrappers] == ["wraps"]


# ---- what had joined by itself -------------------------------------------------------------------


@pytest.fixture
def hastens(kernel):
    """An extension that joins wherever an agent is made."""
    kernel.registries.extensions.register("hastens", Idle, autostart="always")


@pytest.mark.usefixtures("hastens")
def test_what_had_joined_by_itself_is_still_known_to_have_joined(kernel, saved):
    (found,) = again(kernel, saved()).extensions
    assert (found.name, found.origin.by) == ("hastens", "active in every run")


@pytest.mark.usefixtures("hastens")
def test_what_had_joined_by_itself_and_is_not_installed_is_left_out_with_a_note(kernel, saved):
    plan = saved()
    kernel.registries.extensions.unregister("hastens")
    found = again(kernel, plan)
    assert found.extensions == ()
    (note,) = found.notes
    assert "extension 'hastens' (this program) had joined by itself and is left out" in note
    assert "not installed here" in note


def test_settings_of_what_is_left_out_are_left_out_too(kernel, saved):
    kernel.registries.extensions.register(
        "hastens", Configured, config=HasteConfig, autostart="always"
    )
    plan = saved(**{"hastens.speed": 3})
    assert plan["components"][-1]["settings"] == {"speed": 3}
    assert again(kernel, plan).extensions[0].config.speed == 3
    kernel.registries.extensions.unregister("hastens")
    assert again(kernel, plan).extensions == ()


@pytest.mark.usefixtures("hastens")
def test_what_had_joined_by_itself_and_is_broken_here_is_left_out_with_its_cause(kernel, saved):
    plan = saved()
    kernel.registries.extensions.unregister("hastens")
    kernel.registries.extensions.register("hastens", "no_such_module:Hastens", autostart="always")
    found = again(kernel, plan)
    assert found.extensions == () and "No module named 'no_such_module'" in found.notes[0]


@pytest.mark.usefixtures("hastens")
def test_what_had_joined_and_was_named_as_well_is_missed(kernel, saved):
    plan = saved(plugins=["hastens"])
    kernel.registries.extensions.unregister("hastens")
    with pytest.raises(PlanError, match=r"made with extension 'hastens'.*did\.$"):
        again(kernel, plan)
    assert again(kernel, plan, plugins=("no:hastens",)).extensions == ()


@pytest.mark.usefixtures("hastens")
def test_what_had_joined_can_be_left_out_without_a_note_when_a_model_is_loaded(kernel, saved):
    found = again(kernel, saved(), plugins=("no:hastens",))
    assert found.extensions == found.notes == ()


@pytest.mark.usefixtures("hastens")
def test_what_was_left_out_stays_left_out_unless_it_is_named(kernel, saved):
    plan = saved(plugins=["no:hastens"])
    assert plan["left_out"] == ["hastens"]
    assert again(kernel, plan).extensions == ()
    assert [c.name for c in again(kernel, plan, plugins=("hastens",)).extensions] == ["hastens"]
    kernel.registries.extensions.unregister("hastens")
    assert again(kernel, plan).extensions == ()


def test_a_slot_whose_component_is_not_there_names_it_unless_it_is_filled_anew(kernel, saved):
    plan = saved()
    policy = next(one for one in plan["components"] if one["role"] == "policy")
    policy |= {"name": "thinks", "dist": "rlk-thinks", "version": "1.0", "settings": {"depth": 3}}
    with pytest.raises(PlanError, match=r"policy 'thinks' \(rlk-thinks 1.*rlk-thinks==1\.0\.$"):
        again(kernel, plan)
    with pytest.raises(PlanError, match="which is not there"):
        again(kernel, plan, plugins=("no:thinks",))
    assert again(kernel, plan, changes={"policy": "stand-in-policy"}).policy.name != "thinks"


def test_a_misspelt_plugin_to_leave_out_is_no_plugin_of_the_plan(kernel, saved):
    kernel.registries.extensions.register("hastens", Configured, config=HasteConfig)
    plan = saved(plugins=["hastens"])
    with pytest.raises(UnknownName, match=r"unknown plugin 'hasten'.*mean 'hastens'"):
        again(kernel, plan, plugins=("no:hasten",))
