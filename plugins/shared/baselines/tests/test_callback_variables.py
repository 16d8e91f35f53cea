from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from gymnasium import spaces

from rlk_baselines import A2C, ACER, ACKTR, DDPG, DQN, GAIL, PPO1, PPO2, SAC, TD3, TRPO
from rlk_baselines.bench import Monitor
from rlk_baselines.common import make_vec_env
from rlk_baselines.common.callbacks import BaseCallback, CallbackList
from rlk_baselines.common.vec_env import DummyVecEnv, VecNormalize
from rlk_baselines.gail import ExpertDataset
from rlk_baselines.models import ActorCriticRLModel
from rlk_testing.environments import Walk

#: The names in the documentation's tables, except those missing by docs/stable-baselines.md.
OF_ALL = "self total_timesteps callback log_interval tb_log_name reset_num_timesteps writer"
OF_VECTORS = (
    "new_tb_log mb_obs mb_rewards mb_actions mb_dones mb_states ep_infos actions states "
    "clipped_actions rewards dones infos info maybe_ep_info"
)
OF_A2C = (
    "t_start mb_values values obs update masks true_reward value_loss policy_entropy n_seconds fps"
)
OF_ACER = "t_start enc_obs mb_mus mus obs steps masks"
OF_PPO2 = "cliprange_vf t_first_start n_updates mb_values mb_neglogpacs values neglogpacs"
OF_SEGMENTS = (
    "new_tb_log policy env horizon reward_giver gail step cur_ep_ret current_it_len current_ep_len "
    "cur_ep_true_ret ep_true_rets ep_rets ep_lens observations true_rewards rewards vpreds "
    "episode_starts dones actions states episode_start done vpred clipped_action reward "
    "true_reward info action observation maybe_ep_info"
)
OF_ONE = (
    "replay_wrapper new_tb_log episode_successes obs action new_obs done info obs_ new_obs_ "
    "reward_ maybe_is_success"
)
OF_SAC = (
    "current_lr start_time episode_rewards n_updates step unscaled_action reward maybe_ep_info "
    "mean_reward num_episodes frac"
)
OF_DDPG = (
    "rank episode_rewards_history episode_reward episode_step episodes step total_steps start_time "
    "epoch_episode_rewards epoch_episode_steps epoch_episodes unscaled_action reward"
)
OF_DQN = "episode_rewards update_eps env_action rew can_sample mean_100ep_reward num_episodes"
OFF = {"learning_starts": 2, "batch_size": 2}


def seen(model: Any, steps: int) -> list[dict[str, Any]]:
    """The variables of every step, with copies of lists."""
    found: list[dict[str, Any]] = []

    def keep(variables: dict[str, Any], _: Any) -> None:
        lists = {key: list(value) for key, value in variables.items() if isinstance(value, list)}
        found.append({**variables, **lists})

    model.learn(steps, callback=keep)
    return found


@pytest.mark.parametrize(
    ("cls", "env", "settings", "names"),
    [
        (A2C, "CartPole-v1", {}, f"{OF_VECTORS} {OF_A2C}"),
        (ACKTR, "CartPole-v1", {}, f"{OF_VECTORS} {OF_A2C} policy_loss"),
        (ACER, "CartPole-v1", {}, f"{OF_VECTORS} {OF_ACER}"),
        (PPO2, "CartPole-v1", {"n_steps": 16}, f"{OF_VECTORS} {OF_PPO2}"),
        (DDPG, "Pendulum-v1", {}, f"{OF_ONE} {OF_DDPG}"),
        (DQN, "CartPole-v1", OFF, f"{OF_ONE} {OF_DQN}"),
        (SAC, "Pendulum-v1", OFF, f"{OF_ONE} {OF_SAC}"),
        (TD3, "Pendulum-v1", OFF, f"{OF_ONE} {OF_SAC}"),
        (PPO1, "CartPole-v1", {"timesteps_per_actorbatch": 64}, f"{OF_SEGMENTS} i"),
        (TRPO, "CartPole-v1", {"timesteps_per_batch": 16}, OF_SEGMENTS),
    ],
)
def test_the_documented_names_are_there(
    cls: Any, env: str, settings: dict[str, int], names: str
) -> None:
    variables = seen(cls("MlpPolicy", env, **settings), 80)[-1]
    assert not {*OF_ALL.split(), *names.split()} - variables.keys()


def test_global_variables_are_those_of_the_module_of_the_model(counting) -> None:
    class Mine(A2C):
        pass

    found: list[dict[str, Any]] = []
    Mine("MlpPolicy", counting()).learn(5, callback=lambda _, given: found.append(given))
    assert found[0]["ActorCriticRLModel"] is ActorCriticRLModel and found[0]["A2C"] is A2C


def test_arrays_that_a_callback_keeps_stay_as_they_were() -> None:
    kept: list[tuple[Any, Any]] = []

    def keep(variables: dict[str, Any], _: Any) -> None:
        lists = [one if isinstance(one, list) else [one] for one in variables.values()]
        arrays = [one for each in lists for one in each if isinstance(one, np.ndarray)]
        kept.extend((one, one.copy()) for one in arrays)

    A2C("MlpPolicy", DummyVecEnv([Walk, Walk])).learn(20, callback=keep)
    SAC("MlpPolicy", "Pendulum-v1", **OFF).learn(10, callback=keep)
    assert all(np.array_equal(one, before) for one, before in kept)


def test_what_a_collection_has_shown_so_far_begins_anew_with_the_next(counting) -> None:
    env = DummyVecEnv([lambda: counting(3), lambda: counting(4)])
    found = seen(A2C("MlpPolicy", env, n_steps=4, n_cpu_tf_sess=1), 16)
    assert [len(one["mb_obs"]) for one in found] == [1, 2, 3, 4, 1, 2, 3, 4]
    assert [len(one["mb_rewards"]) for one in found] == [0, 1, 2, 3, 0, 1, 2, 3]
    assert found[3]["mb_obs"][2][:, 0].tolist() == [2, 2]
    starts = [one["mb_dones"][-1].tolist() for one in found[:5]]
    assert starts == [[True, True], *[[False, False]] * 2, [True, False], [False, True]]


def test_episodes_rewards_and_losses_of_a_collection_are_there_after_it(counting) -> None:
    env = DummyVecEnv([lambda: Monitor(counting(2), None), lambda: Monitor(counting(3), None)])
    found = seen(A2C("MlpPolicy", env, n_steps=4, n_cpu_tf_sess=1), 16)
    assert [[one["l"] for one in each["ep_infos"]] for each in found[:4]] == [[], [], [2], [2, 3]]
    assert found[4]["ep_infos"] == [] and "masks" not in found[3]
    assert found[4]["true_reward"].tolist() == [1.0] * 8
    assert found[4]["masks"].tolist() == [True, False, True, False, True, False, False, True]
    assert found[4]["policy_entropy"] == pytest.approx(np.log(2), abs=1e-3)
    assert found[4]["value_loss"] > 0 and found[4]["fps"] > 0
    assert found[4]["states"] is None and found[4]["mb_states"] is None


class AtRolloutEnd(BaseCallback):
    """Keeps what `names` of the variables are when a collection is complete."""

    def __init__(self, names: str) -> None:
        super().__init__()
        self.names, self.seen = names.split(), list[list[Any]]()

    def _on_rollout_end(self) -> None:
        self.seen.append([np.array(self.locals[name]).tolist() for name in self.names])


@pytest.mark.parametrize("cls", [A2C, ACER, ACKTR, PPO2])
def test_a_callback_at_the_end_of_a_collection_sees_all_of_it(counting: Any, cls: Any) -> None:
    callback = AtRolloutEnd("true_reward masks update")
    env = DummyVecEnv([lambda: counting(2), lambda: counting(4)])
    cls("MlpPolicy", env, n_steps=4).learn(16, callback=CallbackList([callback]))
    starts = [True, False, True, False, True, False, False, False]
    assert callback.seen == [[[1.0] * 8, starts, update] for update in (1, 2)]


def test_counts_at_the_end_of_a_segment_include_its_last_step(counting: Any) -> None:
    callback = AtRolloutEnd("step current_it_len current_ep_len cur_ep_ret rewards episode_start")
    TRPO("MlpPolicy", counting(3), timesteps_per_batch=4).learn(8, callback=callback)
    first, second = callback.seen
    assert first == [4, 4, 1, 1.0, [1.0] * 4, False] and second[:4] == [8, 4, 2, 2.0]


def test_a_recurrent_policy_has_the_state_that_a_collection_began_with() -> None:
    env = make_vec_env("CartPole-v1", n_envs=2)
    found = seen(A2C("MlpLstmPolicy", env, n_steps=4, policy_kwargs={"n_lstm": 8}), 16)
    assert not found[3]["mb_states"].any() and found[4]["mb_states"].any()
    assert found[3]["mb_states"].shape == (2, 16) and "states" not in found[3]


def test_the_chances_of_acer_are_those_that_it_has_acted_by(counting) -> None:
    model = ACER("MlpPolicy", DummyVecEnv([counting] * 2), n_steps=4, n_cpu_tf_sess=1)
    found = seen(model, 16)
    assert np.allclose(found[0]["mus"], 0.5, atol=0.05) and found[0]["mus"].shape == (2, 2)
    assert [len(one["mb_mus"]) for one in found] == [1, 2, 3, 4, 1, 2, 3, 4]
    assert [one["steps"] for one in found] == [0] * 4 + [8] * 4


def test_a_segment_is_kept_as_arrays_of_its_length(counting) -> None:
    model = TRPO("MlpPolicy", Monitor(counting(3), None), timesteps_per_batch=4, n_cpu_tf_sess=1)
    steps: list[dict[str, Any]] = []

    def keep(variables: dict[str, Any], _: Any) -> None:
        kinds = (list, np.ndarray)
        steps.append({k: v.copy() for k, v in variables.items() if isinstance(v, kinds)})
        steps[-1] |= {k: v for k, v in variables.items() if not isinstance(v, kinds)}

    model.learn(8, callback=keep)
    last = steps[3]
    assert last["observations"][:, 0].tolist() == [0, 1, 2, 0] and last["horizon"] == 4
    assert last["episode_starts"].tolist() == [True, False, False, True]
    # As in Stable Baselines, the results of a step are added after the callback.
    assert last["dones"].tolist() == [False, False, True, False]
    assert last["rewards"].tolist() == last["true_rewards"].tolist() == [1, 1, 1, 0]
    assert last["actions"].shape == last["vpreds"].shape == (4,)
    assert (last["ep_rets"], last["ep_lens"], last["ep_true_rets"]) == ([3.0], [3], [3.0])
    assert [one["observation"][0] for one in steps[:4]] == [1, 2, 3, 1]
    assert [one["i"] for one in steps] == [0, 1, 2, 3] * 2
    assert [one["current_ep_len"] for one in steps] == [0, 1, 2, 0, 1, 2, 0, 1]
    assert [one["cur_ep_ret"] for one in steps[:5]] == [0, 1, 2, 0, 1]
    assert [one["ep_lens"] for one in steps[4:]] == [[], [], [3], [3]]
    assert last["gail"] is False and last["reward_giver"] is None and last["states"] is None


def test_rewards_of_gail_are_told_as_those_of_the_environment_alone(counting) -> None:
    expert = ExpertDataset(
        traj_data={
            "obs": np.zeros((40, 2), np.float32),
            "actions": np.zeros((40, 1), np.int64),
            "rewards": np.ones(40),
            "episode_returns": np.array([40.0]),
            "episode_starts": np.arange(40) == 0,
        },
        verbose=0,
    )
    found = seen(GAIL("MlpPolicy", counting(), expert, timesteps_per_batch=8), 8)[-1]
    assert found["gail"] is True and found["true_rewards"][:7].tolist() == [1.0] * 7
    assert not {"reward", "rewards", "ep_rets", "cur_ep_ret", "reward_giver"} & found.keys()


def test_rewards_that_a_callback_changes_are_those_of_its_next_steps(counting: Any) -> None:
    def callback(local: Any, _: Any) -> None:
        told.append([float(reward[0]) for reward in local["mb_rewards"]])
        local["rewards"][:] = 7.0

    told: list[list[float]] = []
    A2C("MlpPolicy", counting(), n_steps=3).learn(3, callback=callback)
    assert told == [[], [7.0], [7.0, 7.0]]


def test_a_step_whose_callback_fails_is_stored(counting: Any) -> None:
    def callback(local: Any, _: Any) -> None:
        local["rewards"][:] = 7.0
        raise KeyError("mine")

    model = SAC("MlpPolicy", "Pendulum-v1", **OFF)
    with pytest.raises(KeyError, match="mine"):
        model.learn(3, callback=callback)
    assert [row[2] for row in model.replay_buffer.storage] == [7.0]


def test_ddpg_counts_its_episodes() -> None:
    found = seen(DDPG("MlpPolicy", "Pendulum-v1", nb_rollout_steps=100), 300)
    before, then = found[199], found[200]
    assert (before["episode_step"], before["episodes"], before["total_steps"]) == (199, 0, 199)
    assert (then["episode_step"], then["episodes"], then["episode_reward"]) == (0, 1, 0.0)
    whole = before["episode_reward"] + before["reward"]
    assert then["epoch_episode_rewards"] == [pytest.approx(whole)]
    assert then["epoch_episode_steps"] == [200] and len(then["episode_rewards_history"]) == 1


def test_the_names_of_a_batch_of_dqn_are_not_those_of_its_step(counting) -> None:
    found = seen(DQN("MlpPolicy", counting(), exploration_fraction=1.0, **OFF), 10)
    assert not {"actions", "rewards", "dones"} & found[-1].keys()
    assert found[0]["update_eps"] > found[5]["update_eps"] > found[-1]["update_eps"]
    assert found[-1]["n_updates"] == found[-2]["n_updates"] + 1


def test_rates_are_those_of_the_latest_updates() -> None:
    model = SAC("MlpPolicy", "Pendulum-v1", learning_rate=lambda remaining: remaining, **OFF)
    found = seen(model, 10)
    assert found[0]["current_lr"] == found[0]["frac"] == 1.0
    assert found[5]["current_lr"] == pytest.approx(0.6) and found[5]["frac"] == 0.6


def test_what_a_normalised_environment_gave_is_told_besides() -> None:
    env = VecNormalize(make_vec_env("Pendulum-v1", n_envs=1))
    found = seen(SAC("MlpPolicy", env, **OFF), 205)
    for before, now in pairwise(found[:200]):
        assert np.allclose(before["new_obs_"], now["obs_"]) and before["reward_"] <= 0
    assert np.allclose(np.hypot(*found[150]["obs_"][:2]), 1.0)
    assert not np.allclose(found[150]["obs"], found[150]["obs_"])
    assert found[-1]["episode_rewards"][0] == pytest.approx(sum(o["reward_"] for o in found[:200]))
    assert found[199]["done"] and not np.allclose(found[199]["new_obs_"], found[200]["obs_"])


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


@pytest.mark.parametrize(
    "space", [spaces.Discrete(3, start=5), spaces.MultiDiscrete([2, 3], start=[4, 7])]
)
def test_actions_that_do_not_count_from_zero_are_those_of_the_environment(
    counting, space: Any
) -> None:
    class Counts(counting):
        def __init__(self) -> None:
            super().__init__()
            self.action_space, self.given = space, []

        def step(self, action: Any) -> Any:
            assert space.contains(action)
            self.given.append(np.copy(action))
            return super().step(action)

    env = Counts()
    told = [found["clipped_actions"][0] for found in seen(A2C("MlpPolicy", env, n_steps=2), 8)]
    assert np.array_equal(told, env.given)
