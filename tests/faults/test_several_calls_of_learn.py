"""Several calls of `learn` on one agent, and on an agent that was saved between them."""

from __future__ import annotations

import numpy as np
import pytest

import rlk
from rlk.hookspecs import hookimpl

SMALL = {"policy.layers": [4], "n_threads": 1, "seed": 1}
DQN = {**SMALL, "learning_starts": 10_000, "plugins": ["prioritized-replay"]}
ON = {"reset_num_timesteps": False}


class KeepsNumbers:
    """Every scheduled number, by the timestep at which a collection ended."""

    def __init__(self):
        self.at = {}

    @hookimpl
    def rlk_rollout_end(self, run):
        self.at[run.timesteps] = run.scheduled()


@pytest.fixture
def numbers():
    return KeepsNumbers()


# ---- schedules -----------------------------------------------------------------------------------


def test_beta_reaches_one_after_beta_iters_timesteps_of_a_training_of_any_length(rlk_make, numbers):
    settings = {**DQN, "plugins": ["prioritized-replay", numbers]}
    rlk_make("dqn", prioritized_replay_beta_iters=1000, **settings).learn(100)
    assert numbers.at[50]["train/priority_beta"] == pytest.approx(0.43)
    assert numbers.at[100]["train/priority_beta"] == pytest.approx(0.46)


def test_training_on_does_not_start_exploration_again(rlk_make, numbers):
    agent = rlk_make("dqn", **{**DQN, "plugins": ["prioritized-replay", numbers]})
    agent.learn(100)
    agent.learn(100, **ON)
    assert numbers.at[100]["rollout/exploration_rate"] == pytest.approx(0.02)
    assert numbers.at[101]["rollout/exploration_rate"] == pytest.approx(0.02)
    # Half of the 200 timesteps are over, if both calls are counted together.
    assert numbers.at[101]["train/priority_beta"] == pytest.approx(0.4 + 0.6 * 101 / 200)
    assert numbers.at[200]["train/priority_beta"] == 1.0


def test_training_again_starts_everything_that_is_scheduled_again(rlk_make, numbers):
    agent = rlk_make("dqn", **{**DQN, "plugins": ["prioritized-replay", numbers]})
    agent.learn(100)
    first = dict(numbers.at)
    agent.learn(100)
    assert numbers.at == first


def test_rates_and_clip_ranges_continue_where_the_calls_together_are(rlk_make, numbers):
    scheduled = {"learning_rate": "lin_0.1", "cliprange": "lin_0.4", "cliprange_vf": "lin_0.8"}
    settings = {"n_steps": 8, "nminibatches": 1, "noptepochs": 1, **SMALL, **scheduled}
    agent = rlk_make("ppo2", plugins=[numbers], **settings)
    agent.learn(32)
    agent.learn(32, **ON)
    tags = ("train/learning_rate", "train/clip_range", "train/clip_range_vf")
    found = {at: [each[tag] for tag in tags] for at, each in numbers.at.items()}
    assert found[8] == pytest.approx([0.1, 0.4, 0.8])
    assert found[32] == pytest.approx([0.025, 0.1, 0.2])
    assert found[40] == pytest.approx([0.05, 0.2, 0.4])
    assert found[64] == pytest.approx([0.0125, 0.05, 0.1])


def test_a_loaded_model_continues_like_the_saved_agent(rlk_make, numbers, tmp_path):
    agent = rlk_make("dqn", **DQN)
    agent.learn(100)
    with rlk.load(agent.save(tmp_path / "model"), plugins=(numbers,)) as loaded:
        loaded.learn(100, **ON)
        assert loaded.num_timesteps == 200
        assert numbers.at[101]["rollout/exploration_rate"] == pytest.approx(0.02)
        loaded.learn(100)
        assert numbers.at[1]["rollout/exploration_rate"] == pytest.approx(1.0 - 0.98 * 0.1)


# ---- schedules that are functions ----------------------------------------------------------------


def halves(remaining):
    return 0.5 * remaining


def test_a_function_that_no_file_holds_is_named_when_it_is_missed(rlk_make, tmp_path):
    settings = {**SMALL, "n_steps": 8, "nminibatches": 1}
    path = rlk_make("ppo2", learning_rate=halves, cliprange=halves, **settings).save(tmp_path / "m")
    with rlk.load(path, cliprange=halves) as agent:
        (told,) = [sentence for sentence in agent.differs if "callable" in sentence]
        assert "learning_rate was the callable" in told and "halves" in told
        assert told.endswith("Pass it again to train on with it: learning_rate=…")
        assert agent.run.scheduled()["train/clip_range"] == 0.5
        with pytest.warns(UserWarning, match="learning_rate was the callable"):
            agent.learn(8)


def test_functions_that_are_passed_again_are_taken(rlk_make, tmp_path, recwarn):
    path = rlk_make("ppo2", learning_rate=halves, n_steps=8, **SMALL).save(tmp_path / "model")
    with rlk.load(path, learning_rate=halves) as agent:
        assert agent.run.scheduled()["train/learning_rate"] == 0.5
        assert not any("callable" in sentence for sentence in agent.differs)
        agent.learn(8)
    assert not recwarn.list


# ---- what else a second call could spoil ---------------------------------------------------------


def test_no_update_before_a_whole_batch_is_stored_after_loading(rlk_make, tmp_path):
    settings = {**SMALL, "learning_starts": 0, "batch_size": 16}
    agent = rlk_make("dqn", **settings).learn(32)
    with rlk.load(agent.save(tmp_path / "model")) as loaded:
        before = loaded.run.clock.updates
        loaded.learn(15, **ON)
        assert loaded.run.clock.updates == before
        loaded.learn(1, **ON)
        assert loaded.run.clock.updates == before + 1


@pytest.mark.parametrize("keywords", [{}, ON])
def test_a_second_training_adds_to_the_history_of_evaluations(rlk_make, tmp_path, keywords):
    evaluation = "evaluation:every=16,episodes=1,at_end=false"
    env = "rlk_testing.environments:DiscreteMatch"
    settings = {**SMALL, "n_steps": 16, "env": env, "out": tmp_path / "run"}
    agent = rlk_make("ppo2", plugins=[evaluation], **settings)
    agent.learn(32)
    agent.learn(32, **keywords)
    history = np.load(tmp_path / "run" / "evaluations.npz")
    second = [48, 64] if keywords else [16, 32]
    assert history["timesteps"].tolist() == [16, 32, *second]
    assert len(history["results"]) == len(history["ep_lengths"]) == 4
