from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from gymnasium import spaces

from rlk.errors import BadFile, PlanError
from rlk_baselines import A2C, DQN, GAIL, SAC
from rlk_baselines.common.vec_env import DummyVecEnv
from rlk_baselines.gail import ExpertDataset, generate_expert_traj


def expert(_obs: Any) -> int:
    return 1


def experts(obs: Any) -> Any:
    return np.ones(len(obs), np.int64)


def quiet(data: Any = None, **keywords: Any) -> ExpertDataset:
    return ExpertDataset(traj_data=data, verbose=0, **keywords)


def test_trajectories_are_whole_and_each_environment_plays_its_share(
    counting, tmp_path: Path
) -> None:
    env = DummyVecEnv([lambda: counting(2), lambda: counting(3)])
    data = generate_expert_traj(experts, str(tmp_path / "expert"), env, n_episodes=3)
    assert data["episode_starts"].tolist() == [True, False, True, False, False, True, False]
    assert data["obs"][:, 0].tolist() == [0, 1, 0, 1, 2, 0, 1]
    assert data["actions"].tolist() == [[1]] * 7
    assert data["episode_returns"].tolist() == [2, 3, 2]
    with np.load(tmp_path / "expert.npz") as saved:
        assert sorted(saved) == sorted(data)


def test_an_expert_that_is_a_function_sees_what_the_given_environment_returns(counting) -> None:
    shapes = []

    def seeing(obs: Any) -> Any:
        shapes.append(np.shape(obs))
        return 1 if np.ndim(obs) == 1 else [1] * len(obs)

    generate_expert_traj(seeing, None, DummyVecEnv([lambda: counting(1)]), n_episodes=1)
    generate_expert_traj(seeing, None, counting(1), n_episodes=1)
    assert shapes == [(1, 2), (2,)]


def test_a_dataset_takes_the_first_trajectories(counting, capsys: Any) -> None:
    data = generate_expert_traj(expert, None, counting(), n_episodes=4)
    dataset = ExpertDataset(traj_data=data, traj_limitation=2, batch_size=2, train_fraction=0.5)
    assert (dataset.num_traj, dataset.num_transition, dataset.avg_ret) == (2, 6, 3.0)
    assert "Total trajectories: 2" in capsys.readouterr().out
    assert (len(dataset.train_loader), len(dataset.val_loader)) == (2, 2)
    dataset.init_dataloader(4)
    observations, actions = dataset.get_next_batch()
    assert observations.shape == (4, 2) and actions.shape == (4, 1)


def test_images_are_kept_in_files(counting, tmp_path: Path) -> None:
    class Seen(counting):
        def __init__(self):
            super().__init__()
            self.observation_space = spaces.Box(0, 255, (4, 5, 3), np.uint8)

        def reset(self):
            super().reset()
            return np.zeros((4, 5, 3), np.uint8)

        def step(self, action):
            _, *others = super().step(action)
            return np.full((4, 5, 3), self.steps, np.uint8), *others

    generate_expert_traj(expert, str(tmp_path / "expert"), Seen(), n_episodes=1)
    names = sorted(path.name for path in (tmp_path / "recorded_images").iterdir())
    assert names == [f"expert-{number}.png" for number in range(4)], "the final one, too"
    dataset = ExpertDataset(tmp_path / "expert.npz", verbose=0, randomize=False)
    dataset.init_dataloader(3)
    assert dataset.get_next_batch()[0][:, 0, 0, 0].tolist() == [0, 1, 2]


@pytest.mark.parametrize("cls", [A2C, DQN])
def test_a_policy_learns_to_act_as_the_expert(cls: Any, counting) -> None:
    data = generate_expert_traj(lambda obs: int(obs[0] > 1), None, counting(), n_episodes=20)
    model = cls("MlpPolicy", counting(), seed=0, n_cpu_tf_sess=1)
    model.pretrain(quiet(data, batch_size=20), n_epochs=60, learning_rate=1e-2)
    seen = np.array([[0, 7], [1, 7], [2, 7]], np.float32)
    assert model.predict(seen, deterministic=True)[0].tolist() == [0, 0, 1]


def test_continuous_actions_are_learnt_in_the_units_of_the_environment(counting) -> None:
    class Continuous(counting):
        def __init__(self):
            super().__init__()
            self.action_space = spaces.Box(0.0, 4.0, (1,), np.float32)

    data = generate_expert_traj(lambda obs: np.array([3.0]), None, Continuous(), n_episodes=20)
    for cls in (A2C, SAC):
        model = cls("MlpPolicy", Continuous(), seed=0, n_cpu_tf_sess=1)
        model.pretrain(quiet(data, batch_size=20), n_epochs=60, learning_rate=1e-2)
        assert model.predict(np.array([1.0, 7.0]), deterministic=True)[0] == pytest.approx(
            3, abs=0.2
        )


def test_what_is_no_expert_data_is_refused(counting, tmp_path: Path) -> None:
    data = generate_expert_traj(expert, None, counting(), n_episodes=2)
    with pytest.raises(BadFile, match="has no actions: expert data has the keys"):
        quiet({key: value for key, value in data.items() if key != "actions"})
    with pytest.raises(BadFile, match="lengths"):
        quiet({**data, "obs": data["obs"][1:]})
    with pytest.raises(BadFile, match="does not exist"):
        ExpertDataset(tmp_path / "nothing.npz")
    with pytest.raises(ValueError, match="one of them"):
        ExpertDataset()
    with pytest.raises(ValueError, match=r"expert's observations have another form"):
        A2C("MlpPolicy", "CartPole-v1").pretrain(quiet(data))
    with pytest.raises(ValueError, match="not all in Discrete"):
        A2C("MlpPolicy", counting()).pretrain(quiet({**data, "actions": data["actions"] + 5}))
    with pytest.raises(ValueError, match="pass env"):
        generate_expert_traj(expert)
    with pytest.raises(PlanError, match="must be an ExpertDataset, got str"):
        GAIL("MlpPolicy", counting(), "expert.npz")
    with pytest.raises(PlanError, match="must be an ExpertDataset, got str"):
        A2C("MlpPolicy", counting()).pretrain("expert.npz")


def test_what_cannot_be_recorded_is_refused_before_the_expert_is_trained(counting) -> None:
    class Choices(counting):
        def __init__(self) -> None:
            super().__init__()
            self.action_space = spaces.MultiBinary(2)

    model = A2C("MlpPolicy", counting())
    for save_path, env, problem in (
        ("", None, "is a folder"),
        (None, Choices(), "action_space is MultiBinary"),
    ):
        with pytest.raises(PlanError, match=problem):
            generate_expert_traj(model, save_path, env, n_timesteps=5, n_episodes=1)
    assert model.num_timesteps == 0


def test_a_policy_imitates_the_expert_by_rewards_that_are_learnt(counting, tmp_path: Path) -> None:
    """The environment rewards both actions equally; the expert always takes the same one."""
    data = generate_expert_traj(expert, None, counting(), n_episodes=30)
    settings: Any = {"timesteps_per_batch": 60, "g_step": 1, "d_stepsize": 1e-2, "seed": 0}
    model = GAIL("MlpPolicy", counting(), quiet(data), vf_iters=1, n_cpu_tf_sess=1, **settings)
    model.learn(900)
    seen = np.array([[0, 7], [1, 7], [2, 7]], np.float32)
    taken = model.action_probability(seen)[:, 1]
    assert np.all(taken > 0.7)  # five seeds have 0.91 or more
    model.save(tmp_path / "model")
    loaded = GAIL.load(tmp_path / "model", env=counting())
    assert (loaded.g_step, loaded.d_stepsize) == (1, 1e-2)
    assert np.array_equal(loaded.action_probability(seen)[:, 1], taken)
    with pytest.raises(PlanError, match="learns from an expert"):
        loaded.learn(60)
    GAIL.load(tmp_path / "model", env=counting(), expert_dataset=quiet(data)).learn(60)


def test_the_ends_of_episodes_are_recorded(counting) -> None:
    data = generate_expert_traj(expert, None, counting(), n_episodes=2)
    assert data["episode_final_obs"][:, 0].tolist() == [3, 3]
    assert data["episode_terminated"].tolist() == [True, True]


def test_episodes_that_were_cut_off_are_recorded_as_such(counting) -> None:
    env = DummyVecEnv([lambda: counting(truncated=True)])
    data = generate_expert_traj(experts, None, env, n_episodes=2)
    assert data["episode_terminated"].tolist() == [False, False]


def test_the_epsilon_of_a_pretraining_is_that_of_its_optimiser(counting) -> None:
    data = generate_expert_traj(expert, None, counting(), n_episodes=2)
    model = A2C("MlpPolicy", counting(), seed=0)
    before = model.get_parameters()
    model.pretrain(quiet(data), n_epochs=1, learning_rate=1e-3, adam_epsilon=1e9)
    assert all(np.allclose(before[k], v, 0, 1e-9) for k, v in model.get_parameters().items())
    model.pretrain(quiet(data), n_epochs=1, learning_rate=1e-3)
    assert not np.allclose(before["model/pi/out/bias"], model.get_parameters()["model/pi/out/bias"])
