"""Names that programs import from the modules in which Stable Baselines 2.10 has them."""

from __future__ import annotations

import importlib
import subprocess
import sys

import pytest

from rlk_baselines.common import policies, schedules

NAMES = {
    "deepq": ["DQN", "PrioritizedReplayBuffer", "ReplayBuffer", "wrap_atari_dqn"],
    "gym.spaces.box": ["Box"],
    "gym.spaces.dict": ["Dict"],
    "gym.spaces.discrete": ["Discrete"],
    "gym.spaces.multi_binary": ["MultiBinary"],
    "gym.spaces.multi_discrete": ["MultiDiscrete"],
    "gym.spaces.space": ["Space"],
    "gym.spaces.tuple": ["Tuple"],
    "her.replay_buffer": [
        *("KEY_TO_GOAL_STRATEGY", "GoalSelectionStrategy", "HindsightExperienceReplayWrapper"),
    ],
    "her.utils": ["HERGoalEnvWrapper"],
    "td3": ["TD3", "NormalActionNoise", "OrnsteinUhlenbeckActionNoise"],
}


@pytest.mark.parametrize("module", NAMES)
def test_a_module_has_its_names(module: str) -> None:
    found = importlib.import_module(f"rlk_baselines.{module}")
    for name in NAMES[module]:
        assert hasattr(found, name), name


def test_submodules_need_no_import_of_their_own() -> None:
    names = ("common.cmd_util.make_vec_env", "common.env_checker.check_env", "gym.spaces.box.Box")
    program = "import rlk_baselines as package\n" + "\n".join(f"package.{name}" for name in names)
    subprocess.run([sys.executable, "-c", program], check=True)


def test_what_is_no_submodule_is_no_attribute() -> None:
    found = importlib.import_module("rlk_baselines.common")
    with pytest.raises(AttributeError, match="common' has no attribute 'nothing'"):
        _ = found.nothing


def test_the_layers_of_tensorflow_are_refused_with_what_to_write_instead() -> None:
    with pytest.raises(ImportError, match=r"no mlp_extractor\. Write net_arch="):
        from rlk_baselines.common.policies import mlp_extractor  # noqa: F401


def test_a_schedule_of_a_programs_own_is_one_of_the_schedules() -> None:
    class Doubling(schedules.Schedule):
        def value(self, step):
            return 2.0**step

    for schedule in (Doubling(), schedules.LinearSchedule(10, 0.1), schedules.ConstantSchedule(1)):
        assert isinstance(schedule, schedules.Schedule)
    assert Doubling().value(3) == 8.0


def test_a_constant_schedule_is_the_same_at_every_timestep() -> None:
    assert {schedules.ConstantSchedule(0.5).value(step) for step in (0, 10**6)} == {0.5}


def test_a_linear_schedule_passes_its_final_value_on() -> None:
    schedule = schedules.LinearSchedule(100, final_p=0.2, initial_p=0.6)
    found = [schedule.value(step) for step in (0, 25, 100, 200)]
    assert found == pytest.approx([0.6, 0.5, 0.2, 0.2])
    assert schedules.LinearSchedule(100, 0.0).value(0) == 1.0


def test_a_policy_is_found_by_its_name() -> None:
    assert policies.get_policy_from_name(None, "MlpPolicy") is policies.MlpPolicy
    with pytest.raises(ValueError, match="no policy 'MlpPolice'; there are CnnLnLstmPolicy,"):
        policies.get_policy_from_name(None, "MlpPolice")
