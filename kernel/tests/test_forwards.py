"""Settings of an algorithm that forward to, activate or select other components."""

from __future__ import annotations

import attrs
import pytest

from rlk.errors import PlanError
from rlk.hookspecs import hookimpl
from rlk.planning.resolve import resolve
from rlk.planning.spec import Patch, make_spec
from rlk.registry.entry import Entry
from rlk.restoring.saved_plan import as_json, spec_of


def test_a_setting_of_the_algorithm_feeds_the_component_that_uses_it(plan):
    assert plan().storages[0].config.size == 100  # the algorithm's default
    assert plan(store_size=7).storages[0].config.size == 7


def test_a_setting_that_no_component_of_the_run_takes_is_refused(plan):
    """`store_size` is for `keeps` alone."""
    assert plan(storage="hoards").storages[0].config.size == 1
    instead = "Use --storage keeps instead of 'hoards'"
    with pytest.raises(PlanError, match=rf"store_size=7 is for 'keeps'.*{instead}"):
        plan(store_size=7, storage="hoards")


@pytest.mark.parametrize("key", ["keeps.size", "storage.size"])
def test_the_components_own_key_is_the_same_setting(plan, key):
    found = plan(**{key: 7})
    assert found.storages[0].config.size == 7
    assert found.algorithm.config.store_size == 7
    assert plan(store_size=7, **{key: 7}).storages[0].config.size == 7


def test_it_is_also_under_the_name_that_the_component_was_asked_for_by(planning_kernel, plan):
    storages = planning_kernel.registries.storages
    keeps = storages.get("keeps").component()
    storages.add(Entry("storages", "keeps-all", "rlk-keeps", "1.0", lambda: keeps))
    found = plan(storage="keeps-all", **{"keeps-all.size": 7})
    assert found.storages[0].config.size == found.algorithm.config.store_size == 7


def test_one_setting_with_two_values_is_refused(plan):
    with pytest.raises(PlanError, match=r"store_size=7 .*keeps\.size=8 .*Set one of them"):
        plan(store_size=7, **{"keeps.size": 8})


def test_one_setting_may_have_two_names(plan):
    for given in ({"hoard_size": 7}, {"hoard_size": 7, "store_size": 7}, {"store_size": 7}):
        found = plan(**given)
        assert found.storages[0].config.size == found.algorithm.config.store_size == 7
    assert plan(hoard_size=None).storages[0].config.size == 100
    assert plan(hoard_size=None, store_size=7).storages[0].config.size == 7
    with pytest.raises(PlanError, match=r"store_size=8 .*hoard_size=7 .*Set one of them"):
        plan(hoard_size=7, store_size=8)


@pytest.mark.parametrize(
    ("tuned", "given", "size"),
    [
        ({"store_size": 5}, {"keeps.size": 8}, 8),
        ({"keeps.size": 5}, {"store_size": 8}, 8),
        ({"store_size": 5}, {}, 5),
        ({"keeps.size": 5}, {}, 5),
    ],
)
def test_what_a_user_says_at_either_end_wins_over_a_preset_at_the_other(
    planning_kernel, plan, tuned, given, size
):
    class Wants:
        def find(self, algo, env):
            return tuned

    planning_kernel.registries.presets.register("wants", Wants)
    found = plan(preset="wants", **given)
    assert found.storages[0].config.size == size and found.algorithm.config.store_size == size


def test_a_setting_forwarded_to_a_slot_is_that_of_whatever_fills_it(plan, planning_kernel):
    algorithms = planning_kernel.registries.algorithms
    algo = algorithms.get("algo").component()
    forwards = {"store_size": "storage.size", "loudness": "noise.size"}
    algorithms.unregister("algo")
    algorithms.register("algo", attrs.evolve(algo, forwards=forwards))
    assert plan(storage="hoards", store_size=7).storages[0].config.size == 7
    found = plan(storage="hoards", plugins=["sharpens"], **{"hoards.size": 8})
    assert [one.config.size for one in found.storages] == [8, 8], "both have that setting"
    assert found.algorithm.config.store_size == 8
    found = plan(noise=["shakes", "trembles"], loudness=4)
    assert [one.config.size for one in found.noises] == [4, 4]
    with pytest.raises(PlanError, match=r"loudness=4 is for a noise with the setting 'size', whic"):
        plan(loudness=4)


def test_a_switch_puts_a_plugin_in_and_the_plugin_turns_the_switch(plan):
    found = plan(sharpened=True)
    assert [c.name for c in found.storages] == ["keeps", "sharpens"]
    found = plan(plugins=["sharpens"])
    assert found.algorithm.config.sharpened is True
    assert [c.name for c in plan(sharpened=False).storages] == ["keeps"]


def test_a_setting_that_is_on_by_default_puts_its_plugin_in(planning_kernel, plan):
    @attrs.frozen(kw_only=True)
    class On(type(plan().algorithm.config)):
        sharpened: bool = True
        shaken: str | None = "shakes:size=3"
        watched: int | bool | None = 7

    algorithms = planning_kernel.registries.algorithms
    algorithms.register(
        "on", attrs.evolve(algorithms.get("algo").component(), name="on", config=On)
    )
    found = plan("on")
    assert [one.name for one in found.storages] == ["keeps", "sharpens"]
    assert [(one.name, one.config.size) for one in found.noises] == [("shakes", 3)]
    assert [one.config.size for one in found.callbacks] == [7]
    assert found.storages[1].origin.by == "algorithm on", "it counts as what the algorithm asks for"
    off = plan("on", sharpened=False, shaken=None, watched=False)
    assert (len(off.storages), off.noises, off.callbacks) == (1, (), ())
    other = plan("on", noise="trembles", plugins=["no:sharpens"], watched=5)
    assert [one.name for one in other.noises] == ["trembles"] and len(other.storages) == 1
    assert other.callbacks[0].config.size == 5
    assert (other.algorithm.config.shaken, other.algorithm.config.sharpened) == (None, False)
    left_out = plan("on", plugins=["no:shakes"])
    assert left_out.noises == () and left_out.algorithm.config.shaken is None


def test_a_plugin_that_is_on_by_default_fills_a_slot_before_the_records_default(
    planning_kernel, plan
):
    @attrs.frozen(kw_only=True)
    class Loud(type(plan().algorithm.config)):
        ringing: bool = True

    algorithms = planning_kernel.registries.algorithms
    loud = attrs.evolve(algorithms.get("algo").component(), name="loud", config=Loud)
    algorithms.register("loud", loud)
    assert plan("loud", env=BOX).distribution.name == "gongs"
    assert plan("loud", env=BOX, ringing=False).distribution.name == "bells"
    assert plan("loud", env=BOX, distribution="bells").algorithm.config.ringing is False


def test_a_default_of_the_algorithms_record_counts_more_than_its_configs(planning_kernel, plan):
    @attrs.frozen(kw_only=True)
    class On(type(plan().algorithm.config)):
        sharpened: bool = True

    algorithms = planning_kernel.registries.algorithms
    algo = algorithms.get("algo").component()
    off = attrs.evolve(algo, name="off", config=On, defaults={**algo.defaults, "sharpened": False})
    algorithms.register("off", off)
    assert [one.name for one in plan("off").storages] == ["keeps"]
    assert [one.name for one in plan("off", plugins=["sharpens"]).storages] == ["keeps", "sharpens"]


def test_a_switch_of_more_values_puts_the_plugin_in_and_hands_it_the_value(plan):
    def sizes(**given):
        return [choice.config.size for choice in plan(**given).callbacks]

    assert sizes() == sizes(watched=None) == sizes(watched=False) == sizes(watched="none") == []
    assert sizes(watched=7) == [7]
    assert sizes(watched=True) == [1], "which is the plugin's own default"
    assert sizes(watched=True, **{"watches.size": 5}) == [5]
    found = plan(plugins=["watches:size=5"])
    assert found.callbacks[0].config.size == 5 and found.algorithm.config.watched is True


def test_a_plugin_that_a_switch_puts_in_proposes_settings_as_any_other(plan, planning_kernel):
    callbacks = planning_kernel.registries.callbacks
    watches = callbacks.get("watches").component()

    class Proposes(watches.factory):
        @hookimpl
        def rlk_configure(self, spec):
            return Patch({"n_envs": 3, "sharpened": True})

    callbacks.unregister("watches")
    callbacks.register("watches", Proposes, config=watches.config)
    found = plan(watched=True)
    assert found.n_envs == 3
    assert [choice.name for choice in found.storages] == ["keeps", "sharpens"]


def test_a_switch_for_a_kind_names_the_plugin_with_its_settings(plan):
    found = plan(shaken="shakes:size=3")
    assert found.noises[0].name == "shakes" and found.noises[0].config.size == 3
    assert plan(shaken="shakes", **{"shakes.size": 4}).noises[0].config.size == 4
    for nothing in (None, "none"):
        assert plan(shaken=nothing).noises == ()


def test_an_object_that_stands_for_a_plugin_is_as_good_as_its_name(plan):
    class Shaking:
        def as_setting(self):
            return "shakes:size=3"

    assert plan(shaken=Shaking()).noises[0].config.size == 3


@pytest.mark.parametrize("wrong", ["watches", "shake"])
def test_a_switch_for_a_kind_takes_nothing_of_another_kind(plan, wrong):
    with pytest.raises(PlanError, match=rf"unknown noise '{wrong}'"):
        plan(shaken=wrong)


def test_a_switch_and_a_plugin_that_contradict_each_other_are_refused(plan):
    said = (
        r"sharpened=false \(user\) and plugin 'sharpens' \(user\) contradict each other. "
        r"Use --set sharpened=true, or --plugin no:sharpens\."
    )
    with pytest.raises(PlanError, match=said):
        plan(sharpened=False, plugins=["sharpens"])
    with pytest.raises(PlanError, match=r"sharpened=True \(user\) and no:sharpens contradict"):
        plan(sharpened=True, plugins=["no:sharpens"])
    assert plan(sharpened=True, plugins=["no:sharpens", "sharpens"]).algorithm.config.sharpened


def test_a_plugin_sets_a_switch_that_is_false_with_a_lower_rank(plan):
    lower = make_spec("algo", {"sharpened": False, "ringing": False}, origin="a.toml")
    found = plan(lower=lower, plugins=["sharpens", "gongs"], env=BOX)
    assert [c.name for c in found.storages] == ["keeps", "sharpens"]
    assert found.distribution.name == "gongs" and found.algorithm.config.ringing is True


def test_a_switch_does_not_leave_out_the_plugin_of_a_preset(plan, planning_kernel):
    class Tuned:
        def find(self, algo, env):
            return {"plugins": ["sharpens:size=3"], "distribution": "gongs"}

    planning_kernel.registries.presets.register("tunes", Tuned)
    with pytest.raises(PlanError, match=r"'sharpens' \(preset .*contradict.*no:sharpens\."):
        plan(preset="tunes", sharpened=False, env=BOX)
    with pytest.raises(PlanError, match=r"'gongs' \(preset .*contradict.*or another distribution"):
        plan(preset="tunes", ringing=False, env=BOX)


def test_a_switch_of_a_saved_plan_is_turned_off_and_on_again(plan, planning_kernel):
    def storages(saved, **keywords):
        spec = spec_of(saved, planning_kernel, **keywords)
        return [choice.name for choice in resolve(planning_kernel, spec).storages]

    on, off = as_json(plan(plugins=["sharpens:size=3"])), as_json(plan(sharpened=False))
    assert storages(on) == ["keeps", "sharpens"] and storages(off) == ["keeps"]
    assert storages(on, plugins=("no:sharpens",)) == ["keeps"]
    for key in ("sharpened", "algo.sharpened"):
        assert storages(on, changes={key: False}) == ["keeps"]
    with pytest.raises(PlanError, match=r"=false \(user\) and plugin 'sharpens' \(user\) contra"):
        storages(on, changes={"sharpened": False}, plugins=("sharpens",))
    assert storages(off, changes={"sharpened": True}) == ["keeps", "sharpens"]
    assert storages(off, plugins=("sharpens",)) == ["keeps", "sharpens"]


def test_a_setting_of_the_users_for_a_plugin_that_the_user_switches_off_is_refused(plan):
    with pytest.raises(PlanError, match="'sharpens' is not in this run"):
        plan(sharpened=False, **{"sharpens.size": 3})


# ---- a setting that chooses what fills a slot ----------------------------------------------------

BOX = "rlk_testing.environments:BoxMatch"


def test_a_boolean_setting_chooses_a_distribution(plan):
    found = plan(ringing=True, env=BOX)
    assert found.distribution.name == "gongs" and found.distribution.origin.by == "user"
    assert plan(ringing=False).distribution.name == "coins"


def test_a_setting_and_a_switch_know_their_plugins_by_an_alias(planning_kernel, plan):
    registries = planning_kernel.registries
    registries.distributions.register("chimes", registries.find("gongs").component())
    registries.noises.register("quivers", registries.find("shakes").component())
    asked = {"distribution": "chimes", "shaken": "quivers:size=2", "plugins": ["watches"]}
    found = plan(env=BOX, **asked)
    assert (found.distribution.name, found.algorithm.config.ringing) == ("gongs", True)
    assert (found.noises[0].name, found.algorithm.config.shaken) == ("shakes", "quivers:size=2")


@pytest.mark.parametrize("asked", [{"distribution": "gongs"}, {"plugins": ["gongs"]}])
def test_choosing_the_distribution_sets_its_setting(plan, asked):
    assert plan(env=BOX, **asked).algorithm.config.ringing is True
    assert plan().algorithm.config.ringing is False


def test_a_distribution_in_place_of_a_presets_turns_its_setting_off(plan, planning_kernel):
    """A saved plan with both would ask for two distributions."""

    class Wants:
        def find(self, algo, env):
            return {"ringing": True, "sharpened": True}

    planning_kernel.registries.presets.register("wants", Wants)
    found = plan(preset="wants", distribution="bells", plugins=["no:sharpens"], env=BOX)
    assert found.distribution.name == "bells"
    assert (found.algorithm.config.ringing, found.algorithm.config.sharpened) == (False, False)
    again = resolve(planning_kernel, spec_of(as_json(found), planning_kernel, env=BOX))
    assert again.distribution.name == "bells" and again.algorithm.config.ringing is False


def test_a_setting_and_a_distribution_that_contradict_each_other_are_refused(plan):
    with pytest.raises(PlanError, match=r"ringing=false .*'gongs' .* or another distribution"):
        plan(ringing=False, distribution="gongs")
    with pytest.raises(PlanError, match="both fill the slot 'distribution'"):
        plan(ringing=True, distribution="coins")


@pytest.mark.parametrize("key", ["loudness", "gongs.size", "distribution.size"])
def test_a_setting_of_the_distribution_is_that_of_the_algorithm(plan, key):
    found = plan(ringing=True, env=BOX, **{key: 7})
    assert found.distribution.config.size == 7 and found.algorithm.config.loudness == 7


def test_the_default_that_the_algorithm_has_for_it_counts(plan):
    assert plan(ringing=True, env=BOX).distribution.config.size == 3


def test_a_setting_for_a_plugin_that_is_switched_off_is_refused(plan):
    """It would have no effect; what is not the user's, or is the default anyway, is no demand."""
    with pytest.raises(PlanError, match=r"loudness=7 is for 'gongs'.*--set ringing=true, or leave"):
        plan(loudness=7)
    assert plan(loudness=3).distribution.name == "coins"
    assert plan(lower=make_spec("algo", {"loudness": 7}, origin="a.toml")).algorithm.config.loudness


def test_a_distribution_is_refused_by_an_algorithm_that_draws_from_none(plan):
    with pytest.raises(PlanError, match=r"'coins'.* would have no effect: algorithm 'other'"):
        plan("other", distribution="coins")


def test_a_distribution_that_does_not_serve_the_actions_is_refused_with_its_setting(plan):
    with pytest.raises(PlanError, match=r"'gongs'.*serves action spaces Box.*\n.*ringing=false"):
        plan(ringing=True)
