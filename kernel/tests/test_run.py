from __future__ import annotations

import dataclasses

import attrs
import pytest
import torch

from rlk import hookimpl
from rlk.component import Component
from rlk.errors import NotFinite, PlanError, RlkError
from rlk.optimise import OneProcess
from rlk.running.vec_env import make_vec_env
from rlk_testing.environments import BY_ACTION_SPACE
from rlk_testing.stand_in_parameters import StandInParameters
from rlk_testing.stand_ins import COMPONENTS, StandIn

MATCH = BY_ACTION_SPACE["Discrete"]


@pytest.fixture
def make(rlk_make, rlk_stand_in_kernel):
    def made(*plugins, algorithm=StandIn, **said):
        registry = rlk_stand_in_kernel.registries.algorithms
        registry.unregister("stand-in")
        registry.register("stand-in", attrs.evolve(COMPONENTS["algorithms"], factory=algorithm))
        given = {"env": MATCH, "seed": 0, "n_steps": 4, "plugins": plugins, **said}
        return rlk_make("stand-in", kernel=rlk_stand_in_kernel, **given)

    return made


# ---- what is not finite --------------------------------------------------------------------------


def spoils(update: int, **what):
    class Spoils(StandIn):
        count = 0

        def loss(self, batch):
            self.count += 1
            found = super().loss(batch)
            if self.count != update:
                return found
            if "metric" in what:
                metrics = {**found.metrics, what["metric"]: torch.tensor(float("nan"))}
                return dataclasses.replace(found, metrics=metrics)
            return dataclasses.replace(found, value=found.value * float("inf"))

    return Spoils


def test_a_gradient_that_is_not_finite_is_not_taken_and_named_at_the_border(make):
    agent = make(algorithm=spoils(3))
    agent.learn(8)
    before = agent.run.parameters.flat.clone()
    with pytest.raises(NotFinite) as caught:
        agent.learn(100, reset_num_timesteps=False)
    message = str(caught.value)
    assert "algorithm 'stand-in'" in message and "the gradient's norm is" in message
    assert "in update 3 at timestep 12" in message and "learning_rate" in message
    assert agent.run.parameters.flat.equal(before)


def test_a_metric_that_is_not_finite_is_named(make):
    with pytest.raises(NotFinite, match="'strange' is nan in update 2 at timestep 8"):
        make(algorithm=spoils(2, metric="strange")).learn(100)


# ---- what it offers to plugins -------------------------------------------------------------------


def test_a_scheduled_number_is_one_tensor_that_is_filled_anew(make):
    run = make().run

    value = run.schedule(lambda remaining: remaining)
    run.clock.total_timesteps, run.clock.timesteps = 100, 25
    assert value.item() == 1.0
    run.refresh_schedules()
    assert value.item() == 0.75 and value.dim() == 0


def test_a_number_that_is_not_scheduled_is_filled_once_and_for_all(make):
    run = make().run
    value = run.schedule(2)
    assert value.item() == 2.0 and value.dim() == 0 and value.dtype == torch.float32
    value.fill_(5.0)
    run.refresh_schedules()
    assert value.item() == 5.0


def test_closing_closes_everything_once_and_the_last_opened_first(make):
    closed = []
    agent = make()
    run = agent.run
    run.on_close += [lambda: closed.append("first"), lambda: closed.append("second")]
    agent.close()
    agent.close()
    assert closed == ["second", "first"] and run.env.closed


def test_a_row_has_the_learning_rate_once_there_were_updates(make):
    rows = []

    class Keeps:
        @hookimpl
        def rlk_log(self, row):
            rows.append(dict(row))

    agent = make(Keeps(), learning_rate=0.25)
    agent.run.log()
    agent.learn(16)
    agent.run.log()
    assert "train/learning_rate" not in rows[0]
    assert rows[1]["train/learning_rate"] == 0.25
    assert "train/learning_rate" not in rows[-1]  # no update since the row before


# ---- building ------------------------------------------------------------------------------------


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


# ---- one of several processes --------------------------------------------------------------------


class OtherRank(OneProcess):
    """Two ranks, of which the other says what it is told to."""

    size = 2

    def __init__(self, says=None):
        self.says = says

    def gather(self, value):
        return [value, self.says]


class Joins:
    def __init__(self, says=None):
        self.says = says

    @hookimpl
    def rlk_make_communicator(self):
        return OtherRank(self.says)


def test_timesteps_count_the_environments_of_all_ranks(make):
    agent = make(Joins(), n_envs=3)
    agent.learn(4 * 3 * 2)
    assert agent.run.clock.iterations == 1 and agent.num_timesteps == 24


def test_any_ranks_reason_ends_the_run_and_its_rank_is_named(make):
    assert make(Joins("enough")).run.stop_reason() == "enough (rank 1)"
    run = make(Joins("enough")).run
    run.stop("first")
    assert run.stop_reason() == "first (rank 0)"
    assert make(Joins()).run.stop_reason() is None


def test_a_plugin_settles_the_plan_as_this_process_has_it(make, tmp_path):
    class Settles:
        @hookimpl
        def rlk_settle_plan(self, plan):
            return attrs.evolve(plan, out=None, seed=7)

    run = make(Settles(), out=str(tmp_path / "run"), seed=1).run
    assert run.out is None and run.streams.seed == 7
    run.close()
    assert list(tmp_path.iterdir()) == []


def test_what_a_plugin_opened_is_closed_when_there_is_no_environment_yet(make):
    closed = []

    class Opens:
        @hookimpl
        def rlk_make_communicator(self, run):
            run.on_close.append(lambda: closed.append(True))

        @hookimpl
        def rlk_make_vec_env(self, plan):
            raise RlkError("none today")

    with pytest.raises(RlkError, match="none today"):
        make(Opens())
    assert closed == [True]


def test_a_plugin_is_told_whether_a_checkpoint_holds_the_replay(make, tmp_path):
    class Saves:
        asked: list = []

        @hookimpl
        def rlk_save(self, replay):
            self.asked.append(replay)

    agent = make(Saves())
    agent.save_checkpoint(tmp_path / "with")
    agent.save_checkpoint(tmp_path / "without", replay=False)
    assert Saves.asked == [True, False]


def test_of_several_ranks_only_the_first_writes_a_model(make, tmp_path):
    agent = make()
    agent.run.communicator.rank = 1
    path = agent.save(tmp_path / "model")
    assert list(tmp_path.iterdir()) == []
    agent.run.communicator.rank = 0
    assert agent.save(tmp_path / "model") == path and path.is_file()


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
