"""Behaviour cloning: the losses, `bc` as an algorithm, and `pretrain` of any agent."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import attrs
import gymnasium as gym
import numpy as np
import pytest
import torch

import rlk
from rlk.errors import BadFile, NotFinite, PlanError
from rlk_bc import BCConfig, pretrain
from rlk_bc.cloning import _batches, loss_for
from rlk_bc.loss import likelihood_loss, mode_loss, value_loss
from rlk_expert_data import ExpertDataset, generate_expert_traj
from rlk_testing.tools.episodes import mean_return

MATCH = "rlk_testing.environments:DiscreteMatch"
BOX = "rlk_testing.environments:BoxMatch"
SMALL: dict[str, Any] = {"seed": 0, "n_threads": 1}


def arrays(action: Any, observation: Any) -> dict[str, Any]:
    """Expert data of one episode."""
    starts = np.arange(len(action)) == 0
    returns = np.zeros(1)
    return {
        "obs": observation,
        "actions": np.asarray(action).reshape(len(action), -1),
        "episode_starts": starts,
        "episode_returns": returns,
    }


def seen(size: int = 240) -> Any:
    """What a Match shows: which action is right."""
    return np.eye(3, dtype=np.float32)[np.arange(size) % 3]


@pytest.fixture(scope="module")
def expert(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A file of an expert that always finds the match."""
    path = tmp_path_factory.mktemp("expert") / "expert.npz"
    np.savez(path, **arrays(1 + np.arange(240) % 3, seen()))
    return path


def clone(path: Path, **settings: Any) -> Any:
    given = {"learning_rate": 1e-2, "env": MATCH, "expert_path": str(path), **SMALL}
    return rlk.make("bc", **{**given, **settings})


# ---- the losses ----------------------------------------------------------------------------------


def test_losses_by_hand() -> None:
    assert float(likelihood_loss(torch.tensor([-1.0, -3.0]))) == 2.0
    mode, action = torch.tensor([[[1.0, 2.0], [0.0, 0.0]], [[0.0, 2.0], [1.0, 2.0]]])
    assert float(mode_loss(mode, action)) == pytest.approx((1 + 0 + 1 + 4) / 4)
    values = torch.tensor([[0.0, np.log(3.0)]])
    assert float(value_loss(values, torch.tensor([1]))) == pytest.approx(-np.log(0.75))


# ---- the algorithm -------------------------------------------------------------------------------


def test_defaults_are_those_of_stable_baselines() -> None:
    found = BCConfig()
    assert (found.train_fraction, found.batch_size, found.traj_limitation) == (0.7, 64, -1)
    assert (found.learning_rate, found.adam_epsilon) == (1e-4, 1e-8)


def test_it_clones_the_expert_and_steps_no_environment(expert: Path) -> None:
    with clone(expert) as agent:
        agent.run.env.step = None
        agent.learn(168 * 20)
        assert agent.num_timesteps == 168 * 20 and agent.run.clock.iterations == 20
        assert agent.run.clock.updates == 20 * 3  # 64, 64 and 40 transitions
        assert mean_return(agent, MATCH) == 8.0


def test_a_pass_has_every_transition_that_is_learnt_from_once(expert: Path) -> None:
    with clone(expert, batch_size=100) as agent:
        storage = agent.run.storage
        passes = [[batch.index for batch in storage.epoch()] for _ in range(2)]
        assert [len(index) for index in passes[0]] == [100, 68]
        learnt, others = (np.concatenate(one) for one in passes)
        assert not np.array_equal(learnt, others)
        kept = np.concatenate([batch.index for batch in storage.validation()])
        assert sorted([*learnt, *kept]) == list(range(240)) == sorted([*others, *kept])


class Rows:
    """Every row of metrics."""

    def __init__(self) -> None:
        self.rows: list[dict[str, float]] = []

    @rlk.hookimpl
    def rlk_write_row(self, row: dict[str, float]) -> None:
        self.rows.append(dict(row))


def test_the_validations_loss_is_logged_after_every_epoch(expert: Path) -> None:
    watch = Rows()
    with clone(expert, plugins=[watch], log_interval=1) as agent:
        agent.learn(168 * 20)
    losses = [row["train/validation_loss"] for row in watch.rows]
    assert len(losses) == 20 and losses[-1] < losses[0] / 2


def test_a_run_that_was_interrupted_goes_on_bit_for_bit(expert: Path, tmp_path: Path) -> None:
    with clone(expert) as whole, clone(expert) as half:
        whole.learn(168 * 4)
        path = half.learn(168 * 2).save_checkpoint(tmp_path / "half")
        with rlk.load(path, env=MATCH) as resumed:
            resumed.learn(168 * 2, reset_num_timesteps=False)
            assert resumed.run.parameters.flat.equal(whole.run.parameters.flat)


def test_a_model_acts_without_the_expert_and_learns_only_with_it(
    expert: Path, tmp_path: Path
) -> None:
    copy = tmp_path / "copy.npz"
    copy.write_bytes(expert.read_bytes())
    with clone(copy) as agent:
        path = agent.learn(168).save(tmp_path / "model")
    copy.unlink()
    with rlk.load(path, env=MATCH) as agent:
        assert agent.predict(seen(1)[0])[0] in (1, 2, 3)
        with pytest.raises(BadFile, match=r"does not exist\. Record an expert"):
            agent.learn(168)


def test_what_cannot_be_learnt_from_is_refused_while_planning(expert: Path, tmp_path: Path) -> None:
    with pytest.raises(PlanError, match="use --set expert_path=FILE"):
        rlk.make("bc", env=MATCH)
    with pytest.raises(PlanError, match=r"does not exist\. Record an expert"):
        clone(tmp_path / "nothing.npz")
    with pytest.raises(PlanError, match="another form"):
        clone(expert, env=BOX)
    np.savez(tmp_path / "bad.npz", obs=seen())
    with pytest.raises(PlanError, match="has no actions"):
        clone(tmp_path / "bad.npz")
    with pytest.raises(PlanError, match="offline"):
        clone(expert, storage="rollout")


def test_an_algorithm_that_learns_from_no_expert_is_not_asked_for_one() -> None:
    with pytest.raises(PlanError, match="is for offline algorithms") as caught:
        rlk.make("dqn", env="CartPole-v1", storage="expert-transitions")
    assert "expert_path" not in str(caught.value)


#: Of every setting another value, which has to learn otherwise.
OTHERS = {
    "expert_path": "other.npz",
    "traj_limitation": 1,
    "train_fraction": 0.5,
    "batch_size": 16,
    "learning_rate": 1e-4,
    "adam_epsilon": 1.0,
}


def test_no_setting_is_without_effect(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert OTHERS.keys() == {field.name for field in attrs.fields(BCConfig)}
    monkeypatch.chdir(tmp_path)
    starts, returns = np.arange(48) % 24 == 0, np.zeros(2)
    for name, action in (("one.npz", 1 + np.arange(48) % 3), ("other.npz", np.ones(48, int))):
        data = arrays(action, seen(48))
        np.savez(name, **{**data, "episode_starts": starts, "episode_returns": returns})

    def learnt(**settings: Any) -> torch.Tensor:
        with clone(Path("one.npz"), policy={"layers": [6]}, **settings) as agent:
            agent.learn(40)
            return agent.run.parameters.flat.clone()

    usual = learnt()
    same = [name for name, other in OTHERS.items() if learnt(**{name: other}).equal(usual)]
    assert not same and learnt().equal(usual)


@pytest.mark.parametrize(
    "wrong", [{"traj_limitation": 0}, {"train_fraction": 0.0}, {"batch_size": 0}]
)
def test_what_is_out_of_range_is_refused(wrong: Any) -> None:
    with pytest.raises(ValueError, match=next(iter(wrong))):
        BCConfig(**wrong)


class Far(gym.Env[Any, Any]):
    """Shows two numbers near 100, the greater of which is to be chosen."""

    observation_space = gym.spaces.Box(90.0, 110.0, (2,), np.float32)
    action_space = gym.spaces.Discrete(2)

    def reset(self, *, seed: int | None = None, options: Any = None) -> Any:
        super().reset(seed=seed)
        return np.full(2, 100.0, np.float32), {}

    def step(self, action: Any) -> Any:
        return np.full(2, 100.0, np.float32), 0.0, True, False, {}


def far() -> dict[str, Any]:
    observation = np.random.default_rng(0).uniform(98, 102, (400, 2)).astype(np.float32)
    return arrays(observation[:, 0] > observation[:, 1], observation)


def accuracy(agent: Any, data: dict[str, Any]) -> float:
    return float((agent.predict(data["obs"])[0] == data["actions"][:, 0]).mean())


def test_a_clone_normalises_by_the_experts_observations(tmp_path: Path) -> None:
    data = far()
    np.savez(tmp_path / "far.npz", **data)
    given = {"env": Far, "plugins": ["normalize"], "train_fraction": 1.0}
    with clone(tmp_path / "far.npz", **given) as agent:
        agent.learn(400 * 10)
        statistics = agent.run.hooks.get("normalize").statistics
        np.testing.assert_allclose(statistics.mean, data["obs"].mean(0), rtol=1e-6)
        assert statistics.observation.count == pytest.approx(400, abs=0.01)
        assert accuracy(agent, data) > 0.95


# ---- pretrain ------------------------------------------------------------------------------------


@pytest.mark.parametrize("algo", ["a2c", "acer", "acktr", "dqn", "ppo", "ppo1", "ppo2", "trpo"])
def test_any_agent_begins_as_the_experts_clone(algo: str) -> None:
    dataset = ExpertDataset(traj_data=arrays(1 + np.arange(240) % 3, seen()), verbose=0, seed=0)
    with rlk.make(algo, env=MATCH, **SMALL) as agent:
        before = agent.get_parameters()
        assert pretrain(agent, dataset, n_epochs=20, learning_rate=1e-2) is agent
        assert mean_return(agent, MATCH) == 8.0 and agent.num_timesteps == 0
        values = [name for name in before if name.startswith("model/vf/out")]
        after = agent.get_parameters()
        assert all(np.array_equal(before[name], after[name]) for name in values)


@pytest.mark.parametrize(
    ("algo", "settings"),
    [
        ("a2c", {}),
        ("a2c", {"distribution": "beta"}),
        ("ppo", {"distribution": "squashed-gaussian"}),
        ("ddpg", {}),
        ("sac", {"use_sde": True}),
        ("td3", {}),
        ("bc", {"distribution": "beta", "learning_rate": 1e-2}),
    ],
)
def test_continuous_actions_are_learnt_in_the_units_of_the_environment(
    algo: str, settings: dict[str, Any], tmp_path: Path
) -> None:
    class Wide(gym.Env[Any, Any]):
        observation_space = gym.spaces.Box(-1.0, 1.0, (2,), np.float32)
        action_space = gym.spaces.Box(0.0, 4.0, (1,), np.float32)

        def reset(self, *, seed: int | None = None, options: Any = None) -> Any:
            return np.zeros(2, np.float32), {}

        def step(self, action: Any) -> Any:
            return np.zeros(2, np.float32), 0.0, True, False, {}

    data = generate_expert_traj(lambda _: np.array([3.0]), env=Wide(), n_episodes=100)
    np.savez(tmp_path / "expert.npz", **data)
    given = {"expert_path": str(tmp_path / "expert.npz")} if algo == "bc" else {}
    with rlk.make(algo, env=Wide, **SMALL, **settings, **given) as agent:
        if algo == "bc":
            agent.learn(60 * 70)
        else:
            dataset = ExpertDataset(traj_data=data, verbose=0, seed=0)
            pretrain(agent, dataset, n_epochs=60, learning_rate=1e-2)
        action, _ = agent.predict(np.zeros(2, np.float32), deterministic=True)
        assert action[0] == pytest.approx(3.0, abs=0.2)


@pytest.mark.parametrize(
    ("algo", "plugin"), [("ppo2", "normalize"), ("dqn", "observation-statistics")]
)
def test_an_agent_normalises_by_the_experts_observations_unless_it_has_statistics(
    algo: str, plugin: str
) -> None:
    data = far()
    dataset = ExpertDataset(traj_data=data, train_fraction=0.5, verbose=0, seed=0)
    with rlk.make(algo, env=Far, plugins=[plugin], **SMALL) as agent:
        pretrain(agent, dataset, n_epochs=30, learning_rate=1e-2)
        assert accuracy(agent, data) > 0.9
        statistics = agent.run.hooks.get(plugin).statistics
        learnt_from = data["obs"][dataset.train_loader.indices]
        np.testing.assert_allclose(statistics.mean, learnt_from.mean(0), rtol=1e-6)
        before = statistics.observation.mean.copy()
        pretrain(agent, ExpertDataset(traj_data=data, verbose=0), n_epochs=1)
        assert statistics.observation.mean.tolist() == before.tolist()


def test_statistics_that_are_to_stay_as_they_are_stay() -> None:
    with rlk.make(
        "ppo2", env=Far, plugins=["normalize"], normalize={"training": False}, **SMALL
    ) as agent:
        pretrain(agent, ExpertDataset(traj_data=far(), verbose=0), n_epochs=1)
        assert agent.run.hooks.get("normalize").statistics.mean.tolist() == [0.0, 0.0]


@pytest.mark.parametrize("algo", ["a2c", "sac", "td3"])
def test_an_action_that_can_only_be_one_number_is_learnt(algo: str) -> None:
    actions = gym.spaces.Box(np.array([0, 2], np.float32), np.array([1, 2], np.float32))

    class One(gym.Env[Any, Any]):
        observation_space = gym.spaces.Box(-1.0, 1.0, (2,), np.float32)
        action_space = actions

        def reset(self, *, seed: int | None = None, options: Any = None) -> Any:
            return np.zeros(2, np.float32), {}

        def step(self, action: Any) -> Any:
            return np.zeros(2, np.float32), 0.0, True, False, {}

    data = generate_expert_traj(lambda _: np.array([0.25, 2.0]), env=One(), n_episodes=60)
    dataset = ExpertDataset(traj_data=data, verbose=0, seed=0)
    with rlk.make(algo, env=One, **SMALL) as agent:
        pretrain(agent, dataset, n_epochs=60, learning_rate=1e-2)
        action, _ = agent.predict(np.zeros(2, np.float32), deterministic=True)
    assert action.tolist() == pytest.approx([0.25, 2.0], abs=0.05)


def test_a_loss_that_is_not_finite_ends_it_before_the_policy_is_spoilt() -> None:
    dataset = ExpertDataset(traj_data=arrays(1 + np.arange(240) % 3, seen()), verbose=0, seed=0)
    given = {**SMALL, "policy": {"layers": [8, 8], "act_fun": "relu"}}
    with rlk.make("a2c", env=MATCH, **given) as agent:
        with pytest.raises(NotFinite, match="epoch 1, and the policy is that of the batch before"):
            pretrain(agent, dataset, learning_rate=1e30)
        assert agent.run.parameters.flat.isfinite().all()


def test_a_gradient_that_is_not_finite_ends_it_before_the_policy_is_spoilt(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def loss_for(run: Any) -> Any:  # zero, with a gradient that is NaN
        return lambda observation, _: run.policy(observation, "pi")[0].mul(0.0).sum().sqrt()

    monkeypatch.setattr("rlk_bc.cloning.loss_for", loss_for)
    dataset = ExpertDataset(traj_data=arrays(1 + np.arange(240) % 3, seen()), verbose=0, seed=0)
    with rlk.make("a2c", env=MATCH, **SMALL) as agent:
        before = agent.run.parameters.flat.clone()
        with pytest.raises(NotFinite, match="the gradient's norm of pretraining is nan in epoch 1"):
            pretrain(agent, dataset)
        assert agent.run.parameters.flat.equal(before)
        agent.learn(5)


def test_progress_is_printed_and_what_does_not_fit_is_refused(
    capsys: pytest.CaptureFixture[str],
) -> None:
    dataset = ExpertDataset(traj_data=arrays(1 + np.arange(30) % 3, seen(30)), verbose=0, seed=0)
    with rlk.make("a2c", env=MATCH, **SMALL) as agent:
        pretrain(agent, dataset, n_epochs=2, val_interval=2, verbose=1)
        assert capsys.readouterr().out.count("Training loss") == 1
        pretrain(agent, dataset, n_epochs=20, verbose=1)
        assert capsys.readouterr().out.count("Training loss") == 10
        pretrain(agent, dataset, n_epochs=1, verbose=1)
        with torch.no_grad():
            (loss,) = [loss_for(agent.run)(*one) for one in _batches(agent.run, dataset, "val")]
        assert f"Validation loss: {loss:.6f}\n" in capsys.readouterr().out
    with rlk.make("a2c", env=BOX, **SMALL) as agent, pytest.raises(PlanError, match="another form"):
        pretrain(agent, dataset)
    recurrent = rlk.make("a2c", env=MATCH, policy="lstm", **SMALL)
    with recurrent as agent, pytest.raises(PlanError, match="is recurrent"):
        pretrain(agent, dataset)


@pytest.mark.parametrize("damaged", ["observations", "actions"])
def test_damaged_data_is_refused_before_anything_is_learnt_from_it(damaged: str) -> None:
    observation, action = seen(), 1 + np.arange(240) % 3
    if damaged == "observations":
        observation[-1, 0] = np.nan
    else:
        action[-1] = 99
    data = arrays(action, observation)
    # In this order, the last transition is one of the validation, which nobody asked for.
    dataset = ExpertDataset(traj_data=data, train_fraction=0.5, verbose=0, seed=0)
    assert 239 in dataset.val_loader.indices
    with rlk.make("a2c", env=MATCH, **SMALL) as agent:
        before = agent.get_parameters()
        with pytest.raises(PlanError, match=f"{damaged} are not"):
            pretrain(agent, dataset)
        after = agent.get_parameters()
    assert all(np.array_equal(before[name], after[name]) for name in before)
