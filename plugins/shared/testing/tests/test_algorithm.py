"""The contract of algorithms fails for a broken algorithm, in the check for that fault."""

from __future__ import annotations

import dataclasses
import warnings

import attrs
import numpy as np
import pytest
import torch

from rlk.component import Component
from rlk.records import Act, Update
from rlk.settings import setting
from rlk_testing import AlgorithmContract
from rlk_testing.stand_ins import COMPONENTS, RandomActor, StandIn, StandInConfig, stand_in_kernel

GOOD = COMPONENTS["algorithms"]


def suite(component: Component, **fields: object) -> type:
    def kernel(self: AlgorithmContract) -> object:
        made = stand_in_kernel()
        made.registries.algorithms.unregister("stand-in")
        made.registries.algorithms.register("stand-in", component)
        return made

    return type("Suite", (AlgorithmContract,), {"component": component, "kernel": kernel, **fields})


def broken(factory: type, **fields: object) -> type:
    return suite(attrs.evolve(GOOD, factory=factory, **fields))


#: One suite for all tests, because a suite trains once for most of its checks.
GOOD_SUITE = suite(GOOD)


class SeedsItself(StandIn):
    def actor(self, rng=None):
        return RandomActor(self.run.action_space, np.random.default_rng())


class IgnoresItsStream(StandIn):
    def actor(self, rng=None):
        return super().actor(self.run.streams.numpy("actor"))


class DrawsGlobally(StandIn):
    def loss(self, batch):
        found = super().loss(batch)
        return found._replace(value=found.value * (1 + 1e-9 * np.random.rand()))


class SeedsGlobally(StandIn):
    def __init__(self, config, run):
        torch.manual_seed(0)
        super().__init__(config, run)


class ReadsItsLoss(StandIn):
    def update(self, batch, optimise):
        found = super().update(batch, optimise)
        return Update({"loss": found.metrics["loss"].item()}, found.td_error)


class ReportsNan(StandIn):
    def update(self, batch, optimise):
        found = super().update(batch, optimise)
        return Update({**found.metrics, "other": torch.tensor(float("nan"))}, found.td_error)


class ReportsTheMean(StandIn):
    def update(self, batch, optimise):
        found = super().update(batch, optimise)
        return Update(found.metrics, found.td_error.mean())


class ReportsNothing(StandIn):
    def update(self, batch, optimise):
        return Update(super().update(batch, optimise).metrics)


class WritesToItsBatch(StandIn):
    def update(self, batch, optimise):
        batch.reward.mul_(0.5)
        return super().update(batch, optimise)


class PairsEveryTwo(StandIn):
    """Its values [B, 1] are compared with the rewards [B] of all transitions."""

    def loss(self, batch):
        (value,) = self.policy(batch.observation, "vf")
        return super().loss(batch)._replace(value=(value - batch.reward).square().mean())


class PairsInMse(StandIn):
    def loss(self, batch):
        (value,) = self.policy(batch.observation, "vf")
        with warnings.catch_warnings(action="ignore"):
            paired = torch.nn.functional.mse_loss(value, batch.reward)
        return super().loss(batch)._replace(value=paired)


class ReplacesParameters(StandIn):
    def update(self, batch, optimise):
        for parameter in self.policy.parameters():
            parameter.data = parameter.data.clone()
        return super().update(batch, optimise)


class LearnsNothing(StandIn):
    def loss(self, batch):
        found = super().loss(batch)
        return found._replace(value=found.value * 0.0)


class NeverUpdates(StandIn):
    def batches(self, storage):
        return iter(())


class ForgetsItsCounter(StandIn):
    """What lives from update to update is missing in its state."""

    count = 0

    def loss(self, batch):
        self.count += 1
        found = super().loss(batch)
        return found._replace(value=found.value / self.count)


class SchedulesByUpdates(StandIn):
    """It has a schedule of its own, which starts again with every agent."""

    def __init__(self, config, run):
        super().__init__(attrs.evolve(config, learning_rate=0.0), run)
        self.rate = config.learning_rate

    def update(self, batch, optimise):
        group = self.run.optimise.groups["value"]
        group.learning_rate.fill_(self.rate(1 / (1 + self.run.clock.updates)))
        return super().update(batch, optimise)


class SchedulesOnce(StandIn):
    def __init__(self, config, run):
        rate = config.learning_rate
        fixed = rate(1.0) if callable(rate) else rate
        super().__init__(attrs.evolve(config, learning_rate=fixed), run)


class CountsItsOwnExploration(StandIn):
    """A noise with a fault: what it logs falls with its own steps, not with the clock."""

    def __init__(self, config, run):
        super().__init__(config, run)
        run.metric_sources.append(self.numbers)
        self.steps = 0

    def batches(self, storage):
        self.steps += self.config.n_steps
        return super().batches(storage)

    def numbers(self):
        clock = self.run.clock
        return {"train/weight": clock.remaining() if not self.steps else 1 / self.steps}


class LeavesItsTargetBehind(StandIn):
    def __init__(self, config, run):
        super().__init__(config, run)
        self.target = run.parameters.flat.clone()

    def update(self, batch, optimise):
        self.target.lerp_(self.run.parameters.flat, 0.5)
        return super().update(batch, optimise)

    def state_dict(self):
        return {"target": self.target.numpy().copy()}

    def load_state_dict(self, state):
        self.target.copy_(torch.as_tensor(state["target"]))


class HasAnObjectAsState(StandIn):
    def state_dict(self):
        return {"self": self.config}


class LosesItsState(StandIn):
    value = 0

    def update(self, batch, optimise):
        self.value += 1
        return super().update(batch, optimise)

    def state_dict(self):
        return {"value": self.value}


class CallsHooksInUpdates(StandIn):
    def update(self, batch, optimise):
        for _ in range(3):
            self.run.hooks.all("rlk_update_end", run=self.run)
        return super().update(batch, optimise)


class StepsByItself(StandIn):
    def update(self, batch, optimise):
        found = super().update(batch, optimise)
        error = found.td_error * batch.reward.abs().max() ** 2
        self.run.parameters.flat.sub_(error.square().mean())
        return found


class LeavesHalfAside(StandIn):
    def __init__(self, config, run):
        super().__init__(config, run)
        views, flat = run.parameters.select(("vf",))
        group = run.optimise.groups["value"]
        run.optimise.groups["value"] = dataclasses.replace(
            group, parameters=views[:1], flat=flat[: views[0].numel()]
        )


class ActsOutside(StandIn):
    def actor(self, rng=None):
        class Outside(RandomActor):
            def act(self, observation, carry, episode_start, deterministic=False):
                found = super().act(observation, carry, episode_start, deterministic)
                return found._replace(env_action=found.env_action * 0 + 99)

        return Outside(self.run.action_space, np.random.default_rng(0))


class IsNeverDeterministic(StandIn):
    def actor(self, rng=None):
        made = super().actor(rng)
        act = made.act
        made.act = lambda observation, carry, start, deterministic=False: act(
            observation, carry, start
        )
        return made


class MixesItsBatch(StandIn):
    def actor(self, rng=None):
        outer = super().actor(rng)

        class Mixes:
            start, metrics = outer.start, outer.metrics

            def act(self, observation, carry, episode_start, deterministic=False):
                found = outer.act(observation, carry, episode_start, deterministic)
                if not deterministic:
                    return found
                action = np.full(len(observation), len(observation) % 2)
                return Act(action, action + 1, None, {})

        return Mixes()


@attrs.frozen(kw_only=True)
class Helpless(StandInConfig):
    other: int = 1


@attrs.frozen(kw_only=True)
class WithACallable(StandInConfig):
    other: object = attrs.field(default=lambda x: x, **setting("a function"))


@attrs.frozen(kw_only=True)
class GrowsWhenRead(StandInConfig):
    other: int = attrs.field(default=1, converter=lambda size: size + 1, **setting("a size"))


CASES = [
    (SeedsItself, "test_the_same_seed_gives_parameters_that_are_equal_bit_for_bit"),
    (SeedsItself, "test_an_actor_draws_from_the_stream_it_is_given_and_from_nothing_else"),
    (IgnoresItsStream, "test_an_actor_draws_from_the_stream_it_is_given_and_from_nothing_else"),
    (IgnoresItsStream, "test_predicting_between_two_trainings_does_not_change_the_second"),
    (DrawsGlobally, "test_nothing_draws_from_a_global_generator"),
    (SeedsGlobally, "test_building_an_agent_draws_from_no_global_generator"),
    (ReadsItsLoss, "test_metrics_are_finite_tensors_that_nobody_has_read"),
    (ReportsNan, "test_metrics_are_finite_tensors_that_nobody_has_read"),
    (ReportsTheMean, "test_every_update_reports_what_the_component_declares"),
    (ReportsNothing, "test_every_update_reports_what_the_component_declares"),
    (WritesToItsBatch, "test_an_update_leaves_its_batch_as_it_was"),
    (PairsEveryTwo, "test_no_update_pairs_every_transition_with_every_other"),
    (PairsInMse, "test_no_update_pairs_every_transition_with_every_other"),
    (ReplacesParameters, "test_parameters_stay_views_of_one_flat_tensor"),
    (LearnsNothing, "test_it_trains_on_every_action_space_that_it_declares"),
    (LearnsNothing, "test_it_trains_on_several_environments_at_once"),
    (NeverUpdates, "test_it_trains_on_every_action_space_that_it_declares"),
    (ForgetsItsCounter, "test_a_restored_checkpoint_learns_on_bit_for_bit"),
    (HasAnObjectAsState, "test_its_state_is_plain_and_comes_back_as_it_was"),
    (LosesItsState, "test_its_state_is_plain_and_comes_back_as_it_was"),
    (
        SchedulesByUpdates,
        "test_a_scheduled_setting_is_a_function_of_what_remains_by_the_runs_clock",
    ),
    (SchedulesOnce, "test_a_scheduled_setting_is_a_function_of_what_remains_by_the_runs_clock"),
    (
        CountsItsOwnExploration,
        "test_scheduled_numbers_go_on_over_calls_of_learn_and_after_loading",
    ),
    (LeavesItsTargetBehind, "test_parameters_can_be_taken_out_and_put_into_another_agent"),
    (CallsHooksInUpdates, "test_hooks_are_called_once_an_iteration_and_never_by_step_or_update"),
    (StepsByItself, "test_rewards_beyond_all_measure_never_reach_the_parameters_as_nan"),
    (LeavesHalfAside, "test_every_parameter_is_moved_by_some_group"),
    (ActsOutside, "test_it_predicts_for_one_observation"),
    (IsNeverDeterministic, "test_its_deterministic_action_is_the_same_at_every_call"),
    (MixesItsBatch, "test_it_predicts_for_a_batch_what_it_predicts_for_each"),
]


#: How those end that raise before the check's own assertion.
ERRORS = {
    ReportsNan: "error: NotFinite: algorithm 'stand-in'",
    ReplacesParameters: "error: RlkError: parameter 'vf.out.weight' is no longer part",
}


@pytest.mark.parametrize(
    ("factory", "check"), CASES, ids=lambda value: getattr(value, "__name__", None)
)
def test_a_broken_algorithm_fails_the_check_that_is_meant_for_it(rlk_verdict, factory, check):
    assert rlk_verdict(GOOD_SUITE, check) == "passed"
    assert rlk_verdict(broken(factory), check).startswith(ERRORS.get(factory, "failed: "))


COMPONENT_CASES = [
    ({"summary": ""}, "test_it_says_in_one_line_what_it_is"),
    ({"config": Helpless}, "test_every_setting_has_a_help_text"),
    ({"config": GrowsWhenRead}, "test_its_settings_survive_being_written_down_and_read_again"),
    ({"config": WithACallable}, "test_every_default_can_be_written_to_a_file"),
    ({"forwards": {"nothing": "replay.size"}}, "test_everything_that_its_record_names_is_there"),
    ({"defaults": {"policy": "no-such"}}, "test_everything_that_its_record_names_is_there"),
    ({"reports": ()}, "test_every_update_reports_what_the_component_declares"),
    ({"reports": ("td_error", "magic")}, "test_every_update_reports_what_the_component_declares"),
]


@pytest.mark.parametrize(("fields", "check"), COMPONENT_CASES)
def test_a_component_that_says_something_wrong_fails(rlk_verdict, fields, check):
    assert rlk_verdict(GOOD_SUITE, check) == "passed"
    assert rlk_verdict(suite(attrs.evolve(GOOD, **fields)), check).startswith("failed: ")


def test_a_factory_that_is_not_there_fails(rlk_verdict):
    lost = suite(attrs.evolve(GOOD, factory="rlk_testing.stand_ins:Nobody"))
    assert "has no attribute 'Nobody'" in rlk_verdict(lost, "test_its_factory_can_be_imported")


def test_a_config_in_a_module_that_imports_torch_fails(rlk_verdict):
    check = "test_planning_with_it_imports_neither_torch_nor_gymnasium"
    config = attrs.make_class("Heavy", {"x": attrs.field(default=1)}, kw_only=True)
    config.__module__ = "rlk_testing.stand_ins.policy"
    assert rlk_verdict(GOOD_SUITE, check) == "passed"
    assert "torch" in rlk_verdict(suite(attrs.evolve(GOOD, config=config)), check)


def test_a_suite_without_a_component_says_so(rlk_verdict):
    empty = type("Suite", (AlgorithmContract,), {})
    found = rlk_verdict(empty, "test_its_name_is_found_in_the_registry_of_its_kind")
    assert "names no component" in found


def test_an_algorithm_that_does_not_learn_what_it_should_fails(rlk_verdict):
    check = "test_it_learns_what_can_be_learnt"
    assert rlk_verdict(GOOD_SUITE, check) == "does not apply"
    learns = {"learns": {"total_timesteps": 64}}
    assert "mean return" in rlk_verdict(suite(GOOD, **learns), check)
    assert rlk_verdict(suite(GOOD, learns_to=0.0, **learns), check) == "passed"
    # The pole's half length, 0.5, is CartPole's attribute `length`; Pendulum has none.
    for env, best in (("CartPole-v1", 500.0), ("Pendulum-v1", -1.0)):
        elsewhere = suite(GOOD, env=env, best_return=best, **learns)
        assert f"of at most {best}" in rlk_verdict(elsewhere, check)


def test_an_algorithm_that_says_it_trains_recurrent_policies_is_tried_with_one(rlk_verdict):
    check = "test_it_trains_a_recurrent_policy"
    declares = suite(attrs.evolve(GOOD, recurrent=True))
    # There is none among the stand-ins.
    assert "to try it: pip install rlk-lstm" in rlk_verdict(declares, check)
    assert rlk_verdict(GOOD_SUITE, check) == "does not apply"
