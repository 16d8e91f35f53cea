from __future__ import annotations

import pickle

import attrs
import gymnasium as gym
import pytest

from rlk.component import Component
from rlk.errors import PlanError, UnknownName
from rlk.planning.choice import Choice
from rlk.planning.environment import EnvChoice, MakeEnv, choose_environment
from rlk.planning.layers import CALLER
from rlk.planning.passed_environment import registered_as
from rlk.planning.resolve import resolve
from rlk.planning.spec import make_spec
from rlk_testing.environments import DiscreteMatch, Walk
from rlk_testing.tools.fresh_python import run_python

WALK = "rlk_testing.environments:Walk"


@pytest.fixture
def choose(rlk_stand_in_kernel):
    def chosen(asked, **kwargs):
        return choose_environment(asked, rlk_stand_in_kernel.registries, kwargs)

    return chosen


def test_a_name_is_made_by_the_source_that_answers_to_it_with_keywords(choose):
    choice = choose("CartPole-v1", sutton_barto_reward=True)
    assert (choice.name, choice.source) == ("CartPole-v1", "stand-in-environments")
    assert choice.make().unwrapped._sutton_barto_reward is True


def test_what_gymnasium_makes_again_is_known_by_its_id_and_keywords():
    def known(**keywords):
        return registered_as(gym.make("CartPole-v1", **keywords))

    assert known(render_mode="rgb_array") == ("CartPole-v1", {})
    assert known(max_episode_steps=7) == ("CartPole-v1", {"max_episode_steps": 7})
    assert registered_as(gym.wrappers.RescaleObservation(gym.make("MountainCar-v0"), 0, 1)) is None


def test_tuples_are_keywords_that_a_file_holds_and_sets_are_not(monkeypatch):
    spec = gym.envs.registration.EnvSpec("Sized-v0", lambda size, render_mode=None: Walk())
    monkeypatch.setitem(gym.registry, "Sized-v0", spec)
    assert registered_as(gym.make("Sized-v0", size=(4, 4))) == ("Sized-v0", {"size": (4, 4)})
    assert registered_as(gym.make("Sized-v0", size={4})) is None


def test_sources_are_asked_in_turn_and_those_of_the_program_first(rlk_stand_in_kernel, choose):
    asked = []

    def never(name):
        asked.append(name)

    rlk_stand_in_kernel.registries.environments.register("asked", never)
    rlk_stand_in_kernel.registries.environments.register("later", lambda name: Walk)
    assert choose("mine").source == "later"
    assert choose("CartPole-v1").source == "later"
    assert asked == ["mine", "CartPole-v1"]


def test_a_broken_source_is_named_only_where_no_other_answers(rlk_stand_in_kernel, choose):
    rlk_stand_in_kernel.registries.environments.register("frail", "rlk_nowhere:find")
    assert choose("CartPole-v1").source == "stand-in-environments"
    said = (
        r"environment 'frail' \(this program\) is broken: .*No module named 'rlk_nowhere'\. Asked"
    )
    with pytest.raises(UnknownName, match=said):
        choose("CartPol-v1")


def test_a_class_a_function_an_environment_and_a_vector_may_be_passed(choose):
    by_class = choose(DiscreteMatch, length=3)
    assert by_class.make().length == 3
    assert (by_class.name, by_class.source) == ("DiscreteMatch", "")
    by_function = choose(lambda: DiscreteMatch(length=4))
    assert by_function.make().length == 4
    env = DiscreteMatch()
    by_instance = choose(env)
    assert by_instance.make() is env and by_instance.size == 1 and by_class.size is None
    vector = gym.vector.SyncVectorEnv([DiscreteMatch])
    assert choose(vector).is_vector and choose(vector).size == 1


def test_a_passed_environment_is_named_by_its_id_if_it_has_one(choose):
    assert choose(gym.make("CartPole-v1")).name == "CartPole-v1"
    assert choose(Walk()).name == "Walk"


def test_a_name_that_nobody_answers_to_is_refused_with_those_there_are(choose):
    message = "Did you mean 'CartPole-v1'.*Asked environments: stand-in-environments"
    with pytest.raises(UnknownName, match=message):
        choose("CartPol-v1")


def test_without_a_source_it_is_said_that_one_is_missing(rlk_empty_kernel):
    message = r"unknown environment 'CartPole-v1'\. Asked environments: none; a plugin of that kind"
    with pytest.raises(PlanError, match=message):
        choose_environment("CartPole-v1", rlk_empty_kernel.registries, {})


def test_anything_but_an_environment_is_refused(choose):
    with pytest.raises(PlanError, match="got int 3"):
        choose(3)


def wrapper(factory, config=None, **fields):
    component = Component(name="wraps", factory=factory, **fields)
    return Choice(
        "wrappers",
        "wraps",
        "rlk-x",
        "1.0",
        alias="wraps",
        origin=CALLER,
        component=component,
        config=config,
    )


def test_wrappers_of_the_vector_are_not_for_one_environment():
    made = MakeEnv(EnvChoice("Walk", maker=Walk), (wrapper(gym.Wrapper, wraps="vector"),))()
    assert type(made) is Walk


def test_a_factory_wraps_the_innermost_first_and_passes_configs():
    class Named(gym.Wrapper):
        def __init__(self, env, config=None):
            super().__init__(env)
            self.config = config

    class Inner(Named):
        pass

    keeps = {"keeps_returns": True}
    wrappers = [wrapper(Inner, **keeps), wrapper(Named, 7, **keeps)]
    make = MakeEnv(EnvChoice("Walk", maker=Walk), wrappers)
    env = make()
    assert type(env) is Named and env.config == 7
    assert type(env.env) is Inner and env.env.config is None
    assert type(env.env.env) is Walk


@pytest.mark.parametrize(
    ("factory", "said"),
    [
        (lambda env: None, r"wrapper 'wraps' .* returned None\. It must return the wrapped"),
        (lambda env: env.height, "wrapper 'wraps' .* cannot wrap environment 'Walk': Attribute"),
    ],
)
def test_a_wrapper_that_cannot_wrap_is_named(factory, said):
    with pytest.raises(PlanError, match=said):
        MakeEnv(EnvChoice("Walk", maker=Walk), [wrapper(factory)])()


def test_a_wrapper_may_be_named_as_a_string_to_travel_to_a_worker(choose):
    named = wrapper("gymnasium.wrappers:RecordEpisodeStatistics", keeps_returns=True)
    make = pickle.loads(pickle.dumps(MakeEnv(choose("CartPole-v1"), [named])))
    assert type(make()) is gym.wrappers.RecordEpisodeStatistics


def test_further_keywords_are_for_one_environment_alone(choose):
    make = MakeEnv(choose(WALK), extra={"render_mode": "rgb_array"})
    assert make().render_mode == "rgb_array"


def test_a_constructor_that_does_not_take_the_further_keywords_is_refused(choose):
    make = MakeEnv(choose(lambda length=7: Walk(length)), extra={"render_mode": "rgb_array"})
    with pytest.raises(PlanError, match=r"with render_mode='rgb_array': .* take render_mode\."):
        make()
    with pytest.raises(TypeError):
        choose(lambda: Walk("seven" + 1)).make()


def test_a_worker_that_makes_environments_imports_no_torch():
    code = (
        "import sys, rlk.planning.environment\n"
        "print('torch' in sys.modules, 'gymnasium' in sys.modules)"
    )
    assert run_python(code) == "False False"


def test_a_table_of_the_environment_is_passed_with_what_is_set_in_it(rlk_stand_in_kernel):
    given = {"env": {"id": Walk, "of": {"length": 1, "wide": {"deep": 2}}}, "env.of.length": 7}
    lower = make_spec("stand-in", given, origin="a.toml")
    upper = make_spec("stand-in", {"env.of.wide.more": 3})

    def makes(of):
        assert of == {"length": 7, "wide": {"deep": 2, "more": 3}}
        return Walk()

    lower = attrs.evolve(lower, given={**lower.given, "env": makes})
    plan = resolve(rlk_stand_in_kernel, upper.over(lower))
    assert plan.env.kwargs == {"of": {"length": 7, "wide": {"deep": 2, "more": 3}}}


def test_keywords_for_an_environment_that_is_made_already_are_refused(rlk_stand_in_kernel, choose):
    env = gym.make("CartPole-v1")
    with pytest.raises(PlanError, match=r"'CartPole-v1' was passed .* made already: env.gravity"):
        resolve(rlk_stand_in_kernel, make_spec("stand-in", {"env": env, "env.gravity": 1.0}))
    assert choose(env).takes_keywords_of("CartPole-v1") is False


def test_what_is_no_environment_is_closed_when_it_is_refused(rlk_stand_in_kernel):
    closed = []

    class Wrong(Walk):
        def __init__(self):
            super().__init__()
            self.observation_space = None

        def close(self):
            closed.append(True)

    with pytest.raises(PlanError, match="observation_space is NoneType"):
        resolve(rlk_stand_in_kernel, make_spec("stand-in", {"env": Wrong}))
    assert closed == [True]
