"""Environments that are code, by their place."""

from __future__ import annotations

import sys

import numpy as np
import pytest

from rlk.errors import PlanError, UnknownName
from rlk_code.environments import environment_at
from rlk_code.place import object_at
from rlk_testing.environments import DiscreteMatch

FILE = """
from rlk_testing.environments import DiscreteMatch

class Mine(DiscreteMatch):
    pass

class Outer:
    class Inner(DiscreteMatch):
        pass

def made(length):
    return Mine(length=length)
"""

WRAPPER = """
import gymnasium as gym

class Mine(gym.RewardWrapper):
    def __init__(self, env, by):
        super().__init__(env)
        self.by = by

    def reward(self, reward):
        return reward * self.by
"""


@pytest.fixture
def code(file):
    file.write_text(FILE)
    return file


def test_a_module_and_a_class():
    env = environment_at("rlk_testing.environments:DiscreteMatch")(length=3)
    assert type(env) is DiscreteMatch and env.length == 3


def test_an_environment_that_is_made_already_is_used_as_it_is(code):
    code.write_text(FILE + "ready = Mine(length=4)\n")
    env = environment_at(f"{code}:ready")()
    assert type(env).__name__ == "Mine" and env.length == 4


def test_what_can_be_imported_stays_as_it_is(code):
    before = list(sys.path)
    object_at("rlk_testing.environments:DiscreteMatch", "environment")
    object_at(f"{code}:Mine", "environment")
    with pytest.raises(PlanError):
        object_at("no_such_module:Mine", "environment")
    assert sys.path == before


def test_a_module_of_the_working_folder_comes_before_an_installed_one(tmp_path, monkeypatch):
    for name in ("installed", "here"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "worlds_py.py").write_text(f"WHERE = {name!r}")
    monkeypatch.syspath_prepend(tmp_path / "installed")
    monkeypatch.chdir(tmp_path / "here")
    monkeypatch.delitem(sys.modules, "worlds_py", raising=False)
    assert object_at("worlds_py:WHERE", "environment") == "here"  # no file, though it ends so
    del sys.modules["worlds_py"]


def test_a_file_is_the_same_by_all_of_its_names(code, monkeypatch):
    found = object_at(f"{code}:Mine", "environment")
    monkeypatch.chdir(code.parent)
    assert object_at(f"./{code.name}:Mine", "environment") is found
    monkeypatch.chdir("/")
    again = sys.modules[found.__module__].__load_again__
    assert again("Mine") is found


def test_a_file_and_a_class_or_a_function(code):
    assert type(environment_at(f"{code}:Mine")()).__name__ == "Mine"
    assert environment_at(f"{code}:made")(length=5).length == 5


def test_a_keyword_that_a_function_does_not_take_is_named_with_the_nearest(code, rlk_make):
    with pytest.raises(PlanError, match=r"'lenght'\. Did you mean 'length'\? It takes length\.$"):
        rlk_make("ppo2", env=f"{code}:made", **{"env.lenght": 3})
    # Mine takes any keyword, so nothing is known of them; Python itself suggests one since 3.13.
    with pytest.raises(PlanError, match=r"keyword argument 'lenght'(\. Did.+)?\.$"):
        rlk_make("ppo2", env=f"{code}:Mine", **{"env.lenght": 3})


def test_a_class_inside_of_a_class(code):
    assert environment_at("my_lab.worlds:Outer.Inner") is not None
    assert type(environment_at(f"{code}:Outer.Inner")()).__name__ == "Inner"


def test_a_file_is_loaded_once_and_not_before_an_environment_is_made(code):
    maker = environment_at(f"{code}:Mine")
    assert "rlk_file_mine" not in sys.modules
    one, two = type(maker()), object_at(f"{code}:Mine", "environment")
    assert one is two


def test_a_file_may_change_the_places_of_modules_itself(tmp_path, rlk_make, monkeypatch):
    (tmp_path / "changes.py").write_text("import sys\nsys.path.pop(0)\n" + FILE)
    monkeypatch.delitem(sys.modules, "rlk_file_changes", raising=False)
    before = list(sys.path)
    with rlk_make("ppo2", env=f"{tmp_path / 'changes.py'}:Mine"):
        assert sys.path == before
    monkeypatch.delitem(sys.modules, "rlk_file_changes")


def test_a_file_may_import_the_modules_beside_it(tmp_path, rlk_make, monkeypatch):
    (tmp_path / "neighbour_of_mine.py").write_text(FILE)
    (tmp_path / "mine.py").write_text("from neighbour_of_mine import Mine\n")
    monkeypatch.delitem(sys.modules, "rlk_file_mine", raising=False)
    before = list(sys.path)
    with rlk_make("ppo2", env=f"{tmp_path / 'mine.py'}:Mine", vec_env="subprocess", n_envs=2):
        assert sys.path == before
    monkeypatch.delitem(sys.modules, "rlk_file_mine")
    monkeypatch.delitem(sys.modules, "neighbour_of_mine")


@pytest.mark.parametrize("asked", ["CartPole-v1", "ALE/Pong-v5", "module:Id-v0", ""])
def test_what_names_no_class_is_left_to_others(asked):
    assert environment_at(asked) is None


def test_a_file_without_a_class_is_refused_with_its_environments_and_loaded_only_then(tmp_path):
    file = tmp_path / "several.py"
    file.write_text(
        "from rlk_testing.environments import DiscreteMatch, Walk\n"
        "class One(Walk): ...\nclass Two(DiscreteMatch): ...\nclass Tool: ...\n"
    )
    maker = environment_at(str(file))
    assert maker.again == str(file) and "rlk_file_several" not in sys.modules
    with pytest.raises(PlanError, match=r"--env .*several\.py:One or --env .*several\.py:Two$"):
        maker()
    file = tmp_path / "none.py"
    file.write_text("class Tool: ...\n")
    with pytest.raises(PlanError, match=r"as --env .*none\.py:Class\."):
        environment_at(str(file))()


@pytest.mark.parametrize(
    ("asked", "error", "message"),
    [
        ("nobody:Class", PlanError, "cannot import environment module 'nobody'"),
        (
            "rlk_testing.environments:Math",
            UnknownName,
            "'Math' in rlk_testing.environments. Did you mean 'Match'",
        ),
        ("json:lods", UnknownName, "'lods' in json. Did you mean"),
        ("gymnasium.wrappers:FlatenObservation", UnknownName, "Did you mean 'FlattenObservation'"),
        ("./no_such_file.py:Mine", PlanError, "does not exist"),
    ],
)
def test_what_there_is_not_is_refused_with_what_there_is(asked, error, message):
    with pytest.raises(error, match=message):
        environment_at(asked)()


def test_a_file_that_fails_says_with_what(file):
    file.write_text("raise KeyError('x')\n")
    with pytest.raises(PlanError, match="KeyError"):
        environment_at(f"{file}:Mine")()
    assert "rlk_file_mine" not in sys.modules


def test_code_that_exits_when_it_is_imported_is_refused_and_does_not_end_the_program(
    file, monkeypatch
):
    file.write_text(FILE + "import sys\nsys.exit(0)\n")
    said = (
        r"it ends the program \(SystemExit: 0\); put what it does .* if __name__ == \"__main__\"\.$"
    )
    for _ in range(2):  # half of the module is not found instead
        with pytest.raises(PlanError, match=rf"file '.*mine\.py' fails: {said}"):
            object_at(f"{file}:Mine", "environment")
    monkeypatch.syspath_prepend(str(file.parent))
    with pytest.raises(PlanError, match=f"cannot import environment module 'mine': {said}"):
        object_at("mine:Mine", "environment")


def test_half_of_a_file_that_was_interrupted_is_not_found_later(file):
    file.write_text(FILE + "raise KeyboardInterrupt\n")
    for _ in range(2):
        with pytest.raises(KeyboardInterrupt):
            object_at(f"{file}:Mine", "environment")


def test_a_module_may_clean_the_places_of_modules(file, monkeypatch):
    file.with_name("cleans.py").write_text(
        "import sys\nsys.path[:] = [*filter(None, sys.path)]\n" + FILE
    )
    monkeypatch.syspath_prepend(str(file.parent))
    monkeypatch.delitem(sys.modules, "cleans", raising=False)
    assert object_at("cleans:Mine", "environment").__name__ == "Mine"


@pytest.mark.parametrize("vec_env", ["dummy", "subprocess"])
def test_it_trains_in_workers_too(rlk_make, code, vec_env):
    settings = {"env.length": 3, "vec_env": vec_env, "n_envs": 2, "n_steps": 8, "nminibatches": 1}
    with rlk_make("ppo2", env=f"{code}:Mine", **settings) as agent:
        assert agent.plan.env.source == "code-environments"
        agent.learn(32)
        assert agent.run.clock.episodes == 10


def test_files_of_one_name_in_two_folders_are_two_modules(tmp_path):
    for folder in ("a", "b"):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "same_stem.py").write_text(f"class Mine:\n    folder = {folder!r}\n")
    places = [f"{tmp_path / folder / 'same_stem.py'}:Mine" for folder in ("a", "b")]
    found = [object_at(place, "environment") for place in places]
    assert [one.folder for one in found] == ["a", "b"]
    assert [object_at(place, "environment") for place in places] == found
    assert [one.__module__ for one in found] == ["rlk_file_same_stem", "rlk_file_same_stem_2"]


@pytest.mark.parametrize("start_method", ["forkserver", "spawn", "fork"])
def test_a_wrapper_in_a_file_is_applied_by_workers(tmp_path, rlk_make, start_method):
    (tmp_path / "mine.py").write_text(WRAPPER)
    given = {"vec_env": "subprocess", "subprocess.start_method": start_method, "n_envs": 2}
    wrapper = f"{tmp_path / 'mine.py'}:Mine:by=7"
    with rlk_make("ppo2", env="CartPole-v1", plugins=[wrapper], n_steps=4, **given) as agent:
        agent.learn(8)
        vector = agent.run.env
        vector.reset()
        assert vector.step(np.zeros(2, np.int64))[1].tolist() == [7.0, 7.0]
