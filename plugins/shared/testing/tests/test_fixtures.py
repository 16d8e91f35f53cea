"""The pytest plugin, and what tests get of `rlk_testing` besides the suites."""

from __future__ import annotations

import numpy as np
import pytest
import torch

import rlk
import rlk_testing
from rlk_testing import environments, stand_ins
from rlk_testing.environments import Forever
from rlk_testing.fixtures import making_agents
from rlk_testing.stand_ins import COMPONENTS
from rlk_testing.tools.fresh_python import run_python
from rlk_testing.tools.states import same


def test_the_pytest_plugin_imports_nothing_heavy():
    heavy = "{'torch', 'gymnasium', 'numpy', 'attrs', 'click', 'rlk.registry.kernel'}"
    assert (
        run_python(f"import sys, rlk_testing.fixtures; print({heavy} & set(sys.modules))")
        == "set()"
    )


def test_the_environments_import_no_torch():
    assert (
        run_python("import sys, rlk_testing.environments; print('torch' in sys.modules)") == "False"
    )


@pytest.mark.parametrize("package", [rlk_testing, stand_ins])
def test_every_name_of_a_package_is_there(package):
    for name in package.__all__:
        assert getattr(package, name) is not None


def test_another_name_is_an_attribute_error():
    with pytest.raises(AttributeError, match="NoContract"):
        _ = rlk_testing.NoContract


def test_an_agent_of_rlk_make_is_open_during_the_test_and_closed_after_it(rlk_stand_in_kernel):
    with making_agents() as make:
        agent = make("stand-in", kernel=rlk_stand_in_kernel)
        assert not agent.run.closed
    assert agent.run.closed


class IsOne:
    """A contract with one check, of a component that is a number."""

    component = 1

    def test_it_is_one(self):
        assert self.component + 0 == 1


def test_a_broken_component_has_to_fail_the_check_itself_or_end_by_the_error_that_is_named(
    rlk_fails,
):
    rlk_fails(IsOne, 1, 2, "test_it_is_one")
    rlk_fails(IsOne, 1, None, "test_it_is_one", "TypeError: unsupported operand")
    for broken, error in ((1, ""), (None, ""), (None, "ValueError"), (2, "TypeError")):
        with pytest.raises(AssertionError, match="the broken one: "):
            rlk_fails(IsOne, 1, broken, "test_it_is_one", error)


@pytest.fixture
def three_threads():
    """As many as the program has; fails if they are not restored before this fixture ends."""
    before = torch.get_num_threads()
    torch.set_num_threads(3)
    yield
    after = torch.get_num_threads()
    torch.set_num_threads(before)
    assert after == 3


def test_one_thread_is_one_and_what_a_test_sets_is_restored(three_threads, rlk_one_thread):
    assert torch.get_num_threads() == 1
    torch.set_num_threads(2)


def test_kernels_of_the_fixtures_are_of_the_test_alone(
    rlk_kernel, rlk_empty_kernel, rlk_stand_in_kernel
):
    assert rlk_empty_kernel.registries.algorithms.names() == []
    assert rlk_stand_in_kernel.registries.algorithms.names() == ["stand-in"]
    rlk_kernel.registries.algorithms.register("stand-in", COMPONENTS["algorithms"])
    assert "stand-in" not in rlk.default_kernel().registries.algorithms


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_the_stand_in_learns_to_predict_rewards(rlk_make, rlk_stand_in_kernel, seed):
    agent = rlk_make("stand-in", kernel=rlk_stand_in_kernel, env="CartPole-v1", seed=seed)
    agent.learn(2000)
    (value,) = agent.run.policy(torch.zeros(1, 4), "vf")
    assert value.item() == pytest.approx(1.0, abs=0.2)  # every step of CartPole is worth 1


def test_the_best_action_of_a_match_is_worth_one_and_another_less():
    for name, right, wrong in (
        ("DiscreteMatch", lambda shown: 1 + int(shown.argmax()), lambda a: 1 + a % 3),
        ("MultiBinaryMatch", lambda shown: shown.astype("int8"), lambda a: 1 - a),
    ):
        env = getattr(environments, name)()
        observation, _ = env.reset(seed=0)
        for _ in range(8):
            observation, reward, terminated, _, _ = env.step(right(observation))
            assert reward == 1.0
        assert terminated
        observation, _ = env.reset()
        assert env.step(wrong(right(observation)))[1] < 1.0


def test_a_forever_is_only_ever_cut_off():
    env = Forever(length=2)
    env.reset(seed=0)
    assert env.step(0)[1:4] == (1.0, False, False)
    assert env.step(0)[1:4] == (1.0, False, True)


def test_states_are_the_same_bit_for_bit_and_arrays_of_objects_by_what_is_in_them():
    def infos(*numbers):
        found = np.empty(2, object)
        found[:] = [{"place": np.float32(number)} for number in numbers]
        return (np.arange(2), {"final_info": found})

    assert same(infos(1.0, 2.0), infos(1.0, 2.0))
    assert not same(infos(1.0, 2.0), infos(1.0, 3.0))
    assert same(np.array([np.nan]), np.array([np.nan])) and not same(np.zeros(1), -np.zeros(1))
    assert not same(np.zeros(2, np.float32), np.zeros(2))
