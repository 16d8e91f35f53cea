"""Recipes: what their names stand for, and whose word counts."""

from __future__ import annotations

import attrs
import pytest

from rlk.errors import BrokenPlugin, PlanError, UnknownName
from rlk.planning.recipes import expanded
from rlk.planning.spec import make_spec
from rlk.restoring.saved_plan import as_json, spec_of
from rlk.settings import at_least


@attrs.frozen(kw_only=True)
class Settings:
    model: str = attrs.field(metadata={"help": "the algorithm"})
    strength: int = attrs.field(default=7, validator=at_least(0))


def stands_for(config):
    return {
        "algo": config.model,
        "plugins": ["sharpens"],
        "policy": "fancy",
        "policy.size": 3,
        "gamma": 0.7,
        "sharpens.shape": "square",
    }


@pytest.fixture(autouse=True)
def recipe(planning_kernel):
    forwards = {"strength": "sharpens.size"}
    register = planning_kernel.registries.recipes.register
    register("dish", stands_for, config=Settings, forwards=forwards)


@pytest.fixture
def dish(plan):
    return lambda **given: plan("dish", **{"model": "algo", **given})


def test_a_run_has_the_algorithm_the_plugins_and_the_settings_of_the_recipe(dish):
    found = dish()
    assert found.algorithm.name == "algo" and found.algorithm.config.gamma == 0.7
    assert [choice.name for choice in found.storages] == ["keeps", "sharpens"]
    assert found.storages[1].config.shape == "square"
    assert (found.policy.name, found.policy.config.size) == ("fancy", 3)


def test_the_plan_says_that_it_was_the_recipe(dish):
    found = dish()
    for choice in (found.algorithm, found.storages[1], found.policy):
        assert choice.origin.by == "recipe dish"
    assert found.algorithm.sources["gamma"].by == "recipe dish"
    assert "recipe dish: algorithm algo and sharpens" in found.notes


def test_what_the_user_says_counts_more_than_the_recipe_and_the_recipe_more_than_a_preset(dish):
    assert dish(preset="tuned").algorithm.config.gamma == 0.7
    found = dish(gamma=0.2, policy="plain")
    assert found.algorithm.config.gamma == 0.2 and found.policy.name == "plain"


@pytest.mark.parametrize("key", ["strength", "dish.strength", "sharpens.size"])
def test_a_setting_of_the_recipe_is_found_under_each_of_its_names(dish, key):
    found = dish(**{key: 2})
    assert found.storages[1].config.size == 2
    assert found.storages[1].sources["size"].by == "user"


def test_a_setting_that_nobody_gave_is_left_to_the_component(dish):
    assert dish().storages[1].config.size == 1


@pytest.mark.parametrize("key", ["gamma", "dish.gamma", "algo.gamma"])
def test_every_setting_of_the_algorithm_is_reachable(dish, key):
    assert dish(**{key: 0.4}).algorithm.config.gamma == 0.4


def test_two_values_for_one_setting_are_refused(dish):
    with pytest.raises(PlanError, match=r"strength=2 \(user\) and sharpens.size=3 \(user\)"):
        dish(**{"strength": 2, "sharpens.size": 3})
    with pytest.raises(PlanError, match=r"^strength=2 \(user\) and dish\.strength=3 \(user\)"):
        dish(**{"strength": 2, "dish.strength": 3})


def test_the_users_value_counts_more_than_that_of_a_file(plan):
    lower = make_spec("dish", {"model": "algo", "strength": 2, "gamma": 0.1}, origin="spec.toml")
    found = plan("dish", lower=lower, **{"sharpens.size": 5})
    assert found.storages[1].config.size == 5
    assert found.algorithm.config.gamma == 0.1
    assert found.algorithm.sources["gamma"].by == "spec.toml"
    assert plan("dish", lower=lower).storages[1].sources["size"].by == "spec.toml"


def test_what_the_recipe_puts_in_can_be_left_out(plan, planning_kernel):
    made = {"algo": "algo", "plugins": ["sharpens"]}
    planning_kernel.registries.recipes.register("plain-dish", lambda: made)
    assert len(plan("plain-dish").storages) == 2
    assert len(plan("plain-dish", plugins=["no:sharpens"]).storages) == 1


def test_a_model_that_was_saved_is_used_without_the_recipe(dish, planning_kernel):
    saved = as_json(dish(strength=4))
    planning_kernel.registries.recipes.unregister("dish")
    spec = spec_of(saved, planning_kernel)
    assert spec.algo == "algo" and spec.given["sharpens.size"] == 4


def test_a_spec_of_an_algorithm_stays_as_it_is(planning_kernel):
    spec = make_spec("algo", {"gamma": 0.5})
    assert expanded(spec, planning_kernel.registries) is spec


def test_a_setting_that_the_recipe_needs_is_asked_for(plan):
    with pytest.raises(PlanError, match=r"'dish' .* needs model: the algorithm. See: rlk plugins"):
        plan("dish")


@pytest.mark.parametrize(
    ("given", "error", "message"),
    [
        ({"strength": -1}, PlanError, "strength"),
        ({"model": "alga"}, UnknownName, "unknown algorithm 'alga'. Did you mean 'algo'"),
        ({"strenght": 1}, UnknownName, r"setting of recipe 'dish'.*Did you mean 'strength'"),
        ({"nonsense": 1}, UnknownName, r"setting of algorithm 'algo'.*'nonsense'"),
        ({"plugins": ["dish"]}, PlanError, "choose it with --algo dish"),
    ],
)
def test_what_does_not_fit_is_refused_with_whose_it_is(dish, given, error, message):
    with pytest.raises(error, match=message):
        dish(**given)


@pytest.mark.parametrize("made", [None, {}, {"plugins": ["sharpens"]}, "algo"])
def test_a_recipe_that_names_no_algorithm_is_broken(plan, planning_kernel, made):
    planning_kernel.registries.recipes.register("bare", lambda: made)
    with pytest.raises(BrokenPlugin, match=r"recipe 'bare' .*names no algorithm"):
        plan("bare")
