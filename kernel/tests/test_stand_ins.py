"""A saved model acts without the parts that only training uses."""

from __future__ import annotations

import attrs
import numpy as np
import pytest

import rlk
from rlk.errors import PlanError
from rlk.hookspecs import hookimpl
from rlk.planning.resolve import resolve
from rlk.planning.spec import Patch, make_spec
from rlk.restoring.saved_plan import as_json, spec_of
from rlk.restoring.stand_ins import LEARNS_WITHOUT
from rlk_testing.environments import BY_ACTION_SPACE
from rlk_testing.stand_ins import COMPONENTS, Idle, IdleNoise, StandInStorage

MATCH = BY_ACTION_SPACE["Discrete"]
SLOTS = {
    "vec_env": "vec_envs",
    "storage": "storages",
    "collector": "collectors",
    "optimiser": "optimisers",
    "serializer": "serializers",
}


class Mine(StandInStorage):
    """A storage that is passed as an object."""


def acme(kernel, kind):
    """Register the kernel's stand-in of a kind once more, as a package of somebody's would."""
    kernel.registries[kind].register("acme", attrs.evolve(COMPONENTS[kind], name="acme"))


@pytest.mark.parametrize("slot", SLOTS)
def test_another_component_acts_in_the_slot_of_one_that_is_not_installed(
    make, tmp_path, rlk_stand_in_kernel, slot
):
    own = {"env": MATCH, "kernel": rlk_stand_in_kernel}
    acme(rlk_stand_in_kernel, SLOTS[slot])
    agent = make(**{slot: "acme"})
    agent.learn(8)
    zeros = np.zeros_like(agent.plan.observation_space.sample())
    expected = agent.predict(zeros)[0]
    path = agent.save_checkpoint(tmp_path / "checkpoint")
    rlk_stand_in_kernel.registries[SLOTS[slot]].unregister("acme")
    with pytest.raises(PlanError, match=rf"--set {slot}=NAME\. To pred.*rlk\.load\(…, to_act=T"):
        rlk.load(path, **own)
    with rlk.load(path, to_act=True, **own) as loaded:
        assert loaded.spec.learns_without == (LEARNS_WITHOUT,) and LEARNS_WITHOUT in loaded.differs
        assert loaded.num_timesteps == 8
        assert loaded.predict(zeros)[0] == expected
        with pytest.warns(UserWarning, match="loaded to act: it learns with its algorithm's own"):
            loaded.learn(4)


def test_an_algorithm_that_is_missing_with_a_part_of_its_training_is_named(
    make, tmp_path, rlk_stand_in_kernel
):
    acme(rlk_stand_in_kernel, "optimisers")
    path = make(optimiser="acme").save(tmp_path / "model")
    rlk_stand_in_kernel.registries.optimisers.unregister("acme")
    rlk_stand_in_kernel.registries.algorithms.unregister("stand-in")
    with pytest.raises(PlanError, match=r"made with algorithm 'stand-in' .* not there"):
        rlk.load(path, env=MATCH, kernel=rlk_stand_in_kernel, to_act=True)


def test_a_checkpoint_that_is_loaded_to_act_is_taken_as_a_model(
    make, tmp_path, rlk_stand_in_kernel
):
    agent = make()
    agent.learn(8)
    path = agent.save_checkpoint(tmp_path / "checkpoint")
    own = {"env": MATCH, "kernel": rlk_stand_in_kernel}
    with rlk.load(path, **own) as whole, rlk.load(path, to_act=True, **own) as acting:
        assert len(whole.run.storage) == 8 and len(acting.run.storage) == 0
        assert [one for one in acting.differs if "as a model, not as a checkpoint" in one]


def test_an_agent_that_only_acts_has_no_folder(make, tmp_path, rlk_stand_in_kernel):
    path = make().save(tmp_path / "model")
    with pytest.raises(PlanError, match=r"out='runs/x' is a folder to train in, and to_act is"):
        rlk.load(path, env=MATCH, kernel=rlk_stand_in_kernel, to_act=True, out="runs/x")


# ---- plans ---------------------------------------------------------------------------------------


def to_act(kernel, plan, **keywords):
    return resolve(kernel, spec_of(plan, kernel, to_act=True, **keywords))


def unregister(kernel, kind, name):
    kernel.registries[kind].unregister(name)


@pytest.mark.parametrize("name", ["chooses", "picks"])
def test_a_decorator_that_acting_does_without_is_not_put_in_again_by_any_of_its_names(
    planning_kernel, name
):
    registries = planning_kernel.registries
    registries.storages.register("picks", registries.storages.get("chooses").component())
    other = registries.algorithms.get("algo").component()
    defaults = {**other.defaults, "plugins": [name]}
    registries.algorithms.register("picky", attrs.evolve(other, name="picky", defaults=defaults))
    plan = resolve(planning_kernel, make_spec("picky", {}))
    assert [one.name for one in plan.storages] == ["keeps", "chooses"]
    assert [one.name for one in to_act(planning_kernel, as_json(plan)).storages] == ["keeps"]


@pytest.mark.parametrize("is_installed", [True, False])
def test_noises_and_decorators_are_left_out_unless_they_are_asked_for(
    planning_kernel, is_installed
):
    given = {"plugins": ["shakes:size=3", "trembles", "chooses"], "storage": "keeps"}
    plan = as_json(resolve(planning_kernel, make_spec("algo", given)))
    if not is_installed:
        unregister(planning_kernel, "noises", "shakes")
        unregister(planning_kernel, "storages", "chooses")
    for plugins, noises in (((), []), (("trembles",), ["trembles"])):
        found = to_act(planning_kernel, plan, plugins=plugins)
        assert [one.name for one in found.noises] == noises
        assert [one.name for one in found.storages] == ["keeps"]
    assert to_act(planning_kernel, plan, plugins=("no:shakes",)).noises == ()


def test_a_noise_that_is_asked_for_again_has_its_saved_settings(planning_kernel):
    plan = as_json(resolve(planning_kernel, make_spec("algo", {"plugins": ["shakes:size=3"]})))
    (noise,) = to_act(planning_kernel, plan, plugins=("shakes",)).noises
    assert noise.config.size == 3


@pytest.mark.parametrize("keywords", [{"to_act": True}, {"plugins": ("no:shakes",)}])
def test_a_setting_that_names_a_noise_does_not_ask_for_it_again(planning_kernel, keywords):
    plan = as_json(resolve(planning_kernel, make_spec("algo", {"shaken": "shakes:size=3"})))
    unregister(planning_kernel, "noises", "shakes")
    found = resolve(planning_kernel, spec_of(plan, planning_kernel, **keywords))
    assert found.noises == () and found.algorithm.config.shaken is None


def test_a_setting_asks_for_no_noise_again_by_an_alias_or_beside_another_noise(planning_kernel):
    noises = planning_kernel.registries.noises
    noises.register("quivers", noises.get("shakes").component())
    plan = as_json(resolve(planning_kernel, make_spec("algo", {"shaken": "quivers:size=3"})))
    found = to_act(planning_kernel, plan, changes={"trembling": "trembles"})
    assert [one.name for one in found.noises] == ["trembles"]
    assert found.algorithm.config.shaken is None
    unregister(planning_kernel, "noises", "shakes")
    unregister(planning_kernel, "noises", "quivers")
    found = to_act(planning_kernel, plan)
    assert found.noises == () and found.algorithm.config.shaken is None


@pytest.mark.parametrize("keywords", [{"to_act": True}, {"plugins": ("no:sharpens",)}])
def test_a_switch_does_not_ask_again_for_what_it_put_in(planning_kernel, keywords):
    plan = as_json(resolve(planning_kernel, make_spec("algo", {"sharpened": True})))
    unregister(planning_kernel, "storages", "sharpens")
    found = resolve(planning_kernel, spec_of(plan, planning_kernel, **keywords))
    assert len(found.storages) == 1 and found.algorithm.config.sharpened is False


@pytest.mark.parametrize("keywords", [{"to_act": True}, {"plugins": ("no:sharpens",)}])
def test_an_extension_or_an_algorithm_does_not_ask_again_for_what_is_not_there(
    planning_kernel, keywords
):
    class Proposes:
        @hookimpl
        def rlk_configure(self):
            return Patch({"plugins": ["sharpens:size=3"], "sharpens.size": 3})

    algorithm = COMPONENTS["algorithms"]
    defaults = {**algorithm.defaults, "plugins": ["shakes"], "shakes.size": 4}
    registries = planning_kernel.registries
    registries.algorithms.register(
        "shaken", attrs.evolve(algorithm, name="shaken", defaults=defaults, collects="off-policy")
    )
    registries.extensions.register("proposes", Proposes)
    given = {"plugins": ["proposes"], "storage": "keeps"}
    plan = as_json(resolve(planning_kernel, make_spec("shaken", given)))
    assert {"sharpens", "shakes"} <= {one["name"] for one in plan["components"]}
    unregister(planning_kernel, "storages", "sharpens")
    if "to_act" in keywords:
        unregister(planning_kernel, "noises", "shakes")
    found = resolve(planning_kernel, spec_of(plan, planning_kernel, **keywords))
    assert len(found.storages) == 1
    assert bool(found.noises) == ("to_act" not in keywords)


@pytest.mark.parametrize(
    ("acme_is", "keywords", "found"),
    [
        ({}, {}, "stand-in-vec-env"),
        ({}, {"changes": {"vec_env": "acme"}}, "acme"),
        ({}, {"plugins": ("acme",)}, "acme"),
        ({"makes_only_vectors": True}, {}, "acme"),
        ({"hooks": "rlk_testing.stand_ins:Idle"}, {}, "acme"),
    ],
)
def test_acting_takes_the_algorithms_own_vector_environment(
    planning_kernel, acme_is, keywords, found
):
    component = attrs.evolve(COMPONENTS["vec_envs"], name="acme", **acme_is)
    planning_kernel.registries.vec_envs.register("acme", component)
    plan = as_json(resolve(planning_kernel, make_spec("algo", {"vec_env": "acme"})))
    spec = spec_of(plan, planning_kernel, to_act=True, **keywords)
    assert resolve(planning_kernel, spec).vec_env.name == found
    assert resolve(planning_kernel, spec_of(plan, planning_kernel)).vec_env.name == "acme"


def test_the_optimiser_of_a_group_stands_in_for_another_one(planning_kernel):
    acme(planning_kernel, "optimisers")
    algorithm = COMPONENTS["algorithms"]
    defaults = {**algorithm.defaults, "value_optimiser": "stand-in-optimiser"}
    planning_kernel.registries.algorithms.register(
        "grouped", attrs.evolve(algorithm, name="grouped", defaults=defaults)
    )
    plan = as_json(resolve(planning_kernel, make_spec("grouped", {"value_optimiser": "acme"})))
    unregister(planning_kernel, "optimisers", "acme")
    found = to_act(planning_kernel, plan).optimisers
    assert found["value_optimiser"].name == "stand-in-optimiser"


def test_what_is_broken_here_is_not_needed_either(planning_kernel):
    storages = planning_kernel.registries.storages
    acme(planning_kernel, "storages")
    plan = as_json(resolve(planning_kernel, make_spec("algo", {"storage": "acme"})))
    storages.unregister("acme")
    storages.register("acme", "no_such_module:Acme", collects="off-policy")
    assert to_act(planning_kernel, plan).storages[0].name == "keeps"


def test_what_no_file_may_run_is_not_needed_and_used_where_it_is_passed(planning_kernel):
    plan = as_json(
        resolve(planning_kernel, make_spec("algo", {"storage": Mine, "noise": IdleNoise}))
    )
    found = to_act(planning_kernel, plan)
    assert (found.storages[0].name, found.noises) == ("keeps", ())
    found = to_act(planning_kernel, plan, changes={"storage": Mine, "noise": IdleNoise})
    assert [one.name for one in (*found.storages, *found.noises)] == ["Mine", "IdleNoise"]


def test_what_no_file_may_run_is_not_needed_under_the_name_of_the_algorithms_own(planning_kernel):
    keeps = planning_kernel.registries.storages.get("keeps").component()
    own = attrs.evolve(keeps, factory=Mine)
    plan = as_json(resolve(planning_kernel, make_spec("algo", {"storage": own})))
    assert to_act(planning_kernel, plan).storages[0].component == keeps


def test_another_component_may_be_named_instead(planning_kernel):
    acme(planning_kernel, "storages")
    plan = as_json(resolve(planning_kernel, make_spec("algo", {"storage": "acme"})))
    unregister(planning_kernel, "storages", "acme")
    spec = spec_of(plan, planning_kernel, to_act=True, changes={"storage": "hoards"})
    assert resolve(planning_kernel, spec).storages[0].name == "hoards"


def test_where_nothing_stands_in_the_missing_component_is_named(planning_kernel):
    plan = as_json(resolve(planning_kernel, make_spec("algo", {})))
    unregister(planning_kernel, "storages", "keeps")
    with pytest.raises(PlanError, match=r"storage 'keeps' \(this program\).*storage=NAME\.$"):
        spec_of(plan, planning_kernel, to_act=True)


@pytest.mark.parametrize(("kind", "factory"), [("extensions", Idle), ("wrappers", lambda env: env)])
def test_what_says_that_it_only_trains_is_left_out(planning_kernel, kind, factory):
    registry = planning_kernel.registries[kind]
    registry.register("acme", factory, only_trains=True)
    given = {"plugins": ["acme"]}
    plan = as_json(resolve(planning_kernel, make_spec("algo", given)))
    registry.unregister("acme")
    with pytest.raises(PlanError, match=r"--plugin no:acme\. To predict alone, 'acme' is not "):
        spec_of(plan, planning_kernel)
    assert not getattr(to_act(planning_kernel, plan), kind)


def test_an_extension_that_only_trains_stays_where_it_is_as_it_was_saved(planning_kernel):
    planning_kernel.registries.extensions.register("acme", Idle, only_trains=True)
    plan = as_json(resolve(planning_kernel, make_spec("algo", {"plugins": ["acme"]})))
    assert [one.name for one in to_act(planning_kernel, plan).extensions] == ["acme"]
    (saved,) = (one for one in plan["components"] if one["name"] == "acme")
    saved["settings"]["of_another_version"] = 1
    assert to_act(planning_kernel, plan).extensions == ()


@pytest.mark.parametrize("keywords", [{}, {"to_act": True}])
@pytest.mark.parametrize(("kind", "name"), [("extensions", "extends"), ("wrappers", "wraps")])
def test_nobody_is_told_to_leave_out_what_the_actions_may_depend_on(
    planning_kernel, kind, name, keywords
):
    planning_kernel.registries.extensions.register("extends", Idle)
    plan = as_json(resolve(planning_kernel, make_spec("algo", {"plugins": [name]})))
    unregister(planning_kernel, kind, name)
    with pytest.raises(PlanError, match=rf"not there: register '{name}' as that program did\.$"):
        spec_of(plan, planning_kernel, **keywords)


@pytest.mark.parametrize(("kind", "name"), [("extensions", "extends"), ("wrappers", "wraps")])
def test_what_the_actions_may_depend_on_is_left_out_with_a_note(planning_kernel, kind, name):
    planning_kernel.registries.extensions.register("extends", Idle)
    plan = as_json(resolve(planning_kernel, make_spec("algo", {"plugins": [name]})))
    note = f"{kind[:-1]} '{name}' (this program) was part of how this model acts, and is left out"
    for is_installed in (True, False):
        spec = spec_of(plan, planning_kernel, plugins=(f"no:{name}",), to_act=True)
        (said,) = spec.notes
        assert said.startswith(note) and not getattr(resolve(planning_kernel, spec), kind)
        if is_installed:
            unregister(planning_kernel, kind, name)


def test_an_alias_leaves_out_what_the_saved_plan_has_by_its_own_name(planning_kernel):
    extensions = planning_kernel.registries.extensions
    extensions.register("extends", Idle)
    extensions.register("stretches", extensions.get("extends").component())
    plan = as_json(resolve(planning_kernel, make_spec("algo", {"plugins": ["extends"]})))
    spec = spec_of(plan, planning_kernel, plugins=("no:stretches",))
    assert resolve(planning_kernel, spec).extensions == ()
    (note,) = spec.notes
    assert note.startswith("extension 'extends' (this program) was part of how this model acts")


def test_what_only_trains_is_left_out_without_a_note(planning_kernel):
    planning_kernel.registries.extensions.register("hastens", Idle, only_trains=True)
    given = {"plugins": ["hastens", "shakes", "watches"]}
    plan = as_json(resolve(planning_kernel, make_spec("algo", given)))
    left_out = ("no:hastens", "no:shakes", "no:watches")
    assert spec_of(plan, planning_kernel, plugins=left_out, resumes=True).notes == ()


def test_one_error_names_all_that_is_missing(planning_kernel):
    registries = planning_kernel.registries
    given = {"plugins": ["wraps", "guards", "shakes"], "storage": "hoards"}
    plan = as_json(resolve(planning_kernel, make_spec("algo", given)))
    of_packages = {"wraps": "acme-wrappers", "guards": "acme-wrappers", "hoards": "acme-hoards"}
    for one in plan["components"]:
        if one["name"] in of_packages:
            one |= {"dist": of_packages[one["name"]], "version": "1.0"}
        if one["name"] in (*of_packages, "shakes"):
            registries[one["kind"]].unregister(one["name"])
    with pytest.raises(PlanError) as caught:
        spec_of(plan, planning_kernel)
    assert str(caught.value) == (
        "this model was made with noise 'shakes' (this program), storage 'hoards' (acme-hoards "
        "1.0), wrapper 'wraps' (acme-wrappers 1.0), wrapper 'guards' (acme-wrappers 1.0), which "
        "are not there: pip install acme-hoards==1.0 acme-wrappers==1.0 and register 'shakes' as "
        "that program did, or leave out 'shakes': --plugin no:shakes, or use another storage: "
        "--set storage=NAME. To predict alone, 'shakes' and 'hoards' are not needed: in Python, "
        "rlk.load(…, to_act=True)."
    )
