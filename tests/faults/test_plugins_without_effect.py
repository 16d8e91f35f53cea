"""A plugin without any effect is refused, and the error says what it lacks."""

from __future__ import annotations

import re
import types

import attrs
import pytest

import rlk
from rlk.component import Component
from rlk.errors import BrokenPlugin, PlanError
from rlk.hookspecs import hookimpl
from rlk.planning.resolve import resolve
from rlk.planning.spec import make_spec
from rlk.restoring.saved_plan import as_json, spec_of
from rlk_normal_noise import NormalActionNoise
from rlk_testing.environments import BY_ACTION_SPACE


class Unmarked:
    """Should stop a run, but without the mark its method is not a hook."""

    def rlk_step(self, run, step):
        return False


class PartlyUnmarked(Unmarked):
    @hookimpl
    def rlk_update_end(self, run):
        """Is called."""


class NearlyNamed:
    def on_step(self):
        return False


class Watches:
    """Counts how often it was made, and answers one hook."""

    made = 0

    def __init__(self):
        type(self).made += 1

    @hookimpl
    def rlk_training_start(self, run):
        """Is called."""


@pytest.fixture
def planned(rlk_stand_in_kernel):
    """A function that plans a run with these plugins."""

    def plan(*plugins):
        given = {"env": BY_ACTION_SPACE["Discrete"], "plugins": list(plugins)}
        return resolve(rlk_stand_in_kernel, make_spec("stand-in", given))

    return plan


@pytest.mark.parametrize(
    ("plugin", "message"),
    [
        (object(), r"plugin 'object-0' \(passed as object\) .* implements no hook"),
        (lambda run: False, r"implements no hook.*@rlk.hookimpl.*rlk\.Component\(.*'wrappers'"),
        (Unmarked(), r"Unmarked\.rlk_step is not marked.*@rlk\.hookimpl"),
        (Unmarked, r"Unmarked\.rlk_step is not marked.*@rlk\.hookimpl"),
        (PartlyUnmarked(), r"PartlyUnmarked\.rlk_step is not marked"),
        (NearlyNamed(), "'on_step' is not a hook.*nearest is rlk_step"),
        (types.SimpleNamespace(rlk_updat_end=print), "'rlk_updat_end'.*nearest is rlk_update_end"),
        (types.ModuleType("mine"), "implements no hook"),
        (NormalActionNoise(0.0, 0.1), r"value of a setting.* action_noise=NormalActionNoise\("),
    ],
)
def test_an_object_that_implements_no_hook_is_refused_with_the_nearest(planned, plugin, message):
    with pytest.raises(BrokenPlugin, match=message):
        planned(plugin)


def test_none_among_plugins_is_refused(planned):
    with pytest.raises(PlanError, match=r"plugins holds None.*Leave it out"):
        planned(Watches(), None)


def test_a_function_that_is_called_like_a_hook_is_told_where_to_stand(planned):
    def rlk_step(run, step):
        return False

    with pytest.raises(BrokenPlugin, match=r"'rlk_step'.*a method of a class, or in a module"):
        planned(rlk_step)


def test_a_class_is_made_as_the_command_line_makes_one(planned):
    Watches.made = 0
    assert [choice.name for choice in planned(Watches).extensions] == ["Watches-0"]
    assert Watches.made > 0


def test_a_component_is_put_where_its_kind_belongs(planned):
    wraps = Component(name="wraps", factory=lambda env: env, kind="wrappers")
    watches = Component(name="watches", factory=Watches, kind="callbacks")
    plan = planned(wraps, watches)
    assert [choice.name for choice in (*plan.wrappers, *plan.callbacks)] == ["wraps", "watches"]


def test_two_plugins_of_one_name_are_refused_unless_they_are_the_same(planned):
    one, other = (
        Component(name="mine", kind="wrappers", factory=factory)
        for factory in (lambda env: env, lambda env: env)
    )
    assert [choice.name for choice in planned(one, one).wrappers] == ["mine"]
    with pytest.raises(
        PlanError, match=r"two plugins have the name 'mine' \(passed as object; pas"
    ):
        planned(one, other)


def test_a_component_that_does_not_say_its_kind_is_refused(planned):
    with pytest.raises(PlanError, match=r"'wraps' .* does not say its kind.*kind='wrappers'"):
        planned(Component(name="wraps", factory=lambda env: env))


def test_a_component_of_a_distribution_without_a_hook_is_refused(planned, rlk_stand_in_kernel):
    rlk_stand_in_kernel.registries.callbacks.register("mine", Unmarked)
    with pytest.raises(BrokenPlugin, match=r"plugin 'mine'.*Unmarked\.rlk_step is not marked"):
        planned("mine")


@attrs.frozen
class Slotted:
    """Has no `__dict__`, and properties that must not be read while it is inspected."""

    value: int = 1

    @property
    def dangerous(self):
        raise RuntimeError("a property was asked")

    @hookimpl
    def rlk_training_start(self, run):
        """Is called."""


def test_properties_of_a_plugin_are_not_asked(planned):
    assert planned(Slotted()).extensions


@pytest.mark.parametrize(
    ("place", "message"),
    [
        ("./stop.py:Stop", r"plugin 'Stop' \(\./stop\.py:Stop\).*rlk_step is not marked"),
        ("./stop.py", r"name it: \./stop\.py:Stop"),
    ],
)
def test_the_command_line_refuses_them_as_well(place, message, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "stop.py").write_text("class Stop:\n    def rlk_step(self, run, step): ...\n")
    given = {"env": "CartPole-v1", "plugins": [place]}
    with pytest.raises(PlanError, match=message):
        resolve(rlk.default_kernel(), make_spec("ppo2", given))


def test_a_plugin_that_is_left_out_of_a_saved_run_takes_its_settings_along(rlk_make, tmp_path):
    rlk_make("dqn", plugins=["n-step:n_steps=3"]).save(tmp_path / "model.zip")
    with rlk.load(tmp_path / "model.zip", plugins=["no:n-step"]) as agent:
        assert [one.name for one in agent.plan.storages] == ["replay"]
    with pytest.raises(PlanError, match=r"'n-step' was left out by no:n-step.*n-step\.n_steps"):
        rlk_make("dqn", plugins=["no:n-step"], **{"n-step.n_steps": 3})


@pytest.mark.parametrize("setting", ["kfac_clip", "kfac.kfac_clip"])
def test_a_setting_of_what_another_component_replaced_says_what_to_type_instead(setting):
    given = {"env": "CartPole-v1", setting: 0.1}
    with pytest.raises(PlanError, match=r"--optimiser kfac instead of 'adam'"):
        rlk.make("acktr", optimiser="adam", **given)
    with rlk.make("acktr", optimiser="kfac", **given) as agent:
        assert agent.plan.optimiser.config.kfac_clip == 0.1


def test_a_setting_of_what_replaces_a_default_says_to_put_it_in():
    with pytest.raises(PlanError, match=r"Add --plugin kfac$"):
        rlk.make("ppo2", env="CartPole-v1", **{"kfac.kfac_clip": 0.1})
    with pytest.raises(PlanError, match=r"Add --plugin prioritized-replay$"):
        rlk.make("dqn", env="CartPole-v1", storage="replay", **{"prioritized-replay.alpha": 0.1})


@pytest.mark.parametrize(
    ("algorithm", "epsilon", "optimiser"),
    [
        ("a2c", "epsilon", "kfac"),
        ("a2c", "epsilon", "natural-gradient"),
        ("acer", "rprop_epsilon", "kfac"),
        ("bc", "adam_epsilon", "natural-gradient"),
        ("ppo1", "adam_epsilon", "kfac"),
    ],
)
def test_an_epsilon_that_the_optimiser_ignores_is_refused(
    algorithm, epsilon, optimiser, rlk_expert
):
    given = {"env": BY_ACTION_SPACE["Discrete"], "learning_rate": 0.25}
    given |= {"expert_path": str(rlk_expert)} if algorithm == "bc" else {}
    if algorithm == "ppo1":
        given["optim_stepsize"] = given.pop("learning_rate")

    def planned(**more):
        return resolve(rlk.default_kernel(), make_spec(algorithm, given | more))

    with pytest.raises(PlanError, match=rf"{epsilon}=0.1 is for .* and optimiser '{optimiser}'"):
        planned(optimiser=optimiser, **{epsilon: 0.1})
    assert planned(optimiser=optimiser).optimiser.name == optimiser
    assert getattr(planned(optimiser="adam", **{epsilon: 0.1}).algorithm.config, epsilon) == 0.1


@pytest.mark.parametrize(
    ("algorithm", "given", "reason"),
    [
        ("a2c", {"epsilon": 0.1, "torch-optim.kind": "SGD"}, "has no eps with kind=SGD"),
        ("acer", {"rprop_epsilon": 0.1, "torch-optim.kind": "Rprop"}, "has no eps with kind=Rprop"),
        ("ppo1", {"adam_epsilon": 0.1, "torch-optim.arguments": {"eps": 1.0}}, "arguments.eps=1.0"),
        ("a2c", {"epsilon": 0.1, "adam.eps": 1.0}, "takes its own eps=1.0 instead"),
    ],
)
def test_an_epsilon_that_the_settings_of_the_optimiser_replace_is_refused(algorithm, given, reason):
    own, other = given
    base = {"env": BY_ACTION_SPACE["Discrete"], "optimiser": other.partition(".")[0]}

    def planned(*keys):
        return resolve(
            rlk.default_kernel(), make_spec(algorithm, base | {key: given[key] for key in keys})
        )

    refused = rf"{own}=0\.1 would have no effect: .*{re.escape(reason)}.* Leave {own} out\.$"
    with pytest.raises(PlanError, match=refused):
        planned(own, other)
    assert planned(other).optimiser.name == base["optimiser"]
    assert getattr(planned(own).algorithm.config, own) == 0.1


@pytest.mark.parametrize("algorithm", ["a2c", "acktr", "ppo", "ppo2"])
def test_a_norm_for_an_optimiser_that_clips_no_gradient_is_refused(algorithm):
    given = {"env": BY_ACTION_SPACE["Discrete"]}

    def planned(**more):
        return resolve(rlk.default_kernel(), make_spec(algorithm, given | more))

    refused = r"max_grad_norm=0.1 clips gradients, and optimiser 'natural-gradient'.*adam"
    with pytest.raises(PlanError, match=refused):
        planned(optimiser="natural-gradient", max_grad_norm=0.1)
    for without_effect in ({}, {"max_grad_norm": None}):
        assert planned(optimiser="natural-gradient", **without_effect)
    assert planned(optimiser="kfac", max_grad_norm=0.1).algorithm.config.max_grad_norm == 0.1


@pytest.mark.parametrize(
    ("algorithm", "given", "unused"),
    [
        ("a2c", {"optimiser": "kfac"}, {"epsilon": 0.1}),
        ("acer", {"replay_ratio": 0.0}, {"replay_start": 7}),
        ("acer", {"trust_region": False}, {"delta": 2.0}),
        ("ppo2", {"optimiser": "natural-gradient"}, {"max_grad_norm": 0.1}),
        ("td3", {"target_policy_noise": 0.0}, {"target_noise_clip": 0.3}),
    ],
)
def test_a_setting_without_effect_is_refused_unless_it_is_from_a_file(algorithm, given, unused):
    """A file has every setting, not only those that were asked for."""
    kernel, env = rlk.default_kernel(), BY_ACTION_SPACE["Box" if algorithm == "td3" else "Discrete"]
    plan = as_json(resolve(kernel, make_spec(algorithm, {"env": env, **given})))
    plan["components"][0]["settings"].update(unused)  # the algorithm's
    ((name, value),) = unused.items()
    assert getattr(resolve(kernel, spec_of(plan, kernel, env=env)).algorithm.config, name) == value
    with pytest.raises(PlanError, match=rf"{name}=[\d.]+ "):
        resolve(kernel, spec_of(plan, kernel, env=env, changes={name: 2 * value}))
