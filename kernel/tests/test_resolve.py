"""Planning: which layer wins, what settings are taken, and what a plan says."""

from __future__ import annotations

import json
import re

import pytest

from rlk import Patch, hookimpl
from rlk.component import Component
from rlk.errors import BrokenPlugin, PlanError, UnknownName
from rlk.planning.spec import make_spec
from rlk.registry.entry import Entry
from rlk.restoring.saved_plan import as_json
from rlk_testing.stand_ins import Idle


class Proposes:
    """A plugin with a patch of its own."""

    def __init__(self, values, reason="because"):
        self.values, self.reason = values, reason

    @hookimpl
    def rlk_configure(self, spec):
        return Patch(self.values, self.reason)


# ---- precedence ----------------------------------------------------------------------------------


def test_every_layer_beats_the_one_below_it(plan):
    lower = make_spec("algo", {"gamma": 0.5}, origin="spec.toml")
    patch = Proposes({"gamma": 0.4})
    steps = [
        ({}, 0.8, "algorithm algo"),
        ({"preset": "tuned"}, 0.3, "preset tuned"),
        ({"preset": "tuned", "plugins": [patch]}, 0.4, "plugin Proposes-0 (because)"),
        ({"preset": "tuned", "plugins": [patch], "lower": lower}, 0.5, "spec.toml"),
        (
            {"preset": "tuned", "plugins": [patch], "lower": lower, "gamma": 0.6},
            0.6,
            "user",
        ),
    ]
    for given, value, source in steps:
        found = plan(**given).algorithm
        assert found.config.gamma == value, given
        assert found.sources["gamma"].by == source


def test_a_default_of_the_config_is_nobodys(plan):
    found = plan().algorithm
    assert found.config.batch_size == 8 and "batch_size" not in found.sources


def test_settings_of_the_run_have_the_same_layers(plan):
    assert plan("other").n_envs == 1
    assert (plan().n_envs, plan().sources["n_envs"].by) == (2, "algorithm algo")
    assert plan(preset="tuned").n_envs == 3
    assert plan(preset="tuned", n_envs=7).n_envs == 7


def test_who_chose_a_component_is_known(plan):
    assert plan().policy.origin.by == "algorithm algo"
    assert plan(policy="fancy").policy.origin.by == "user"
    assert plan(plugins=["fancy"]).policy.origin.by == "user"
    assert plan(preset="tuned").callbacks[0].origin.by == "preset tuned"


def test_two_patches_that_differ_are_refused_with_both_names(plan):
    with pytest.raises(PlanError) as caught:
        plan(plugins=[Proposes({"gamma": 0.1}), Proposes({"gamma": 0.2}, "otherwise")])
    message = str(caught.value)
    assert "Proposes-0 (because)" in message and "Proposes-1 (otherwise)" in message
    assert "'gamma': 0.1 and 0.2" in message and "--set gamma" in message


def test_two_patches_that_agree_are_fine(plan):
    found = plan(plugins=[Proposes({"gamma": 0.1}), Proposes({"gamma": 0.1, "n_steps": 3})])
    assert (found.algorithm.config.gamma, found.algorithm.config.n_steps) == (0.1, 3)


def test_a_patch_may_put_in_a_plugin(plan):
    found = plan(plugins=[Proposes({"plugins": ["watches:size=4"]})])
    assert [(c.name, c.config.size) for c in found.callbacks] == [("watches", 4)]


def test_an_answer_that_is_not_a_patch_is_the_plugins_fault(plan):
    class Answers:
        @hookimpl
        def rlk_configure(self, spec):
            return {"gamma": 0.1}

    with pytest.raises(BrokenPlugin, match=r"Answers-0.*must return a Patch"):
        plan(plugins=[Answers()])


# ---- settings ------------------------------------------------------------------------------------


def test_a_setting_is_reached_by_slot_by_name_and_with_the_plugin(plan):
    assert plan(**{"policy.size": 3}).policy.config.size == 3
    assert plan(**{"plain.size": 3}).policy.config.size == 3
    assert plan(plugins=["fancy:size=3"]).policy.config.size == 3
    assert plan(plugins=["watches:size=3,shape=square"]).callbacks[0].config.shape == "square"
    assert plan(plugins=["watches"], watches={"size": 3}).callbacks[0].config.size == 3


def test_settings_after_the_name_of_what_fills_a_slot_are_refused_with_what_to_type(plan):
    with pytest.raises(PlanError, match=r"policy='fancy:size=3' has settings.*--plugin fancy:size"):
        plan(policy="fancy:size=3")


def test_a_setting_may_be_a_table_and_who_counts_more_changes_a_part_of_it(plan):
    assert plan(policy={"parts": {"a": 1, "b": 2}}).policy.config.parts == {"a": 1, "b": 2}
    lower = make_spec("algo", {"policy": {"parts": {"a": 1, "b": 2}}}, origin="spec.toml")
    assert plan(lower=lower, **{"policy.parts.b": 3}).policy.config.parts == {"a": 1, "b": 3}
    assert plan(lower=lower, **{"policy.parts": 4}).policy.config.parts == 4
    lower = make_spec("algo", {"policy.parts": 4}, origin="spec.toml")
    assert plan(lower=lower, **{"policy.parts.b": 3}).policy.config.parts == {"b": 3}
    with pytest.raises(PlanError, match=r"'sizes\.a'. Did you mean 'size'"):
        plan(policy={"sizes": {"a": 1}})


def test_an_alias_is_a_name_for_settings_as_the_components_own(planning_kernel, plan):
    policies = planning_kernel.registries.policies
    fancy = policies.get("fancy").component()
    policies.add(Entry("policies", "FancyPolicy", "rlk-fancy", "1.0", lambda: fancy))
    for key in ("FancyPolicy.size", "fancy.size", "policy.size"):
        found = plan(policy="FancyPolicy", **{key: 3}).policy
        assert (found.name, found.config.size) == ("fancy", 3)


def test_what_an_algorithm_wants_of_its_usual_policy_is_no_demand_on_another(plan):
    assert plan().policy.config.size == 5
    found = plan(policy="stand-in-policy")
    assert found.policy.config is None


def test_keywords_of_the_environment_are_settings(plan):
    found = plan(env={"id": "CartPole-v1", "sutton_barto_reward": True})
    assert dict(found.env.kwargs) == {"sutton_barto_reward": True}


@pytest.mark.parametrize(
    ("given", "error", "message"),
    [
        ({"size": 5}, UnknownName, "'size'. Did you mean 'plain.size', 'keeps.size', 'batch_size'"),
        ({"gama": 0.5}, UnknownName, "Did you mean 'gamma'"),
        ({"n_env": 2}, UnknownName, "Did you mean 'n_envs'"),
        ({"policy.sise": 5}, UnknownName, "Did you mean 'size'"),
        ({"nobody.size": 5}, UnknownName, "nobody"),
        ({"watches.size": 5}, PlanError, "'watches' is not in this run.* Add --plugin watches"),
        ({"plugins": ["watches"], "callbacks.size": 5}, UnknownName, "in this run 'callbacks'"),
        ({"gamma": "much"}, PlanError, "gamma must be a number, got 'much'"),
        ({"gamma": 1.5}, PlanError, "gamma must be at most 1, got"),
        ({"n_envs": 0}, PlanError, "n_envs must be at least 1, got 0"),
        ({"n_envs": 1.5}, PlanError, "n_envs must be a whole number"),
        ({"n_threads": 0}, PlanError, "n_threads must be at least 1, or none, got 0"),
        ({"seed": -1}, PlanError, "seed must be at least 0, or none, got -1"),
        ({"env": "CartPol-v1"}, UnknownName, "CartPole-v1"),
        ({"policy": "plane"}, UnknownName, "Did you mean 'plain'"),
        ({"plugins": ["watchs"]}, UnknownName, "Did you mean 'watches'"),
        ({"plugins": ["no:watchs"]}, UnknownName, "Did you mean 'watches'"),
        (
            {"plugins": ["no:plain"]},
            PlanError,
            r"'policy': 'plain' was left out by no:plain. Use --policy NAME",
        ),
        (
            {"plugins": ["no:coins"]},
            PlanError,
            r"'distribution': 'coins' was left out by no:coins. Use --distribution NAME",
        ),
        ({"plugins": ["no:algo"]}, PlanError, "no:algo would leave out the algorithm"),
        ({"plugins": ["watches:sise=1"]}, UnknownName, "Did you mean 'size'"),
        ({"plugins": ["wraps:size=1"]}, PlanError, "has no settings"),
        ({"preset": "other"}, UnknownName, "tuned"),
        (
            {"preset": "tuned", "env": "Acrobot-v1"},
            PlanError,
            "preset 'tuned' for algo on Acrobot-v1",
        ),
    ],
)
def test_what_does_not_exist_or_fit_is_refused(plan, given, error, message):
    with pytest.raises(error, match=message):
        plan(**given)


@pytest.mark.parametrize("plugin", ["evaluation", "no:evaluation"])
def test_a_command_is_no_guess_for_a_plugin_of_a_run(planning_kernel, plan, plugin):
    planning_kernel.registries.commands.register("evaluate", "nowhere:evaluate")
    with pytest.raises(UnknownName, match="Did you mean 'evaluate'"):
        planning_kernel.registries.find("evaluation")
    with pytest.raises(UnknownName, match=r"^unknown plugin 'evaluation'\. See: rlk plugins list$"):
        plan(plugins=[plugin])


def test_an_unknown_algorithm_and_none_are_refused_with_those_there_are(plan):
    with pytest.raises(UnknownName, match="Did you mean 'algo'"):
        plan("algos")
    with pytest.raises(PlanError, match=r"no algorithm.*algo, other, stand-in"):
        plan("")
    with pytest.raises(PlanError, match=r"'alg' \(user\)\. Did you mean 'algo'\? Installed: algo"):
        plan("", alg="other")


def test_an_object_may_fill_a_slot_and_be_a_plugin(plan):
    class Mine:
        def build(self, space, heads): ...

    assert plan(policy=Mine).policy.component.factory is Mine
    watcher = Proposes({})
    found = plan(plugins=[watcher, Proposes({})]).extensions
    assert [choice.name for choice in found] == ["Proposes-0", "Proposes-1"]
    assert found[0].make() is watcher and found[0].owner == "passed as object"


@pytest.mark.parametrize(
    ("values", "error", "said"),
    [
        ({"gama": 0.9}, UnknownName, "Did you mean 'gamma'"),
        ({"gamma": 9}, PlanError, "gamma must be at most 1, got"),
        ({"n_envs": 0}, PlanError, "n_envs must be at least 1"),
        ({"plugins": 7}, PlanError, r"plugin .*: plugins must be a list of plugins, got 7\."),
    ],
)
def test_an_error_in_a_patch_names_the_plugin(plan, values, error, said):
    with pytest.raises(error, match=said) as raised:
        plan(plugins=[Proposes(values), Proposes({"n_steps": 3}, "another")])
    assert "plugin Proposes-0 (because)" in str(raised.value)
    assert "another" not in str(raised.value)


def test_a_patch_may_put_in_one_plugin_by_its_name(plan):
    assert [one.name for one in plan(plugins=[Proposes({"plugins": "watches"})]).callbacks] == [
        "watches"
    ]


# ---- what a plan says ---------------------------------------------------------------------------


def test_a_plan_can_be_written_as_json(plan):
    written = json.loads(json.dumps(as_json(plan(plugins=["sharpens", Idle()]))))
    assert written["env"]["name"] == "CartPole-v1" and written["run"]["n_envs"] == 2
    slots = {component["name"]: component["role"] for component in written["components"]}
    assert next(iter(slots.values())) == "algorithm" and slots["sharpens"] == "decorator"
    assert slots["Idle-0"] == "extension"


def test_planning_builds_nothing(planning_kernel, plan):
    def never(*arguments, **keywords):
        raise AssertionError("built")

    planning_kernel.registries.policies.register("never", never)
    planning_kernel.registries.storages.register("never-too", never)
    found = plan(policy="never", storage="never-too")
    assert isinstance(found.policy.component, Component)


@pytest.mark.parametrize(
    ("tuned", "said"),
    [
        ({"plugins": ["nowhere"]}, "'nowhere'"),
        ({"gama": 0.3}, "'gama'"),
        ({"n_envs": 0}, "n_envs must be at least 1"),
    ],
)
def test_a_mistake_of_a_preset_names_the_preset(planning_kernel, plan, tuned, said):
    planning_kernel.registries.presets.register("mine", lambda: PresetOf(tuned))
    with pytest.raises(PlanError, match=rf"(?s){said}.*\nProposed by preset mine\. --preset none"):
        plan(preset="mine")


def test_a_preset_is_not_named_for_a_setting_that_is_only_suggested(planning_kernel, plan):
    planning_kernel.registries.presets.register("mine", lambda: PresetOf({"gamma": 0.5}))
    with pytest.raises(UnknownName, match="Did you mean 'gamma'") as caught:
        plan(preset="mine", gama=0.9)
    assert "preset" not in str(caught.value)


def test_a_setting_of_a_preset_that_nothing_takes_is_said(planning_kernel, plan):
    tuned = {"policy.lairs": [8], "policy.size": 2}
    planning_kernel.registries.presets.register("mine", lambda: PresetOf(tuned))
    (note,) = (note for note in plan(preset="mine").notes if "no effect" in note)
    assert note.startswith("policy.lairs=[8] (preset mine) has no effect: policy 'plain' (")
    assert note.endswith(" has no lairs")


class PresetOf:
    """The same settings for everything."""

    def __init__(self, tuned):
        self.tuned = tuned

    def find(self, algo, env):
        return self.tuned


def test_a_broken_preset_is_left_out_with_a_note_unless_it_is_named(planning_kernel, plan):
    planning_kernel.registries.presets.register("frail", "rlk_nowhere:Source")
    broken = r"preset 'frail' \(this program\) is broken: .*No module named 'rlk_nowhere'"
    (note,) = [note for note in plan(preset="auto").notes if "frail" in note]
    assert note.startswith("preset frail left out: ") and re.search(broken, note)
    with pytest.raises(BrokenPlugin, match=broken):
        plan(preset="frail")


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        (lambda: 1 / 0, "ZeroDivisionError"),
        (lambda: 7, "find returned int, and not a mapping"),
        (lambda: {"plugins": {"watches": {}}}, "its plugins are a table, and not a list"),
    ],
)
def test_a_preset_that_fails_when_it_is_asked_is_broken_too(planning_kernel, plan, answer, said):
    class Source:
        def find(self, algo, env):
            return answer()

    planning_kernel.registries.presets.register("a-frail", Source)
    (note,) = [note for note in plan(preset="auto").notes if "frail" in note]
    assert note.startswith("preset a-frail left out: ") and said in note
