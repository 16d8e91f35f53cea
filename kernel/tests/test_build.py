"""From a plan to a run: who makes, replaces and wraps its parts."""

from __future__ import annotations

import attrs
import gymnasium as gym
import numpy as np
import pytest
import torch

from rlk import hookimpl
from rlk.component import Component
from rlk.errors import PlanError, RlkError
from rlk.optimise import OneProcess
from rlk.running.vec_env import make_vec_env, stack_size
from rlk_testing.environments import BY_ACTION_SPACE, DiscreteMatch
from rlk_testing.stand_in_parameters import StandInParameters
from rlk_testing.stand_in_policy import StandInPolicy
from rlk_testing.stand_in_vec_env import StandInVecEnv
from rlk_testing.stand_ins import StandIn

MATCH = BY_ACTION_SPACE["Discrete"]


def test_what_a_plugin_makes_is_used_instead(make):
    from rlk_testing.stand_ins import StandInOptimiser, StandInStorage, StandInVecEnv

    class Vec(StandInVecEnv):
        pass

    class Store(StandInStorage):
        pass

    class Step(StandInOptimiser):
        pass

    class Alone(OneProcess):
        pass

    class Makes:
        asked: list = []

        @hookimpl
        def rlk_make_vec_env(self, plan, n_envs, training):
            self.asked.append((n_envs, training))
            return Vec([plan.env.make] * n_envs)

        @hookimpl
        def rlk_make_storage(self, choice):
            return Store() if choice.name == "stand-in-storage" else None

        @hookimpl
        def rlk_make_optimiser(self, group):
            return Step(group)

        @hookimpl
        def rlk_make_communicator(self):
            return Alone()

    run = make(Makes(), n_envs=2).run
    assert type(run.env) is Vec and type(run.storage) is Store
    assert type(run.optimise.steps["value"]) is Step and type(run.communicator) is Alone
    assert Makes.asked == [(2, True)]


def test_a_collector_of_a_plugin_gathers_instead_and_its_state_is_saved(make):
    from rlk.running import checkpoint
    from rlk_testing.stand_in_collector import StandInCollector

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

    from rlk_testing.stand_ins import RandomActor, StandInPolicy

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
    assert type(run.algorithm.given.actor) is type(run.algorithm.actor())


def test_a_wrapper_that_returns_no_function_is_the_plugins_fault(make):
    class Wraps:
        @hookimpl
        def rlk_wrap_update(self, run):
            return lambda update: None

    with pytest.raises(RlkError, match="wrapper returned NoneType"):
        make(Wraps())


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


def test_threads_are_as_told_and_else_one_for_a_small_network(make):
    before = torch.get_num_threads()
    try:
        make(n_threads=2)
        assert torch.get_num_threads() == 2
        make(n_threads=None)
        assert torch.get_num_threads() == 1
    finally:
        torch.set_num_threads(before)


def test_two_runs_share_nothing_that_one_has_activated(make):
    class Stops:
        @hookimpl
        def rlk_should_stop(self):
            return "at once"

    assert make(Stops()).learn_until(100) == "at once"
    other = make()
    assert other.learn_until(100) is None


def test_a_vector_wrapper_activates_what_its_environments_share_and_filters_observations(
    make, rlk_stand_in_kernel
):
    import gymnasium as gym

    class Twice(torch.nn.Module):
        def forward(self, observation):
            return 2.0 * observation

    class Shared:
        module = Twice()

        @hookimpl
        def rlk_filter_observation(self):
            return self.module

    class Wraps(gym.vector.VectorWrapper):
        def __init__(self, env, *, training, hooks, **_):
            super().__init__(env)
            if hooks.get("wraps") is None:
                hooks.activate(Shared(), "wraps")
            self.shared = hooks.get("wraps")

    component = Component(name="wraps", factory=Wraps, scope="vector")
    rlk_stand_in_kernel.registries.wrappers.register("wraps", component)
    agent = make("wraps")
    assert agent.run.policy.filter1 is Shared.module
    evaluation = make_vec_env(agent.plan, agent.run.hooks, 1, training=False)
    assert evaluation.shared is agent.run.env.shared
    agent.set_env(agent.plan.env.name)
    assert agent.run.env.shared is evaluation.shared


def test_a_policy_is_built_for_the_space_that_a_plugin_says(make, rlk_stand_in_kernel):
    class TakesOut:
        @hookimpl
        def rlk_policy_space(self, plan):
            self.asked = plan.observation_space
            return gym.spaces.Box(-1.0, 1.0, (7,), np.float32)

        @hookimpl
        def rlk_check_plan(self, plan):
            self.checked = plan.policy_space

    seen = []

    class Builds(StandInPolicy):
        def build(self, observation_space, heads):
            seen.append(observation_space)
            return super().build(observation_space, heads)

    rlk_stand_in_kernel.registries.policies.register("builds", Builds)
    takes = TakesOut()
    plan = make(takes, policy="builds").plan
    assert plan.policy_space.shape == takes.checked.shape == (7,)
    assert seen == [plan.policy_space]
    assert takes.asked is plan.observation_space and takes.asked.shape != (7,)


def test_wrappers_of_one_environment_wrap_a_vector_that_was_passed_inside_all_others(
    make, rlk_stand_in_kernel
):
    class Wider(gym.vector.VectorWrapper):
        """Shows every number twice."""

        def __init__(self, env, config):
            super().__init__(env)
            self.times = config.times
            self.single_observation_space = self.of(env.single_observation_space, None, config)[0]
            batch = gym.vector.utils.batch_space
            self.observation_space = batch(self.single_observation_space, env.num_envs)

        @staticmethod
        def of(observation_space, action_space, config):
            size = config.times * observation_space.shape[0]
            return gym.spaces.Box(-1.0, 1.0, (size,), np.float32), action_space

    class Wraps:
        """Tells how it wraps a vector."""

        vector_spaces = staticmethod(Wider.of)
        around_vector = Wider

    @attrs.frozen
    class Config:
        times: int = 2

    class Outside(gym.vector.VectorWrapper):
        def __init__(self, env, **_):
            super().__init__(env)

    wrappers = rlk_stand_in_kernel.registries.wrappers
    wrappers.register("outside", Component(name="outside", factory=Outside, scope="vector"))
    wrappers.register("widens", Component(name="widens", factory=Wraps, config=Config))
    vector = StandInVecEnv([DiscreteMatch] * 2)
    agent = make("outside", "widens:times=3", env=vector)
    assert agent.plan.observation_space.shape == (9,)
    assert type(agent.run.env) is Outside and type(agent.run.env.env) is Wider
    assert agent.run.env.env.env is vector and agent.run.env.env.times == 3


def test_a_policy_that_takes_no_filters_is_refused_where_there_is_one(make):
    class Filters:
        @hookimpl
        def rlk_filter_observation(self):
            return torch.nn.Identity()

    class Plain:
        @hookimpl
        def rlk_make_policy(self):
            return torch.nn.Linear(3, 1)

    with pytest.raises(PlanError, match=r"policy 'stand-in-policy' .* takes no filters"):
        make(Filters(), Plain())


def test_a_storage_that_takes_no_decorator_is_refused_where_there_is_one(make, rlk_stand_in_kernel):
    class Decorates:
        def open(self, base, schema): ...
        def added(self, slots): ...
        def feedback(self, batch, update): ...
        def state_dict(self): ...
        def load_state_dict(self, state): ...
        def choose(self, n): ...

    storages = rlk_stand_in_kernel.registries.storages
    storages.register("decorates", Decorates, stages=("choose",))
    message = r"storage 'stand-in-storage' .* takes no decorator, but there is .*'decorates'"
    with pytest.raises(PlanError, match=message):
        make("decorates")
