from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from gymnasium import spaces

from rlk_baselines import A2C, DQN, SAC, TRPO
from rlk_baselines.common.vec_env import DummyVecEnv

#: Names of the documentation's tables, but for those of TensorFlow and of losses.
OF_ALL = "self total_timesteps callback log_interval tb_log_name reset_num_timesteps writer"
OF_VECTORS = (
    "mb_obs mb_rewards mb_actions mb_values mb_dones ep_infos actions values clipped_actions obs "
    "rewards dones infos info maybe_ep_info update"
)
OF_ONE = (
    "replay_wrapper start_time episode_rewards episode_successes obs n_updates step action new_obs "
    "reward done info obs_ new_obs_ reward_ maybe_ep_info mean_reward num_episodes"
)
OF_DQN = "env_action rew can_sample mean_100ep_reward maybe_is_success"
OF_TRPO = (
    "step cur_ep_ret current_it_len current_ep_len ep_rets ep_lens episode_start vpred action "
    "clipped_action reward true_reward info observation maybe_ep_info"
)


def seen(model: Any, steps: int) -> list[dict[str, Any]]:
    """The variables of every step, lists as they were then."""
    found: list[dict[str, Any]] = []

    def keep(variables: dict[str, Any], _: Any) -> None:
        lists = {key: list(value) for key, value in variables.items() if isinstance(value, list)}
        found.append({**variables, **lists})

    model.learn(steps, callback=keep)
    return found


@pytest.mark.parametrize(
    ("cls", "settings", "names"),
    [
        (A2C, {}, OF_VECTORS),
        (DQN, {}, f"{OF_ONE} {OF_DQN}"),
        (TRPO, {"timesteps_per_batch": 2}, OF_TRPO),
    ],
)
def test_the_documented_names_are_there(
    cls: Any, settings: dict[str, int], names: str, counting
) -> None:
    variables = seen(cls("MlpPolicy", counting(), **settings), 2)[-1]
    assert not {*OF_ALL.split(), *names.split()} - variables.keys()


def test_what_a_collection_has_shown_so_far_begins_anew_with_the_next(counting) -> None:
    env = DummyVecEnv([lambda: counting(3), lambda: counting(4)])
    found = seen(A2C("MlpPolicy", env, n_steps=4, n_cpu_tf_sess=1), 16)
    assert [len(one["mb_obs"]) for one in found] == [1, 2, 3, 4, 1, 2, 3, 4]
    assert [len(one["mb_rewards"]) for one in found] == [0, 1, 2, 3, 0, 1, 2, 3]
    assert found[3]["mb_obs"][2][:, 0].tolist() == [2, 2]
    starts = [one["mb_dones"][-1].tolist() for one in found[:5]]
    assert starts == [[True, True], *[[False, False]] * 2, [True, False], [False, True]]


def test_the_returns_of_one_environment_are_counted(counting) -> None:
    class Reaching(counting):
        def step(self, action):
            *result, info = super().step(action)
            return *result, {**info, "is_success": self.steps == 3}

    found = seen(DQN("MlpPolicy", Reaching(reward=2.0), n_cpu_tf_sess=1), 5)
    assert [one["episode_rewards"] for one in found] == [[0], [2], [4], [6, 0], [6, 2]]
    assert [one["num_episodes"] for one in found] == [1, 1, 1, 2, 2]
    assert found[4]["mean_100ep_reward"] == 6 and found[4]["episode_successes"] == [1.0]
    assert found[2]["obs"].tolist() == [2, 7] and found[2]["new_obs"].tolist() == [3, 7]
    assert [one["step"] for one in found] == [0, 1, 2, 3, 4]


def test_actions_are_told_as_the_environment_has_them(counting) -> None:
    class Continuous(counting):
        def __init__(self):
            super().__init__()
            self.action_space = spaces.Box(0.0, 4.0, (1,), np.float32)

    last = seen(SAC("MlpPolicy", Continuous(), n_cpu_tf_sess=1), 3)[-1]
    assert np.allclose(last["unscaled_action"], 2 + 2 * last["action"])
    assert last["info"]["nested"]["action"] == int(last["unscaled_action"].sum())
    last = seen(A2C("MlpPolicy", Continuous(), n_cpu_tf_sess=1, seed=1), 4)[-1]
    assert np.allclose(last["clipped_actions"], np.clip(last["actions"], 0, 4))
