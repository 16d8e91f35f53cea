"""Which parts fit together, and what is given where they do not."""

from __future__ import annotations

import attrs
import gymnasium as gym
import pytest

from rlk import hookimpl
from rlk.component import Component
from rlk.errors import PlanError
from rlk.planning.spec import Patch, make_spec
from rlk_testing.environments import DiscreteMatch, MultiBinaryMatch
from rlk_testing.stand_ins import IdleNoise

# ---- noise --------------------------------------------------------------------------------------


def test_a_noise_for_other_actions_is_refused(planning_kernel, plan):
    planning_kernel.registries.noises.register("hums", IdleNoise, action_spaces=("Box",))
    with pytest.raises(PlanError, match=r"noise 'hums' .*spaces Box, but .*is Discrete"):
        plan(noise="hums")
    assert plan(noise="hums", env="Pendulum-v1").noises[0].name == "hums"


def test_a_noise_on_the_policy_wants_an_algorithm_that_acts_with_another_policy(
    planning_kernel, plan
):
    planning_kernel.registries.noises.register("shifts", IdleNoise, perturbs_policy=True)
    with pytest.raises(PlanError, match=r"'shifts' .*'other' .* not act with another.*\n.*list --"):
        plan("other", noise="shifts")
    assert plan(noise="shifts").noises[0].name == "shifts"


def test_a_noise_for_another_kind_of_algorithm_is_refused(planning_kernel, plan):
    planning_kernel.registries.noises.register("hums", IdleNoise, collects="off-policy")
    with pytest.raises(PlanError, match=r"noise 'hums' .*off-policy.*'other' .* is on-policy"):
        plan("other", noise="hums", storage="stand-in-storage")
    assert plan(noise="hums").noises[0].name == "hums"


# ---- what learns on- and off-policy -------------------------------------------------------------


def test_what_learns_on_and_off_policy_wants_a_storage_that_serves_both(planning_kernel, plan):
    registries = planning_kernel.registries
    other = registries.algorithms.get("other").component()
    registries.algorithms.register("mixes", attrs.evolve(other, name="mixes", collects="both"))
    registries.storages.register("sequences", IdleNoise, collects="both")
    registries.noises.register("hums", IdleNoise, collects="off-policy")
    with pytest.raises(PlanError, match=r"'keeps' .*off-policy .*'mixes' .* is on- and off-policy"):
        plan("mixes", storage="keeps")
    for algo, learns in (("algo", "off-policy"), ("other", "on-policy")):
        with pytest.raises(PlanError, match=rf"'sequences' .* on- and off-policy .* is {learns}"):
            plan(algo, storage="sequences")
    with pytest.raises(PlanError, match=r"'hums' .*off-policy .*'mixes' .* is on- and off-policy"):
        plan("mixes", storage="sequences", noise="hums")
    assert plan("mixes", storage="sequences").storages[0].name == "sequences"
    for collects in ("on-policy", "off-policy"):  # it learns in both ways, and any policy fits
        registries.policies.register(f"looks-{collects}", IdleNoise, collects=collects)
        assert plan("mixes", storage="sequences", policy=f"looks-{collects}")


# ---- what steps no environment -------------------------------------------------------------------


def test_what_learns_from_the_latest_collection_wants_a_collector_that_steps(planning_kernel, plan):
    registries = planning_kernel.registries
    registries.collectors.register("still", IdleNoise, steps_nothing=True)
    other = registries.algorithms.get("other").component()
    registries.algorithms.register("mixes", attrs.evolve(other, name="mixes", collects="both"))
    for algo in ("other", "mixes"):
        with pytest.raises(PlanError, match=rf"'still' .*no environment, .*'{algo}' .*latest coll"):
            plan(algo, collector="still", storage="stand-in-storage")
    assert plan("algo", collector="still").collector.name == "still"  # off-policy


# ---- a component's own check ---------------------------------------------------------------------


def test_a_component_refuses_a_plan_by_its_own_check_before_anything_is_built(
    planning_kernel, plan
):
    def check(config, plan):
        if plan.n_envs % 2:
            raise PlanError(f"'pairs' wants an even n_envs, found {plan.n_envs}. Use --n-envs 2.")

    registries = planning_kernel.registries
    other = registries.algorithms.get("other").component()
    pairs = attrs.evolve(other, name="pairs", factory="no.such.module:Pairs", check=check)
    registries.algorithms.register("pairs", pairs)
    with pytest.raises(PlanError, match=r"^'pairs' wants an even n_envs, found 3\. Use"):
        plan("pairs", n_envs=3)
    assert plan("pairs", n_envs=4).n_envs == 4


def with_check(kernel, message):
    """The kernel, whose algorithm `algo` refuses every plan with this message."""

    def check(config, plan):
        raise PlanError(message.format(plan=plan))

    component = kernel.registries.algorithms.get("algo").component()
    kernel.registries.algorithms.unregister("algo")
    kernel.registries.algorithms.register("algo", attrs.evolve(component, check=check))


def test_a_refusal_tells_who_proposed_a_setting_that_it_names_with_its_value(planning_kernel, plan):
    with_check(planning_kernel, "n_envs={plan.n_envs} does not go with depth=2.")
    with pytest.raises(PlanError) as of_preset:
        plan(preset="tuned")
    assert str(of_preset.value).endswith("\nProposed by preset tuned. --preset none turns it off.")
    with pytest.raises(PlanError, match=r"n_envs=6 .*\nProposed by plugin ProposesSix-0\.$"):
        plan(plugins=[ProposesSix()])
    with pytest.raises(PlanError, match=r"n_envs=7 does not go with depth=2\.$"):
        plan(preset="tuned", n_envs=7)
    of_file = make_spec("algo", {"n_envs": 7}, origin="preset mine.toml")
    with pytest.raises(PlanError, match=r"n_envs=7 does not go with depth=2\.$"):
        plan(lower=of_file)


class ProposesSix:
    @hookimpl
    def rlk_configure(self, spec):
        return Patch({"n_envs": 6})


def test_a_refusal_blames_no_preset_for_a_word_that_is_also_the_name_of_a_setting(
    planning_kernel, plan
):
    with_check(planning_kernel, "this algorithm trains no agent, whatever its n_envs.")
    with pytest.raises(PlanError, match=r"whatever its n_envs\.$"):
        plan(preset="tuned")


def test_a_check_that_is_not_a_function_is_refused_where_it_is_written():
    with pytest.raises(ValueError, match=r"check must be a function or None, got 'module:f'"):
        Component(name="pairs", factory=IdleNoise, check="module:f")


# ---- what fits together -------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("algo", "given", "message"),
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
def test_parts_that_do_not_fit_are_refused_with_both_names(plan, algo, given, message):
    with pytest.raises(PlanError, match=message) as caught:
        plan(algo, **given)
    assert "rlk plugins list" in str(caught.value)


def test_a_list_of_algorithms_is_offered_as_other_algorithms(plan):
    with pytest.raises(PlanError) as caught:
        plan("algo", policy="remembers")
    assert str(caught.value).endswith(
        "\nUse another policy, or another algorithm. To list what fits: "
        "rlk plugins list --kind algorithms --recurrent"
    )
    with pytest.raises(PlanError, match=r"Use another storage\. To list what fits: "):
        plan("other", storage="keeps")


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
    planning_kernel.registries.noises.register("picky", IdleNoise, **fields)
    with pytest.raises(PlanError, match=message):
        plan(noise="picky")


@pytest.mark.parametrize(("space", "is_advised"), [(gym.spaces.Discrete(7), True), (None, False)])
def test_what_would_fit_without_the_additions_of_a_plugin_says_so(
    planning_kernel, plan, space, is_advised
):
    class Adds:
        @hookimpl
        def rlk_policy_space(self):
            return space

    registries = planning_kernel.registries
    registries.extensions.register("adds", Adds)
    registries.noises.register("picky", IdleNoise, observation_spaces=("Discrete",))
    with pytest.raises(PlanError, match=r"'picky' .* takes observations that are Disc") as caught:
        plan(plugins=["adds"], noise="picky")
    advice = "\nOr leave out what adds to the observations: --plugin no:adds."
    assert str(caught.value).endswith(advice) == is_advised


def test_a_noise_has_nothing_to_say_where_its_algorithm_does_not_serve_the_actions(
    planning_kernel, plan
):
    planning_kernel.registries.noises.register("hums", IdleNoise, action_spaces=("Discrete",))
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
    assert plan(env=vector).sources["n_envs"].by == "the environment passed"
    assert plan(env=vector, n_envs=3).sources["n_envs"].by == "user"
    assert plan(env=DiscreteMatch()).n_envs == 1
    with pytest.raises(PlanError, match=r"n_envs=2 \(user\).* has 1.*pass what makes one"):
        plan(env=DiscreteMatch(), n_envs=2)
    with pytest.raises(PlanError, match=r"n_envs=4 \(user\).* has 3.*Use n_envs=3"):
        plan(env=vector, n_envs=4)


def test_a_wrapper_of_one_environment_cannot_wrap_a_vector_that_was_passed(planning_kernel, plan):
    planning_kernel.registries.wrappers.register("flattens", lambda env: env)
    vector = gym.vector.SyncVectorEnv([DiscreteMatch] * 3)
    with pytest.raises(PlanError, match=r"wrapper 'flattens' .*passed as a vector of 3.*Wrap its"):
        plan("other", env=vector, plugins=["flattens"])


def test_the_policy_is_compared_with_what_it_is_to_see(planning_kernel, plan):
    policies = planning_kernel.registries.policies
    policies.register("reads-boxes", policies.get("stand-in-policy").component().factory)
    reads = attrs.evolve(
        policies.get("reads-boxes").component(), observation_spaces=("Box",), name="reads-boxes"
    )
    policies.register("reads-only-boxes", attrs.evolve(reads, name="reads-only-boxes"))
    dicts = {"env": "rlk_testing.environments:Walk", "env.observation": "dict"}

    class TakesOut:
        @hookimpl
        def rlk_policy_space(self, plan):
            return plan.observation_space["place"]

    with pytest.raises(PlanError, match=r"policy 'reads-only-boxes' .* are Box, .* are Dict"):
        plan(policy="reads-only-boxes", **dicts)
    found = plan(policy="reads-only-boxes", plugins=[TakesOut()], **dicts)
    assert found.policy_space == found.observation_space["place"]


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


def test_what_no_name_can_leave_out_is_not_to_be_left_out_by_one(planning_kernel, plan):
    relabels = planning_kernel.registries.storages.get("relabels").component()
    component = attrs.evolve(relabels, name="mine", kind="storages", observation_spaces=("Dict",))
    with pytest.raises(
        PlanError, match=r"'mine' \(passed as object\).*\nUse plugins=.…. without it"
    ):
        plan(plugins=[component])
    planning_kernel.registries.finders.register("shelf", lambda place, kind: component)
    with pytest.raises(PlanError, match=r"\nUse plugins without \./mine\.py\. To list"):
        plan(plugins=["./mine.py"])


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
