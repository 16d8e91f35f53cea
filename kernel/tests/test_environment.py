from __future__ import annotations

import sys
from pathlib import Path

import gymnasium as gym
import pytest

from rlk.environment import EnvChoice, MakeEnv, choose_environment, load_object
from rlk.errors import PlanError, UnknownName
from rlk.testing.environments import DiscreteMatch, Walk

FILE = """
import gymnasium as gym
from rlk.testing.environments import DiscreteMatch

class Mine(DiscreteMatch):
    pass

class Outer:
    class Inner(DiscreteMatch):
        pass

gym.register("RlkTestFile-v0", entry_point=Mine)
"""


@pytest.fixture
def file(tmp_path) -> Path:
    path = tmp_path / "my_env.py"
    path.write_text(FILE)
    yield path
    sys.modules.pop("rlk_file_my_env", None)
    gym.registry.pop("RlkTestFile-v0", None)


def test_an_id_is_made_by_gymnasium_with_keywords():
    choice = choose_environment("CartPole-v1", {"sutton_barto_reward": True})
    env = choice.make()
    assert env.spec.id == "CartPole-v1"
    assert env.unwrapped._sutton_barto_reward is True


def test_a_module_and_a_class():
    choice = choose_environment("rlk.testing.environments:DiscreteMatch", {"length": 3})
    assert type(choice.make()) is DiscreteMatch and choice.make().length == 3


def test_a_file_and_a_class(file):
    env = choose_environment(f"{file}:Mine", {}).make()
    assert type(env).__name__ == "Mine"


def test_a_class_inside_of_a_class(file):
    assert type(choose_environment(f"{file}:Outer.Inner", {}).make()).__name__ == "Inner"


def test_a_file_is_loaded_once(file):
    one, two = (load_object(f"{file}:Mine", "environment") for _ in range(2))
    assert one is two


def test_gymnasiums_own_form_imports_the_module_that_registers_an_id(tmp_path, monkeypatch):
    (tmp_path / "registers_it.py").write_text(
        "import gymnasium as gym\nfrom rlk.testing.environments import DiscreteMatch\n"
        "gym.register('RlkTestModule-v0', entry_point=DiscreteMatch)\n"
    )
    monkeypatch.syspath_prepend(str(tmp_path))
    choice = choose_environment("registers_it:RlkTestModule-v0", {})
    assert isinstance(choice.make().unwrapped, DiscreteMatch)
    gym.registry.pop("RlkTestModule-v0")


def test_modules_of_a_component_are_imported_before_the_id_is_looked_up(tmp_path, monkeypatch):
    (tmp_path / "registers_more.py").write_text(
        "import gymnasium as gym\nfrom rlk.testing.environments import DiscreteMatch\n"
        "gym.register('RlkTestMore-v0', entry_point=DiscreteMatch)\n"
    )
    monkeypatch.syspath_prepend(str(tmp_path))
    choice = choose_environment("RlkTestMore-v0", {}, ("registers_more",))
    choice.make()
    gym.registry.pop("RlkTestMore-v0")


def test_a_class_a_function_an_environment_and_a_vector_may_be_passed():
    by_class = choose_environment(DiscreteMatch, {"length": 3})
    assert by_class.make().length == 3 and by_class.name == "DiscreteMatch"
    by_function = choose_environment(lambda: DiscreteMatch(length=4), {})
    assert by_function.make().length == 4
    env = DiscreteMatch()
    by_instance = choose_environment(env, {})
    assert by_instance.make() is env and by_instance.is_instance and not by_class.is_instance
    vector = gym.vector.SyncVectorEnv([DiscreteMatch])
    assert choose_environment(vector, {}).is_vector


def test_a_passed_environment_is_named_by_its_id_if_it_has_one():
    assert choose_environment(gym.make("CartPole-v1"), {}).name == "CartPole-v1"
    assert choose_environment(Walk(), {}).name == "Walk"


@pytest.mark.parametrize(
    ("asked", "error", "message"),
    [
        ("CartPol-v1", UnknownName, "Did you mean 'CartPole-v1'"),
        ("nobody:Class", PlanError, "cannot import environment module 'nobody'"),
        ("nobody:Id-v0", PlanError, "cannot import 'nobody'"),
        ("rlk.testing.environments:Math", UnknownName, "Did you mean 'Match'"),
        ("./no_such_file.py:Mine", PlanError, "does not exist"),
        ("CartPole-v99", PlanError, "CartPole-v99"),
    ],
)
def test_what_there_is_not_is_refused_with_what_there_is(asked, error, message):
    with pytest.raises(error, match=message):
        choose_environment(asked, {}).make()


def test_a_file_that_fails_says_with_what(tmp_path):
    (tmp_path / "fails.py").write_text("raise KeyError('x')\n")
    with pytest.raises(PlanError, match="KeyError"):
        choose_environment(f"{tmp_path / 'fails.py'}:Mine", {}).make()
    assert "rlk_file_fails" not in sys.modules


def test_something_that_is_no_environment_is_refused():
    with pytest.raises(PlanError, match="got int 3"):
        choose_environment(3, {})


def test_keywords_that_an_environment_does_not_know_are_refused_by_its_name():
    with pytest.raises(PlanError, match=r"'CartPole-v1' cannot be made with .*gravityy"):
        choose_environment("CartPole-v1", {"gravityy": 9.0}).make()


def test_a_factory_wraps_the_innermost_first_and_passes_configs():
    class Named(gym.Wrapper):
        def __init__(self, env, config=None):
            super().__init__(env)
            self.config = config

    class Inner(Named):
        pass

    make = MakeEnv(EnvChoice("rlk.testing.environments:Walk"), ((Inner, None), (Named, 7)))
    env = make()
    assert type(env) is Named and env.config == 7
    assert type(env.env) is Inner and env.env.config is None
    assert type(env.env.env) is Walk


def test_a_wrapper_may_be_named_as_a_string_to_travel_to_a_worker():
    make = MakeEnv(
        EnvChoice("CartPole-v1"), (("gymnasium.wrappers:RecordEpisodeStatistics", None),)
    )
    assert type(make()) is gym.wrappers.RecordEpisodeStatistics


def test_further_keywords_are_for_one_environment_alone():
    make = MakeEnv(EnvChoice("rlk.testing.environments:Walk"), extra={"render_mode": "rgb_array"})
    assert make().render_mode == "rgb_array"
