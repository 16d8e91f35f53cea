"""Planning: what is forwarded, what fits together, what joins unasked, and what a plan says."""

from __future__ import annotations

import json

import attrs
import gymnasium as gym
import pytest

from rlk import hookimpl
from rlk.component import Component
from rlk.errors import BrokenPlugin, PlanError
from rlk.planning.saved_plan import as_json
from rlk.registry.entry import Entry
from rlk_testing.environments import DiscreteMatch, MultiBinaryMatch


class Silent:
    @hookimpl
    def rlk_update_end(self): ...


class Shakes:
    def wrap(self, actor, policy): ...


# ---- noise ---------------------------------------------------------------------------------------


def test_a_noise_for_other_actions_is_refused(planning_kernel, plan):
    planning_kernel.registries.noises.register("hums", Shakes, action_spaces=("Box",))
    with pytest.raises(PlanError, match=r"noise 'hums' .*spaces Box, but .*is Discrete"):
        plan(noise="hums")
    assert plan(noise="hums", env="Pendulum-v1").noise.name == "hums"


def test_a_noise_for_algorithms_that_learn_otherwise_is_refused(planning_kernel, plan):
    planning_kernel.registries.noises.register("hums", Shakes, collects="off-policy")
    with pytest.raises(PlanError, match=r"noise 'hums' .*off-policy.*'other' .* is on-policy"):
        plan("other", noise="hums", storage="stand-in-storage")
    assert plan(noise="hums").noise.name == "hums"


# ---- forwards, activates, selects ----------------------------------------------------------------


def test_a_setting_of_the_algorithm_feeds_the_component_that_uses_it(plan):
    assert plan().storages[0].config.size == 100  # the algorithm's default
    assert plan(store_size=7).storages[0].config.size == 7
    assert (
        plan(store_size=7, storage="hoards").storages[0].config.size == 1
    )  # it forwards to `keeps` alone


@pytest.mark.parametrize("key", ["keeps.size", "storage.size"])
def test_the_components_own_key_is_the_same_setting(plan, key):
    found = plan(**{key: 7})
    assert found.storages[0].config.size == 7
    assert found.algorithm.config.store_size == 7
    assert plan(store_size=7, **{key: 7}).storages[0].config.size == 7


def test_one_setting_with_two_values_is_refused(plan):
    with pytest.raises(PlanError, match=r"store_size=7 .*keeps\.size=8 .*Set one of them"):
        plan(store_size=7, **{"keeps.size": 8})


@pytest.mark.parametrize(
    ("tuned", "said", "size"),
    [
        ({"store_size": 5}, {"keeps.size": 8}, 8),
        ({"keeps.size": 5}, {"store_size": 8}, 8),
        ({"store_size": 5}, {}, 5),
        ({"keeps.size": 5}, {}, 5),
    ],
)
def test_what_a_user_says_at_either_end_wins_over_a_preset_at_the_other(
    planning_kernel, plan, tuned, said, size
):
    class Wants:
        def find(self, algo, env):
            return tuned

    planning_kernel.registries.presets.register("wants", Wants)
    found = plan(preset="wants", **said)
    assert found.storages[0].config.size == size and found.algorithm.config.store_size == size


def test_a_switch_puts_a_plugin_in_and_the_plugin_turns_the_switch(plan):
    found = plan(sharpened=True)
    assert [c.name for c in found.storages] == ["keeps", "sharpens"]
    found = plan(plugins=["sharpens"])
    assert found.algorithm.config.sharpened is True
    assert [c.name for c in plan(sharpened=False).storages] == ["keeps"]


def test_a_switch_for_a_kind_names_the_plugin_with_its_settings(plan):
    found = plan(shaken="shakes:size=3")
    assert found.noise.name == "shakes" and found.noise.config.size == 3
    assert plan(shaken="shakes", **{"shakes.size": 4}).noise.config.size == 4
    for nothing in (None, "none"):
        assert plan(shaken=nothing).noise is None


@pytest.mark.parametrize("wrong", ["watches", "shake"])
def test_a_switch_for_a_kind_takes_nothing_of_another_kind(plan, wrong):
    with pytest.raises(PlanError, match=rf"unknown noise '{wrong}'"):
        plan(shaken=wrong)


def test_a_switch_for_a_kind_and_another_plugin_of_it_are_refused(plan):
    with pytest.raises(PlanError, match="both fill the slot 'noise'"):
        plan(shaken="shakes", plugins=["trembles"])


def test_a_switch_and_a_plugin_that_contradict_each_other_are_refused(plan):
    with pytest.raises(PlanError, match="sharpened=false and plugin 'sharpens' contradict"):
        plan(sharpened=False, plugins=["sharpens"])


# ---- what fits together --------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("algo", "said", "message"),
    [
        (
            "algo",
            {"env": "rlk_testing.environments:MultiBinaryMatch"},
            r"serves action spaces Discrete, Box",
        ),
        (
            "algo",
            {"env": "rlk_testing.environments:Walk", "env.observation": "dict"},
            "takes observations",
        ),
        ("algo", {"policy": "remembers"}, "cannot train recurrent policies"),
        ("other", {"plugins": ["sharpens"]}, "needs td_error .* does not report it"),
        ("other", {"plugins": ["relabels"]}, "decorates a replay storage"),
        ("other", {"storage": "keeps"}, "is for off-policy algorithms"),
    ],
)
def test_parts_that_do_not_fit_are_refused_with_both_names(plan, algo, said, message):
    with pytest.raises(PlanError, match=message) as caught:
        plan(algo, **said)
    assert "rlk plugins list" in str(caught.value)


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"action_spaces": ("Box",)}, "noise 'picky' .* serves action spaces Box, but .* Discrete"),
        ({"observation_spaces": ("Image",)}, "noise 'picky' .* takes observations that are Image"),
        ({"collects": "on-policy"}, "noise 'picky' .* is for on-policy algorithms"),
        ({"needs": ("regret",)}, "noise 'picky' .* needs regret after every update"),
    ],
)
def test_a_part_of_any_kind_may_say_what_it_goes_with(planning_kernel, plan, fields, message):
    class Picky:
        def wrap(self, actor, policy): ...

    planning_kernel.registries.noises.register("picky", Picky, **fields)
    with pytest.raises(PlanError, match=message):
        plan(noise="picky")


def test_a_noise_has_nothing_to_say_where_its_algorithm_does_not_serve_the_actions(
    planning_kernel, plan
):
    planning_kernel.registries.noises.register("hums", Shakes, action_spaces=("Discrete",))
    with pytest.raises(
        PlanError, match=r"algorithm 'algo' .*environment's is MultiBinary"
    ) as caught:
        plan(noise="hums", env=MultiBinaryMatch)
    assert "hums" not in str(caught.value)


def test_a_wrapper_may_declare_the_spaces_that_it_changes(planning_kernel, plan):
    planning_kernel.registries.wrappers.register(
        "flattens", lambda env: env, observation_spaces=("Dict",)
    )
    assert [c.name for c in plan(plugins=["flattens"]).wrappers] == ["flattens"]


def test_two_decorators_for_one_stage_are_refused_with_both_names(plan):
    with pytest.raises(PlanError) as caught:
        plan(plugins=["sharpens", "chooses"])
    message = str(caught.value)
    assert "storage 'sharpens' (this program)" in message
    assert "storage 'chooses' (this program)" in message and "'choose'" in message


def test_a_vector_that_was_passed_has_its_own_number(plan):
    vector = gym.vector.SyncVectorEnv([DiscreteMatch] * 3)
    assert plan("other", env=vector).n_envs == 3
    assert plan(env=vector).n_envs == 3  # the algorithm's own wish for two is no demand
    assert plan(env=vector).sources["n_envs"] == "the environment passed"
    assert plan(env=vector, n_envs=3).sources["n_envs"] == "command line"
    assert plan(env=DiscreteMatch()).n_envs == 1
    with pytest.raises(PlanError, match=r"n_envs=2 \(command line\).* has 1.*pass what makes one"):
        plan(env=DiscreteMatch(), n_envs=2)
    with pytest.raises(PlanError, match=r"n_envs=4 \(command line\).* has 3.*Say n_envs=3"):
        plan(env=vector, n_envs=4)


def test_a_storage_that_declares_observation_spaces_is_refused_for_others(planning_kernel, plan):
    storages = planning_kernel.registries.storages
    relabels = storages.get("relabels").component()
    storages.register(
        "reads-dicts", attrs.evolve(relabels, name="reads-dicts", observation_spaces=("Dict",))
    )
    with pytest.raises(PlanError, match=r"(?s)'reads-dicts' .* are Dict, .*Box\(.*no:reads-dicts"):
        plan(plugins=["reads-dicts"])
    dicts = {"env": "rlk_testing.environments:Walk", "env.observation": "dict"}
    found = plan(plugins=["reads-dicts"], policy="stand-in-policy", **dicts)
    assert [c.name for c in found.storages] == ["keeps", "reads-dicts"]


def test_the_distribution_is_chosen_by_the_action_space(plan):
    assert plan().distribution.name == "coins"
    box = plan(env="rlk_testing.environments:BoxMatch")
    assert box.distribution.name == "bells"
    assert plan(distribution="bells").distribution.name == "bells"
    assert plan("other").distribution is None


def test_a_distribution_may_be_put_in_as_a_plugin(plan):
    assert plan(plugins=["bells:size=4"]).distribution.config.size == 4
    assert plan(plugins=["bells"]).distribution.name == "bells"


def test_a_distribution_has_settings_too(plan):
    assert plan(**{"distribution.size": 4}).distribution.config.size == 4
    assert plan(**{"coins.size": 4}).distribution.config.size == 4


def test_a_plugin_may_forbid_a_plan_and_all_problems_are_said(plan):
    class Forbids:
        def __init__(self, problem):
            self.problem = problem

        @hookimpl
        def rlk_check_plan(self, plan):
            return self.problem if plan.n_envs > 1 else None

    problems = [Forbids("too many"), Forbids(["this", "that"])]
    with pytest.raises(PlanError) as caught:
        plan(plugins=problems)
    assert str(caught.value).splitlines() == ["too many", "this", "that"]
    plan(plugins=problems, n_envs=1)


# ---- what joins unasked --------------------------------------------------------------------------


def test_components_join_a_run_that_has_a_folder_and_a_terminal(plan, tmp_path):
    assert plan().loggers == ()
    out = str(tmp_path)
    assert [c.name for c in plan(out=out).loggers] == ["writes"]
    assert {c.name for c in plan(out=out, terminal=True).loggers} == {"writes", "draws"}
    assert plan(out=out, plugins=["no:writes"]).loggers == ()


def test_what_joins_a_run_wraps_it_innermost_and_otherwise_comes_last(
    planning_kernel, plan, tmp_path
):
    planning_kernel.registries.wrappers.register("counts", lambda env: env, autostart="run")
    found = plan(out=str(tmp_path), plugins=["wraps", "draws"])
    assert [c.name for c in found.wrappers] == ["counts", "wraps"]
    assert [c.name for c in found.loggers] == ["draws", "writes"]


def test_a_broken_component_is_in_the_way_of_nobody(planning_kernel, plan, tmp_path):
    def load():
        raise ImportError("no jax")

    for kind in ("loggers", "storages", "callbacks"):
        planning_kernel.registries[kind].add(Entry(kind, "broken", "rlk-broken", "0.1", load))
        break
    plan(out=str(tmp_path))
    with pytest.raises(BrokenPlugin, match=r"rlk-broken 0\.1.*no jax"):
        plan(plugins=["broken"])


# ---- what a plan says ----------------------------------------------------------------------------


def test_a_plan_can_be_written_as_json(plan):
    written = json.loads(json.dumps(as_json(plan(plugins=["sharpens", Silent()]))))
    assert written["env"]["name"] == "CartPole-v1" and written["run"]["n_envs"] == 2
    slots = {component["name"]: component["slot"] for component in written["components"]}
    assert next(iter(slots.values())) == "algorithm" and slots["sharpens"] == "decorator"
    assert slots["Silent-0"] == "extension"


def test_planning_builds_nothing(planning_kernel, plan):
    def never(*arguments, **keywords):
        raise AssertionError("built")

    planning_kernel.registries.policies.register("never", never)
    planning_kernel.registries.storages.register("never-too", never)
    found = plan(policy="never", storage="never-too")
    assert isinstance(found.policy.component, Component)
