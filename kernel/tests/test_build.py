"""From a plan to a run: who makes, replaces and wraps its parts."""

from __future__ import annotations

import attrs
import gymnasium as gym
import pytest
import torch

from rlk import hookimpl
from rlk.component import Component
from rlk.errors import BrokenPlugin, PlanError, RlkError
from rlk.one_process import OneProcess
from rlk.running.run import Run
from rlk.running.storage import make_storages
from rlk.running.vec_env import stack_size
from rlk_testing.environments import DiscreteMatch
from rlk_testing.stand_ins import StandIn, StandInParameters, StandInPolicy


def test_what_a_plugin_makes_is_used_instead(make):
    from rlk_testing.stand_ins import StandInOptimiser, StandInStorage

    class Store(StandInStorage):
        pass

    class Step(StandInOptimiser):
        pass

    class Alone(OneProcess):
        pass

    class Makes:
        @hookimpl
        def rlk_make_storage(self, choice):
            return Store() if choice.name == "stand-in-storage" else None

        @hookimpl
        def rlk_make_optimiser(self, group):
            return Step(group)

        @hookimpl
        def rlk_make_communicator(self):
            return Alone()

    run = make(Makes()).run
    assert type(run.storage) is Store and type(run.communicator) is Alone
    assert type(run.optimise.steps["value"]) is Step


def test_an_algorithm_that_collects_no_steps_is_refused(make, monkeypatch):
    monkeypatch.setattr(StandIn, "steps_per_collect", lambda self: 0)
    with pytest.raises(BrokenPlugin, match=r"steps_per_collect\(\) returned 0\. It .* at least 1"):
        make()


def test_a_collector_of_a_plugin_gathers_instead_and_its_state_is_saved(make):
    from rlk.saving import checkpoint
    from rlk_testing.stand_ins import StandInCollector

    class Counts(StandInCollector):
        collections = 0

        def collect(self):
            self.collections += 1
            return super().collect()

        def state_dict(self):
            return super().state_dict() | {"collections": self.collections}

    class Makes:
        @hookimpl
        def rlk_make_collector(self, run):
            return Counts(run)

    agent = make(Makes())
    agent.learn(16)
    assert type(agent.run.collector) is Counts
    assert agent.run.collector.collections == agent.run.clock.iterations > 0
    saved = checkpoint.run_state(agent.run)["collector"]
    assert saved["collections"] == agent.run.clock.iterations


class SpareKeeper:
    """Notes what storages are offered as an environment to ask."""

    def __init__(self):
        self.schema = None

    @hookimpl
    def rlk_make_storage(self, choice):
        from rlk_testing.stand_ins import StandInStorage

        keeper = self

        class Store(StandInStorage):
            def open(self, schema):
                keeper.schema = schema
                super().open(schema)

        return Store()


def test_a_storage_may_ask_an_environment_of_its_own_that_closes_with_the_run(make):
    keeper = SpareKeeper()
    agent = make(keeper, env="rlk_testing.environments:Walk", n_envs=2)
    spare = keeper.schema.make_env()
    assert spare.observation_space == agent.plan.observation_space
    assert all(spare is not env for env in agent.run.env.envs)
    agent.close()
    assert spare.closed == 1


def test_without_a_discount_of_its_algorithm_a_storage_discounts_by_1(make):
    keeper = SpareKeeper()
    run = make(keeper).run
    run.plan = attrs.evolve(run.plan, algorithm=attrs.evolve(run.plan.algorithm, config=None))
    make_storages(run)
    assert keeper.schema.gamma == 1.0


def test_where_a_finished_environment_was_passed_a_storage_may_ask_that(make):
    from rlk_testing.environments import Walk
    from rlk_testing.stand_ins import StandInVecEnv

    keeper, one = SpareKeeper(), Walk()
    with make(keeper, env=one):
        assert keeper.schema.make_env() is one
    with make(keeper, env=StandInVecEnv([Walk, Walk])) as agent:
        assert keeper.schema.make_env() is agent.run.env


def test_a_storage_knows_of_how_many_frames_the_environments_stack_their_observations(make):
    def stacked(size):
        return lambda: gym.wrappers.FrameStackObservation(DiscreteMatch(), size)

    def told(*made):
        keeper = SpareKeeper()
        mode = gym.vector.AutoresetMode.SAME_STEP
        with make(keeper, env=gym.vector.SyncVectorEnv(made, autoreset_mode=mode)):
            return keeper.schema.stack_size

    assert told(stacked(3), stacked(3)) == 3
    assert told(DiscreteMatch, DiscreteMatch) == 1

    class Many(gym.vector.VectorEnv):
        """A vector that has no single environments."""

    assert stack_size(Many()) == 1


def test_a_policy_or_an_actor_of_a_plugin_is_used(make):

    from rlk_testing.stand_ins import RandomActor

    class Makes:
        @hookimpl
        def rlk_make_policy(self, run, heads):
            self.policy = StandInPolicy().build(run.plan.observation_space, heads)
            return self.policy

        @hookimpl
        def rlk_make_actor(self, run):
            self.actor = RandomActor(run.plan.action_space, run.streams.numpy("actor"))
            return self.actor

    makes = Makes()
    run = make(makes).run
    assert run.policy is makes.policy and run.actor is makes.actor
    assert isinstance(run.parameters, StandInParameters)  # the chosen component's, of that module
    assert run.parameters.module is makes.policy


def test_what_an_algorithm_asks_for_goes_to_the_policy_component_as_it_is(make):
    class Asks(StandIn):
        asked = object()

        @staticmethod
        def heads(config, context):
            return Asks.asked

    class Builds:
        def build(self, observation_space, heads):
            assert heads is Asks.asked
            self.space = observation_space
            return torch.nn.ModuleDict({"vf": torch.nn.Linear(2, 1)})

        def flatten(self, module):
            self.module, self.parameters = module, StandInParameters(module)
            return self.parameters

    builds = Builds()
    run = make(algorithm=Asks, policy=Component(name="builds", factory=lambda: builds)).run
    assert builds.space == run.plan.observation_space
    assert run.parameters is builds.parameters and run.policy is builds.module
    assert run.parameters.names == ["vf.weight", "vf.bias"]


def test_what_an_algorithm_explores_with_is_around_the_noise_and_for_training_alone(
    make, rlk_stand_in_kernel
):
    class Around:
        def __init__(self, actor):
            self.actor, self.start = actor, actor.start
            self.act, self.metrics = actor.act, actor.metrics

    class Noise(Around):
        def __init__(self, *_):
            pass

        def wrap(self, actor, policy):
            return Around(actor)

    class Explores(StandIn):
        def explore(self, actor):
            self.given = actor
            return Around(actor)

    rlk_stand_in_kernel.registries.noises.register("shakes", Noise)
    run = make(algorithm=Explores, noise="shakes").run
    assert type(run.actor) is Around and run.actor.actor is run.algorithm.given
    assert type(run.algorithm.given) is Around
    assert type(run.algorithm.given.actor) is type(run.algorithm.actor(run.streams.numpy("actor")))


@pytest.mark.parametrize("method", ["heads", "actor", "extras", "explore", "steps_per_collect"])
def test_a_method_of_an_algorithm_that_returns_nothing_is_named(make, method):
    broken = type("Broken", (StandIn,), {method: lambda *arguments: None})
    wanted = rf"algorithm 'stand-in' .*: {method}\(\) returned None\. It must return"
    with pytest.raises(BrokenPlugin, match=wanted):
        make(algorithm=broken)


def test_an_actor_that_takes_no_stream_is_refused_with_what_it_is_called_with(make):
    class Fixed(StandIn):
        def actor(self):
            """Takes no stream."""

    with pytest.raises(BrokenPlugin, match=r"algorithm 'stand-in' .* called with \(Generator\): "):
        make(algorithm=Fixed)


def test_a_policy_that_builds_nothing_is_named(make):
    class Builds:
        def build(self, observation_space, heads):
            return None

        def flatten(self, module):
            raise AssertionError("it is not asked")

    with pytest.raises(BrokenPlugin, match=r"policy 'builds' .*: build\(\) returned None"):
        make(policy=Component(name="builds", factory=Builds))


def test_a_storage_that_cannot_do_what_its_place_asks_for_is_named(make):
    class Makes:
        def __init__(self, made):
            self.made = made

        @hookimpl
        def rlk_make_storage(self, choice):
            return self.made

    class Decorates:
        def open(self, base, schema): ...
        def feedback(self, batch, update): ...
        def state_dict(self): ...
        def load_state_dict(self, state): ...

    with pytest.raises(BrokenPlugin, match=r"storage 'stand-in-storage' .* lacks __len__, add, re"):
        make(Makes(Decorates()))
    with pytest.raises(BrokenPlugin, match="Make one of the class: Decorates"):
        make(Makes(Decorates))


def test_a_wrapper_that_returns_no_function_is_the_plugins_fault(make):
    class Wraps:
        @hookimpl
        def rlk_wrap_update(self, run):
            return lambda update: None

    with pytest.raises(RlkError, match=r"rlk_wrap_update\S* returned NoneType"):
        make(Wraps())


@pytest.mark.parametrize(
    ("hook", "wraps", "said"),
    [
        ("rlk_wrap_update", lambda update, run: update, "must take one argument"),
        ("rlk_wrap_collector", lambda: None, "must take one argument"),
        ("rlk_wrap_add", lambda add, run: add, "must take one argument"),
        ("rlk_wrap_update", lambda update: lambda batch: 0, r"returned .* called with \(2\)"),
        ("rlk_wrap_collector", lambda collect: lambda run: 0, r"returned .* called with \(0\)"),
        ("rlk_wrap_loss", lambda loss: lambda: 0, r"returned .* called with \(1\)"),
    ],
)
def test_a_wrapper_of_other_arguments_is_the_plugins_fault(make, hook, wraps, said):
    plugin = type("Wraps", (), {hook: hookimpl(lambda self: wraps)})()
    with pytest.raises(BrokenPlugin, match=rf"^the wrapper {__name__}\.<lambda> {said}"):
        make(plugin).learn(8)


def test_a_run_that_cannot_be_built_closes_its_environments(make):
    made = []

    class Breaks(StandIn):
        def __init__(self, config, run):
            made.append(run.env)
            raise RuntimeError("no")

    with pytest.raises(RuntimeError, match="no"):
        make(algorithm=Breaks)
    assert made[0].closed


def test_a_device_that_there_is_not_is_refused_by_its_name(make):
    for device in ("cuda:99", "toaster"):
        with pytest.raises(PlanError, match=device):
            make(device=device)


def test_whoever_waits_for_the_built_run_finds_every_part_once_and_in_its_wrappers(make):
    told = []

    class Waits:
        @hookimpl
        def rlk_built(self, run):
            told.append([name for name in Run.__annotations__ if not hasattr(run, name)])
            told.append(run.update is wrapped_update)

    class WrapsLast:
        @hookimpl(trylast=True)
        def rlk_wrap_update(self):
            return lambda update: wrapped_update

    def wrapped_update(batch, optimise):
        raise AssertionError("it is not called")

    make(Waits(), WrapsLast())
    assert told == [[], True]


def test_two_runs_share_nothing_that_one_has_activated(make):
    class Stops:
        @hookimpl
        def rlk_should_stop(self):
            return "at once"

    assert make(Stops()).learn_until(100) == "at once"
    other = make()
    assert other.learn_until(100) is None
