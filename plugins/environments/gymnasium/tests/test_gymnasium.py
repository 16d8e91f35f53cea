"""Environments by id, as a user asks for them."""

from __future__ import annotations

import pickle
import re
import sys
import warnings

import gymnasium as gym
import pytest

from rlk.errors import PlanError, UnknownName, described
from rlk.planning.environment import choose_environment
from rlk_gymnasium.ids import ids
from rlk_gymnasium.known import known_ids
from rlk_gymnasium.made import ById
from rlk_testing.environments import DiscreteMatch

REGISTERS = """
import gymnasium as gym
from rlk_testing.environments import DiscreteMatch

gym.register({id!r}, entry_point=DiscreteMatch)
"""


@pytest.fixture
def module(tmp_path, monkeypatch):
    """A function that writes a module which registers an id."""
    made = []

    def written(name, id):
        (tmp_path / f"{name}.py").write_text(REGISTERS.format(id=id))
        monkeypatch.syspath_prepend(str(tmp_path))
        made.append(id)

    yield written
    for id in made:
        gym.registry.pop(id, None)


@pytest.fixture
def choose(rlk_empty_kernel):
    environments = rlk_empty_kernel.registries.environments
    environments.register("gymnasium", known_ids, summary="ids")

    def chosen(asked, **kwargs):
        return choose_environment(asked, rlk_empty_kernel.registries, kwargs)

    chosen.environments = environments
    return chosen


def test_an_id_is_made_by_gymnasium_with_keywords_and_without_its_checker(choose):
    env = choose("CartPole-v1", sutton_barto_reward=True).make()
    assert env.spec.id == "CartPole-v1" and env.spec.disable_env_checker
    assert env.unwrapped._sutton_barto_reward is True


def test_gymnasiums_own_form_imports_the_module_that_registers_an_id(choose, module):
    module("registers_it", "RlkTestModule-v0")
    before = list(sys.path)
    choice = choose("registers_it:RlkTestModule-v0", length=5)
    assert isinstance(choice.make().unwrapped, DiscreteMatch)
    assert choice.make().unwrapped.length == 5
    assert sys.path == before


@pytest.mark.parametrize(
    ("entry_point", "again"),
    [
        ("__main__:Mine", None),
        ("gymnasium.envs.toy_text:Mine", ""),
        ("acme.worlds:Mine", "acme:"),
        (DiscreteMatch, "rlk_testing:"),
    ],
)
def test_another_process_knows_an_id_by_the_package_that_registers_it(entry_point, again):
    gym.register("RlkTestAgain-v0", entry_point=entry_point)
    try:
        found = known_ids("RlkTestAgain-v0").again
    finally:
        del gym.registry["RlkTestAgain-v0"]
    assert found == (again and f"{again}RlkTestAgain-v0")


def test_another_process_knows_an_id_by_the_module_that_was_named_or_without_its_version():
    assert known_ids("acme.worlds:Maze-v0").again == "acme.worlds:Maze-v0"
    assert known_ids("CartPole").again == ""


def test_an_id_that_is_not_registered_here_has_the_registration_that_was_sent_along():
    spec = gym.envs.registration.EnvSpec("acme/Sent-v0", entry_point=DiscreteMatch)
    assert ById("acme/Sent-v0", spec=spec).registration() is spec


def test_a_source_of_ids_names_its_patterns_and_tells_what_to_type():
    source = ids("acme/*", "*Maze-v*", registered_by="acme_worlds", install="pip install acme")
    assert source.known() == ["acme/*", "*Maze-v*"]
    with pytest.raises(PlanError, match=r"cannot import 'acme_worlds', .* Type: pip install acme"):
        source("acme/Maze-v0")()


def test_a_module_of_the_working_folder_is_found(choose, tmp_path, monkeypatch):
    (tmp_path / "registers_here.py").write_text(REGISTERS.format(id="RlkTestHere-v0"))
    monkeypatch.chdir(tmp_path)
    assert isinstance(choose("registers_here:RlkTestHere-v0").make().unwrapped, DiscreteMatch)
    gym.registry.pop("RlkTestHere-v0")


def test_a_package_says_which_module_registers_which_ids(choose, module):
    module("registers_more", "rlk-more/More-v0")
    source = ids("rlk-more/*", registered_by="registers_more")
    choose.environments.register("more", source, summary="more")
    assert isinstance(choose("rlk-more/More-v0").make().unwrapped, DiscreteMatch)
    assert source("CartPole-v1") is None
    meant = r"Did you mean 'rlk-more/More-v0' or 'rlk-more/\*'\? Asked .*more"
    with pytest.raises(UnknownName, match=meant):
        choose("rlk-mre/More-v0")


@pytest.mark.parametrize("asked", ["module:Class", "module:Outer.Inner", "./file.py:Id-v0", "a b"])
def test_what_is_no_id_is_left_to_others(asked):
    assert known_ids(asked) is None


@pytest.mark.parametrize(
    ("asked", "error", "message"),
    [
        ("CartPol-v1", UnknownName, "Did you mean 'CartPole-v1'"),
        ("nobody/CartPole-v1", UnknownName, "unknown environment 'nobody/CartPole-v1'"),
        ("nobody:Id-v0", PlanError, "cannot import 'nobody', which registers the environment"),
        ("CartPole-v99", PlanError, "'CartPole-v99' cannot be made: .*v0.*v1"),
    ],
)
def test_what_there_is_not_is_refused_with_what_there_is(choose, asked, error, message):
    with pytest.raises(error, match=message):
        choose(asked).make()


def test_a_module_in_front_of_an_id_is_no_part_of_it():
    source = ids("*Maze-v*", registered_by="registers_more")
    assert source("BigMaze-v0") is not None and source("mine:BigMaze-v0") is None


def test_an_id_that_a_package_does_not_register_is_said_to_be_missing_there(module):
    module("registers_one", "rlk-test/One-v0")
    answer = ids("rlk-test/*", registered_by="registers_one")("rlk-test/Two-v0")
    told = r"'rlk-test/Two-v0' cannot be made: 'registers_one' registers none of that name"
    with pytest.raises(PlanError, match=told):
        answer()
    with pytest.raises(PlanError, match=r"'registers_one' registers none of that name"):
        answer.registration()
    with pytest.raises(PlanError, match=r"'rlk-test/One-v5' cannot be made: Environment version"):
        ById("rlk-test/One-v5", "registers_one")()


@pytest.mark.parametrize(
    ("asked", "has_advice"), [("MiniGrid-Empty-v0", True), ("CartPol-v1", False), ("maze", False)]
)
def test_an_id_unlike_all_others_may_be_a_packages_own(choose, asked, has_advice):
    with pytest.raises(UnknownName) as caught:
        choose(asked)
    assert (f"use 'PACKAGE:{asked}'." in str(caught.value)) is has_advice
    assert known_ids.advice("./mazes.py:Maze-v0") == ""


def test_an_old_id_that_cannot_be_made_names_the_newest(choose):
    with pytest.raises(PlanError, match=r"'Ant-v2' cannot be made: .* Or use Ant-v5\."):
        choose("Ant-v2").make()
    with pytest.raises(PlanError, match=r"Please use `LunarLander-v3` instead\.$"):
        choose("LunarLander-v2").make()


def test_an_error_of_what_an_extra_installs_says_where_versions_are_told(monkeypatch):
    def broken(*_, **__):
        raise AssertionError

    monkeypatch.setattr(gym, "make", broken)
    with pytest.raises(AssertionError) as caught:
        ById("CartPole-v1")()
    assert "rlk doctor" not in described(caught.value)
    with pytest.raises(AssertionError) as caught:
        ById("CartPole-v1", install="pip install it")()
    assert "rlk doctor" in described(caught.value)


def test_variants_do_not_crowd_the_message(choose):
    with pytest.raises(UnknownName) as caught:
        choose("CartPoles-v0")
    assert "'CartPole-v0' or 'CartPole-v1'?" in str(caught.value)
    crowd = [name for name in gym.registry if name.startswith(("phys2d/", "tabular/"))]
    assert crowd and {*known_ids.known()}.isdisjoint(crowd)


@pytest.mark.parametrize("id", ["CartPole-v1", "CartPole"])
def test_keywords_that_an_environment_does_not_know_are_refused_by_its_name(choose, id):
    with pytest.raises(PlanError, match=rf"'{id}' cannot be made with .*gravityy"):
        choose(id, gravityy=9.0).make()


def test_keywords_that_an_environment_takes_are_named_with_the_nearest(choose, monkeypatch):
    with pytest.raises(PlanError) as refused:
        choose("CartPole-v1", sutton_bart_reward=True).make()
    assert str(refused.value) == (
        "environment 'CartPole-v1' cannot be made with sutton_bart_reward=True: "
        "CartPoleEnv.__init__() got an unexpected keyword argument 'sutton_bart_reward'. Did you "
        "mean 'sutton_barto_reward'? It takes sutton_barto_reward, render_mode, max_episode_steps."
    )

    def takes_any(**keywords):
        return DiscreteMatch(**keywords)

    gym.register("RlkTestAny-v0", entry_point=takes_any)
    monkeypatch.setitem(gym.registry, "RlkTestAny-v0", gym.registry.pop("RlkTestAny-v0"))
    with pytest.raises(PlanError) as refused:
        choose("RlkTestAny-v0", lenght=3).make()
    assert "lenght" in str(refused.value) and "It takes" not in str(refused.value)


def test_a_module_that_fails_says_with_what(tmp_path, monkeypatch):
    (tmp_path / "fails_to_register.py").write_text("raise KeyError('x')\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    with pytest.raises(PlanError, match="KeyError") as refused:
        ById("Any-v0", "fails_to_register", install="pip install it")()
    assert "pip install" not in str(refused.value), "it is installed"


SETTINGS = {"vec_env": "subprocess", "n_envs": 2, "n_steps": 4, "nminibatches": 1}


@pytest.mark.parametrize("twice", [1, 2])
def test_an_id_of_a_package_needs_no_import_also_in_workers(rlk_make, twice):
    with rlk_make("ppo2", env="rlk/Identity-v0", **SETTINGS, **{"env.dim": 2}) as agent:
        agent.learn(8)


def test_an_id_that_a_program_registers_is_made_in_workers(rlk_make):
    gym.register("RlkTestProgram-v0", entry_point="rlk_testing.environments:DiscreteMatch")
    with rlk_make("ppo2", env="RlkTestProgram-v0", **SETTINGS) as agent:
        agent.learn(8)
    gym.registry.pop("RlkTestProgram-v0")


@pytest.mark.parametrize(
    ("env", "package", "extra"),
    [("LunarLander-v3", "Box2D", "box2d"), ("Ant-v5", "mujoco", "mujoco")],
)
def test_a_package_that_is_missing_is_named_with_the_extra_that_installs_it(
    monkeypatch, env, package, extra
):
    for name in [one for one in sys.modules if one.startswith(f"gymnasium.envs.{extra}")]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, package, None)
    what = f"environment '{env}' needs {package}, which is not installed. Type: "
    message = re.escape(f'{what}pip install "rlk-gymnasium[{extra}]"')
    with pytest.raises(PlanError, match=message):
        known_ids(env)()


def test_what_no_extra_installs_is_told_as_it_is():
    spec = gym.envs.registration.EnvSpec("acme/Broken-v0", entry_point="acme_nowhere:Broken")
    with pytest.raises(PlanError, match="cannot be made: No module named 'acme_nowhere'"):
        ById("acme/Broken-v0", spec=spec)()
    told = r"'acme/Broken-v0' needs acme_nowhere, which is not installed\. Type: pip install acme$"
    with pytest.raises(PlanError, match=told):
        ById("acme/Broken-v0", spec=spec, install="pip install acme")()


@pytest.mark.parametrize("id", ["acme/Broken", "acme/Broken-v1"])
def test_an_id_that_is_the_newest_of_its_namespace_names_no_other(monkeypatch, id):
    monkeypatch.setattr(gym.envs.registration, "registry", {})
    monkeypatch.setattr(gym, "registry", gym.envs.registration.registry)
    for one in (id, "others/Broken-v3"):
        gym.register(one, entry_point="acme_nowhere:Broken")
    with pytest.raises(PlanError, match=r"No module named 'acme_nowhere'$"):
        ById(id)()


@pytest.mark.parametrize("id", ["CartPole-v0", "CartPole"])
def test_gymnasiums_warning_of_an_id_is_shown_once_wherever_it_is_made(choose, id):
    choice = choose(id)
    with warnings.catch_warnings(record=True) as shown:
        warnings.simplefilter("always")
        first, second = choice.make(), pickle.loads(pickle.dumps(choice)).make()
    assert len(shown) == 1 and "CartPole" in str(shown[0].message)
    assert first.spec.id == second.spec.id


def test_warnings_of_the_environment_itself_are_shown_as_often_as_it_gives_them(choose):
    class Warns(DiscreteMatch):
        def __init__(self):
            warnings.warn("its own", stacklevel=1)
            super().__init__()

    gym.register("RlkTestWarns-v0", entry_point=Warns)
    try:
        choice = choose("RlkTestWarns-v0")
        with warnings.catch_warnings(record=True) as shown:
            warnings.simplefilter("always")
            choice.make()
            choice.make()
    finally:
        gym.registry.pop("RlkTestWarns-v0")
    assert [str(one.message) for one in shown] == ["its own", "its own"]
