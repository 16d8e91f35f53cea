"""The source of presets: which settings it finds, and which it skips."""

import pytest

from rlk.errors import PlanError
from rlk_presets.folder import components, is_installed, selecting
from rlk_presets.zoo import Zoo

EVERY = [(algo, env) for algo in Zoo().algorithms() for env in Zoo().entries(algo)]


def everything(name):
    return True


def nothing(name):
    return False


def test_a_preset_is_found_by_algorithm_and_environment():
    found = Zoo(nothing).find("ppo2", "CartPoleBulletEnv-v1")
    assert found["n_steps"] == 32 and found["cliprange"] == "lin_0.2"


@pytest.mark.parametrize("env", ["ALE/Pong-v5", "PongNoFrameskip-v4"])
def test_one_entry_serves_all_atari_games(env):
    assert Zoo(everything).find("dqn", env)["policy"] == "cnn"


def test_an_environment_of_its_own_name_wins_over_a_pattern(monkeypatch):
    tables = {"Cart*": {"gamma": 0.5}, "CartPole-v1": {"gamma": 0.9}}
    monkeypatch.setattr(Zoo, "entries", lambda self, algo: tables)
    assert Zoo(everything).find("dqn", "CartPole-v1") == {"gamma": 0.9}
    assert Zoo(everything).find("dqn", "CartPole-v0") == {"gamma": 0.5}


@pytest.mark.parametrize("env", ["CartPole-v1", "HopperBulletEnv-v0", "ALE/Pong-v5"])
def test_an_id_after_the_module_that_registers_it_has_the_same_preset(env):
    zoo = Zoo(everything)
    found = zoo.find("ppo2", f"package.worlds:{env}")
    assert found is not None and found == zoo.find("ppo2", env)


def test_an_entry_with_a_module_is_found_by_that_name_alone(monkeypatch):
    tables = {"mine:Maze": {"gamma": 0.5}, "Maze": {"gamma": 0.9}}
    monkeypatch.setattr(Zoo, "entries", lambda self, algo: tables)
    assert Zoo(everything).find("dqn", "mine:Maze") == {"gamma": 0.5}
    assert Zoo(everything).find("dqn", "other:Maze") == {"gamma": 0.9}


@pytest.mark.parametrize(
    ("algo", "env"),
    [("dqn", "Nowhere-v0"), ("nobody", "CartPole-v1"), ("../dqn", "CartPole-v1"), ("dqn", "")],
)
def test_what_nobody_has_tuned_has_no_preset_and_no_note(algo, env):
    assert Zoo(everything).find(algo, env) is None
    assert Zoo(everything).why_not(algo, env) is None


def test_an_entry_whose_components_are_not_installed_is_passed_over_with_a_note():
    zoo = Zoo(lambda name: name != "time-feature")
    assert zoo.find("ppo2", "Walker2DBulletEnv-v0") is None
    assert zoo.why_not("ppo2", "Walker2DBulletEnv-v0") == (
        "the preset of ppo2 for Walker2DBulletEnv-v0 is not used: it needs 'time-feature', "
        "not installed here"
    )


def test_a_preset_that_is_used_has_no_note():
    assert Zoo(nothing).why_not("ppo2", "CartPoleBulletEnv-v1") is None


def test_the_components_of_an_entry_are_those_in_plugins_and_slots():
    settings = {"plugins": ["a:key=1", "m.n:O"], "policy": "cnn", "policy.layers": [1], "gamma": 1}
    assert components(settings) == ["a", "m.n:O", "cnn"]
    noises = {"action_noise": "normal-noise:sigma=0.2", "param_noise": True}
    settings = {**noises, "memory_policy": "b"}
    assert components(settings, selecting("ddpg")) == ["normal-noise", "b"]
    assert components(settings, selecting("no-such-algorithm")) == []
    settings = {"noise": ["a", "b"], "vf_optimiser": "c", "plugins": "d:key=1"}
    assert components(settings) == ["d", "a", "b", "c"]
    assert components({"distribution": {"Box": "a", "Discrete": "b"}}) == ["a", "b"]


def test_what_an_entry_leaves_out_is_no_component():
    settings = {"plugins": ["no:monitor"], "action_noise": "none", "noise": "none"}
    assert components(settings, selecting("ddpg")) == []


def test_installed_is_what_the_kernel_has_or_python_can_import():
    assert is_installed("zoo")
    assert not is_installed("no-such-component")
    assert is_installed("rlk.planning.spec:RunSpec")
    assert not is_installed("no_such_module.wrappers:Wrapper")


@pytest.mark.parametrize(("algo", "env"), EVERY)
def test_every_entry_says_how_long_to_train(algo, env):
    assert Zoo().entries(algo)[env]["total_timesteps"] >= 10_000


def test_a_preset_is_not_blamed_for_a_wrong_net_arch_of_the_user(rlk_make):
    assert "policy.layers" in Zoo(everything).find("dqn", "CartPole-v1")
    with pytest.raises(PlanError) as refused:
        rlk_make("dqn", env="CartPole-v1", preset="zoo", **{"policy.net_arch": [{"xx": [8]}]})
    assert "Proposed by" not in str(refused.value)
