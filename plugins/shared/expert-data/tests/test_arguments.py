"""Arguments that are numbers: what is refused, and what is taken for a whole number."""

from __future__ import annotations

import gymnasium as gym
import numpy as np
import pytest

from rlk.errors import PlanError
from rlk_expert_data import ExpertDataset, generate_expert_traj
from rlk_expert_data.arguments import checked_count, checked_positive


def test_numbers_of_any_type_are_taken() -> None:
    assert [checked_count("it", one) for one in (2, 2.0, np.int64(2), np.float32(2))] == [2] * 4
    assert checked_count("it", 0, 0) == 0
    assert checked_positive("it", np.float32(0.5)) == 0.5 == checked_positive("it", 0.5, 0.5)


@pytest.mark.parametrize("wrong", [0, -3, 1.5, float("nan"), float("inf"), "2", True, None, [2]])
def test_what_is_no_count_is_refused(wrong: object) -> None:
    with pytest.raises(PlanError, match="it must be a whole number of at least 1, got"):
        checked_count("it", wrong)


@pytest.mark.parametrize("wrong", [0, -0.5, 1.5, float("nan"), "0.5", True, None])
def test_what_is_no_fraction_is_refused(wrong: object) -> None:
    with pytest.raises(PlanError, match="it must be a number above 0 and at most 1, got"):
        checked_positive("it", wrong, 1.0)


@pytest.mark.parametrize("wrong", [0.0, float("inf"), "lin_1e-3", abs])
def test_what_is_no_step_size_is_refused(wrong: object) -> None:
    with pytest.raises(PlanError, match="it must be a number above 0, got"):
        checked_positive("it", wrong)


@pytest.mark.parametrize(
    ("name", "wrong"),
    [
        ("traj_limitation", 0),
        ("traj_limitation", 1.5),
        ("train_fraction", "0.5"),
        ("batch_size", 0),
    ],
)
def test_a_dataset_names_the_argument(name: str, wrong: object) -> None:
    data = generate_expert_traj(lambda _: 1, env="CartPole-v1", n_episodes=2)
    with pytest.raises(PlanError, match=f"^{name}.* must be a .*number.*, got {wrong!r}"):
        ExpertDataset(traj_data=data, verbose=0, **{name: wrong})
    assert ExpertDataset(traj_data=data, verbose=0, traj_limitation=1.0).num_traj == 1
    with pytest.raises(PlanError, match="batch_size must be"):
        ExpertDataset(traj_data=data, verbose=0).init_dataloader(-1)


@pytest.mark.parametrize(("name", "wrong"), [("n_episodes", 1.5), ("n_timesteps", -1)])
def test_a_recording_names_the_argument_before_anything_is_done(name: str, wrong: object) -> None:
    env = gym.make("CartPole-v1")
    with pytest.raises(PlanError, match=f"{name} must be a whole number"):
        generate_expert_traj(lambda _: 1 / 0, env=env, **{name: wrong})
