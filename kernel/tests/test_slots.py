"""Who fills a slot: defaults, presets, plugins, what a user names and what they take out."""

from __future__ import annotations

import attrs
import pytest

from rlk.component import Component
from rlk.errors import PlanError, UnknownName
from rlk.hookspecs import hookimpl
from rlk.planning.resolve import resolve
from rlk.planning.spec import Patch, make_spec
from rlk.registry.kinds import SLOTS
from rlk.restoring.saved_plan import as_json, spec_of
from rlk_testing.environments import Walk
from rlk_testing.stand_ins import COMPONENTS, IdleNoise, StandInPolicy


@attrs.frozen(kw_only=True)
class Pitched:
    pitch: float = 1.0


def noises(plan):
    return [choice.name for choice in plan.noises]


def test_a_plugin_goes_into_its_slot_whatever_its_kind(plan):
    found = plan(plugins=["fancy", "hoards", "shakes", "watches", "writes", "wraps", "sharpens"])
    assert found.policy.name == "fancy" and noises(found) == ["shakes"]
    assert [c.name for c in found.storages] == ["hoards", "sharpens"]
    assert [c.name for c in found.callbacks] == ["watches"]
    assert [c.name for c in found.loggers] == ["writes"]
    assert [c.name for c in found.wrappers] == ["wraps"]


def test_decorators_are_stacked_by_their_first_stage_and_wrappers_as_written(plan):
    found = plan(plugins=["folds", "relabels", "sharpens", "guards", "wraps"])
    assert [c.name for c in found.storages] == ["keeps", "sharpens", "folds", "relabels"]
    assert [c.name for c in found.wrappers] == ["guards", "wraps"]


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"plugins": ["keeps", "hoards"]}, "'keeps' and 'hoards' both fill the slot 'storage'"),
        ({"storage": "keeps", "plugins": ["hoards"]}, "both fill the slot"),
        ({"policy": "plain", "plugins": ["fancy"]}, "both fill the slot"),
        ({"plugins": ["sharpens", "chooses"]}, "both take the sampling stage 'choose'"),
        (
            {"storage": "sharpens"},
            "decorates a storage and cannot be one by itself. Use --plugin sharpens",
        ),
        ({"plugins": ["other"]}, "choose it with --algo other"),
        ({"plugins": ["does"]}, "not part of a run"),
        ({"plugins": ["tuned"]}, "not part of a run"),
    ],
)
def test_two_for_one_slot_or_what_is_in_none_is_refused(plan, given, message):
    with pytest.raises(PlanError, match=message):
        plan(**given)


@pytest.mark.parametrize(
    "given",
    [
        {"plugins": ["shakes", "trembles"]},
        {"noise": ["shakes", "trembles"]},
        {"noise": "shakes", "plugins": ["trembles"]},
        {"noise": ("shakes", "trembles"), "plugins": ["trembles", "shakes"]},
        {"plugins": ["shakes"], "shaken": "trembles:size=3"},
    ],
)
def test_noises_are_put_around_one_another_in_the_order_written(plan, given):
    assert noises(plan(**given)) == ["shakes", "trembles"]


def test_a_noise_on_the_policy_is_the_innermost_and_there_is_one(planning_kernel, plan):
    for name in ("perturbs", "disturbs"):
        planning_kernel.registries.noises.register(name, IdleNoise, perturbs_policy=True)
    assert noises(plan(plugins=["shakes", "perturbs"])) == ["perturbs", "shakes"]
    with pytest.raises(PlanError, match=r"'perturbs' .* 'disturbs' .*a policy of their own"):
        plan(plugins=["perturbs", "disturbs"])


def test_one_of_several_noises_can_be_taken_out(plan):
    assert noises(plan(noise=["shakes", "trembles"], plugins=["no:shakes"])) == ["trembles"]


def test_noises_of_several_settings_stay_together_whoever_set_them(planning_kernel, plan):
    class Wants:
        def find(self, algo, env):
            return {"shaken": "shakes:size=3"}

    planning_kernel.registries.presets.register("wants", Wants)
    found = plan(preset="wants", trembling="trembles")
    assert noises(found) == ["shakes", "trembles"] and found.noises[0].config.size == 3
    found = plan(preset="wants", trembling="trembles", **{"shakes.size": 4})
    assert found.noises[0].config.size == 4


def test_a_noise_of_the_user_takes_the_place_of_one_of_a_preset_and_says_so(planning_kernel, plan):
    class Wants:
        def find(self, algo, env):
            return {"shaken": "shakes:size=3"}

    planning_kernel.registries.presets.register("wants", Wants)
    found = plan(preset="wants", plugins=["trembles"])
    assert noises(found) == ["trembles"]
    (note,) = [note for note in found.notes if note.startswith("noise")]
    assert note == (
        "noise 'trembles' takes the place of 'shakes', with which algo explores by preset wants: "
        "to have both, use --plugin shakes as well"
    )


def test_a_noise_of_the_user_takes_the_place_of_one_of_a_file_with_its_settings(plan):
    lower = make_spec("algo", {"noise": "shakes", "shakes.size": 3}, origin="spec.toml")
    assert noises(plan(lower=lower)) == ["shakes"]
    assert noises(plan(lower=lower, noise="trembles")) == ["trembles"]
    with pytest.raises(PlanError, match="'shakes' is not in this run"):
        plan(noise="trembles", **{"shakes.size": 3})


def test_a_component_of_the_user_takes_the_place_of_one_of_a_file_with_its_settings(plan):
    lower = make_spec("algo", {"storage": "hoards", "hoards.size": 3}, origin="spec.toml")
    assert plan(lower=lower).storages[0].config.size == 3
    assert [c.name for c in plan(lower=lower, storage="keeps").storages] == ["keeps"]
    assert [c.name for c in plan(lower=lower, plugins=["keeps"]).storages] == ["keeps"]
    with pytest.raises(PlanError, match="'hoards' is not in this run"):
        plan(storage="keeps", **{"hoards.size": 3})


def test_no_storage_takes_the_place_of_a_decorator_with_its_settings(plan):
    lower = make_spec("algo", {"sharpens.size": 3}, origin="spec.toml")
    with pytest.raises(PlanError, match="'sharpens' is not in this run"):
        plan(lower=lower, storage="keeps")


def test_a_setting_of_the_slot_of_noises_is_one_of_any_of_them(planning_kernel, plan):
    planning_kernel.registries.noises.register("hums", IdleNoise, config=Pitched)
    found = plan(plugins=["shakes", "hums"], **{"noise.size": 3, "noise.pitch": 2.0})
    assert [noise.config.size for noise in found.noises[:1]] == [3]
    assert found.noises[1].config.pitch == 2.0
    with pytest.raises(UnknownName, match="unknown setting 'ptch' in this run's noises"):
        plan(plugins=["shakes", "hums"], **{"noise.ptch": 2.0})


def test_naming_the_same_component_twice_is_fine(plan):
    found = plan(storage="hoards", plugins=["hoards:size=3"])
    assert [c.name for c in found.storages] == ["hoards"] and found.storages[0].config.size == 3
    assert len(plan(plugins=["watches", "watches:size=3"]).callbacks) == 1


def test_a_plugin_of_the_user_takes_the_slot_of_one_of_a_preset(planning_kernel, plan):
    class Wants:
        def find(self, algo, env):
            return {"plugins": ["hoards"]}

    planning_kernel.registries.presets.register("wants", Wants)
    assert plan(preset="wants").storages[0].name == "hoards"
    assert plan(preset="wants", plugins=["keeps"]).storages[0].name == "keeps"


def test_what_a_default_put_in_can_be_taken_out(plan):
    assert noises(plan(noise="shakes")) == ["shakes"]
    assert noises(plan(noise="shakes", plugins=["no:shakes"])) == []
    with pytest.raises(PlanError, match="nothing fills the slot 'policy'"):
        plan(plugins=["no:plain"])


def test_the_command_line_counts_more_than_a_file_also_for_a_slot(plan):
    lower = make_spec("algo", {"storage": "keeps", "store_size": 5}, origin="spec.toml")
    found = plan(plugins=["hoards"], lower=lower)
    assert (found.storages[0].name, found.storages[0].origin.by) == ("hoards", "user")
    fed = plan(lower=lower, **{"keeps.size": 8})
    assert fed.storages[0].config.size == fed.algorithm.config.store_size == 8


def test_what_the_user_says_counts_more_than_the_arguments_of_a_presets_plugin(
    planning_kernel, plan
):
    class Wants:
        def find(self, algo, env):
            return {"plugins": ["watches:size=4"]}

    planning_kernel.registries.presets.register("wants", Wants)
    assert plan(preset="wants").callbacks[0].config.size == 4
    assert plan(preset="wants", watches={"size": 6}).callbacks[0].config.size == 6


def test_two_that_count_as_much_must_not_contradict_each_other(plan):
    both = r"^watches\.size=4 \(user\) and plugin 'watches:size=3' \(user\) are one setting"
    with pytest.raises(PlanError, match=both):
        plan(plugins=["watches:size=3"], watches={"size": 4})
    with pytest.raises(PlanError, match=r"^plugin 'watches:size=3' .*plugin 'watches:size=4' "):
        plan(plugins=["watches:size=3", "watches:size=4"])
    with pytest.raises(PlanError, match=r"^gamma=0\.5 \(user\) and algo\.gamma=0\.6 \(user\)"):
        plan(gamma=0.5, **{"algo.gamma": 0.6})
    both = r"^policy\.size=3 \(user\) and plain\.size=4 \(user\) are one setting with two values"
    with pytest.raises(PlanError, match=both):
        plan(**{"policy.size": 3, "plain.size": 4})
    assert plan(**{"policy.size": 3, "plain.size": 3}).policy.config.size == 3
    lower = make_spec("algo", {"plain.size": 4}, origin="spec.toml")
    assert plan(lower=lower, **{"policy.size": 3}).policy.config.size == 3


def test_what_a_preset_put_in_can_be_taken_out(plan):
    assert [c.name for c in plan(preset="tuned").callbacks] == ["watches"]
    assert plan(preset="tuned", plugins=["no:watches"]).callbacks == ()


def test_a_component_that_a_finder_finds_is_put_in_its_slot(planning_kernel, plan):
    mine = Component(name="mine", factory=StandInPolicy, kind="policies")
    planning_kernel.registries.finders.register("shelf", lambda place, kind: mine)
    found = plan(plugins=["shelf:mine"]).policy
    assert (found.name, found.dist) == ("mine", "shelf:mine")
    assert plan(policy="./mine.py").policy.dist == "./mine.py"


def test_an_algorithm_that_names_no_environment_wants_one(planning_kernel, plan):
    defaults = dict(COMPONENTS["algorithms"].defaults)
    defaults.pop("env")
    planning_kernel.registries.algorithms.register(
        "homeless", attrs.evolve(COMPONENTS["algorithms"], name="homeless", defaults=defaults)
    )
    with pytest.raises(PlanError, match=r"'homeless' names no default. Use --env NAME"):
        plan("homeless")
    assert plan("homeless", env="CartPole-v1").sources["env"].by == "user"
    assert plan("stand-in").sources["env"].by == "algorithm stand-in"


def test_a_slot_that_nothing_fills_is_refused(planning_kernel, plan):
    defaults = dict(COMPONENTS["algorithms"].defaults)
    defaults.pop("serializer")
    planning_kernel.registries.algorithms.register(
        "bare", attrs.evolve(COMPONENTS["algorithms"], name="bare", defaults=defaults)
    )
    with pytest.raises(PlanError, match="nothing fills the slot 'serializer'"):
        plan("bare")


@pytest.fixture
def exploring(planning_kernel):
    """A preset `wants` with a noise by a plugin, and `names`, which names two by settings."""

    def of(tuned):
        return type("Wants", (), {"find": lambda self, algo, env: tuned})

    presets = planning_kernel.registries.presets
    presets.register("wants", of({"plugins": ["shakes:size=3"]}))
    presets.register("names", of({"shaken": "shakes:size=3", "trembling": "trembles"}))


@pytest.mark.parametrize("none", [None, "none"])
@pytest.mark.parametrize("origin", ["", "spec.toml"])
def test_no_noise_of_the_user_or_a_file_counts_more_than_that_of_a_preset(
    exploring, plan, none, origin
):
    assert noises(plan(preset="wants")) == ["shakes"]
    found = plan(preset="wants", shaken=none, origin=origin)
    assert noises(found) == [] and found.algorithm.config.shaken is None
    by = origin or "user"
    note = f"no noise ({by}) takes the place of 'shakes', with which algo explores by preset wants"
    assert [one for one in found.notes if "noise" in one] == [note]


def test_no_noise_of_one_setting_leaves_those_of_other_settings(exploring, plan):
    assert noises(plan(preset="names")) == ["shakes", "trembles"]
    assert noises(plan(preset="names", shaken=None)) == ["trembles"]
    assert noises(plan(preset="wants", shaken=None, trembling="trembles")) == ["trembles"]
    assert noises(plan(preset="wants", shaken=None, plugins=["trembles"])) == ["trembles"]


def test_no_noise_of_a_file_gives_way_to_one_of_the_user_and_the_other_way_round(plan):
    lower = make_spec("algo", {"shaken": None, "noise": "trembles"}, origin="a saved plan")
    assert noises(plan(lower=lower)) == ["trembles"], "the file has both: its noise was put in"
    assert noises(plan(lower=lower, shaken=None)) == []
    lower = make_spec("algo", {"shaken": None}, origin="spec.toml")
    assert noises(plan(lower=lower, plugins=["shakes"])) == ["shakes"]


def test_a_slot_that_may_be_empty_is_emptied_by_the_word_none(exploring, plan):
    assert noises(plan(preset="names", noise="none")) == []
    assert noises(plan(preset="names", noise="none", shaken=None)) == []
    assert noises(plan(preset="names", noise=None)) == ["shakes", "trembles"], "it is left open"
    lower = make_spec("algo", {"noise": "none"}, origin="spec.toml")
    assert noises(plan(lower=lower, preset="wants")) == []
    for slot in (slot for slot in SLOTS if slot != "noise"):
        with pytest.raises(PlanError, match=f"^{slot}=none: the slot .* cannot be emptied"):
            plan(**{slot: "none"})


@pytest.mark.parametrize("also", [{"plugins": ["shakes"]}, {"shaken": "shakes"}])
def test_an_emptied_slot_and_a_noise_that_count_as_much_contradict_each_other(plan, also):
    with pytest.raises(PlanError, match=r"^noise=none \(user\) and .*shakes.* with two values"):
        plan(noise="none", **also)


def test_a_noise_that_another_took_the_place_of_does_not_come_back_from_a_file(
    planning_kernel, exploring, plan
):
    for given in ({"noise": "trembles"}, {"noise": "none"}, {"shaken": None, "trembling": None}):
        found = plan(preset="names", **given)
        again = resolve(planning_kernel, spec_of(as_json(found), planning_kernel))
        assert noises(again) == noises(found)
        assert noises(found) == [name for name in ["trembles"] if name in given.values()]
        assert found.algorithm.config.shaken is None


@pytest.mark.parametrize("preset", [True, 3, ["tuned"]])
def test_a_preset_is_chosen_by_its_name(plan, preset):
    with pytest.raises(PlanError, match=r"preset is .*; it is a name \(.*tuned.*\), 'auto' or"):
        plan(preset=preset)


def test_what_a_preset_sets_of_a_component_that_is_left_out_goes_with_it(planning_kernel, plan):
    class Wants:
        def find(self, algo, env):
            return {"plugins": ["watches"], "watches.size": 3}

    planning_kernel.registries.presets.register("wants", Wants)
    assert [one.config.size for one in plan(preset="wants").callbacks] == [3]
    assert plan(preset="wants", plugins=["no:watches"]).callbacks == ()
    for origin in ("", "a file"):
        with pytest.raises(PlanError, match=r"'watches' was left out by no:watches"):
            plan(plugins=["no:watches"], origin=origin, **{"watches.size": 3})


def test_a_preset_is_not_looked_for_where_the_environment_is_an_object(plan):
    assert plan(env=Walk, preset="auto").preset == ""
    with pytest.raises(PlanError, match=r"'tuned' for algo on <class .*Walk'>, which is not an id"):
        plan(env=Walk, preset="tuned")


@pytest.mark.parametrize(
    ("key", "value"), [("out", "runs/mine"), ("preset", "tuned"), ("verbose", 1)]
)
def test_what_only_the_user_may_set_is_refused_of_a_plugin(plan, key, value):
    class Proposes:
        @hookimpl
        def rlk_configure(self, spec):
            return Patch({key: value})

    with pytest.raises(PlanError, match=f"plugin .* proposes {key}=.*which only the user may set"):
        plan(plugins=[Proposes()])


def test_plugins_that_put_in_others_without_end_are_refused(plan, monkeypatch):
    monkeypatch.setattr("rlk.planning.gather.MOST_PLUGINS", 20)

    class Proposes:
        @hookimpl
        def rlk_configure(self, spec):
            return Patch({"plugins": [Proposes()]})

    with pytest.raises(
        PlanError, match=r"'Proposes-20' \(plugin Proposes-19\) is one of more than"
    ):
        plan(plugins=[Proposes()])


def test_a_plugin_may_leave_none_out(plan):
    class Proposes:
        @hookimpl
        def rlk_configure(self, spec):
            return Patch({"plugins": ["no:watches"]})

    with pytest.raises(PlanError, match=r"plugin .* proposes no:watches; only the user leaves"):
        plan(plugins=[Proposes()])


@pytest.mark.parametrize("asked", ["shakes", "quivers"])
@pytest.mark.parametrize("refused", ["shakes", "quivers"])
def test_a_component_is_left_out_by_any_of_its_names(planning_kernel, plan, asked, refused):
    noises = planning_kernel.registries.noises
    noises.register("quivers", noises.get("shakes").component())
    assert not plan(noise=asked, plugins=[f"no:{refused}"]).noises
    assert not plan(shaken=f"{asked}:size=2", plugins=[f"no:{refused}"]).noises
