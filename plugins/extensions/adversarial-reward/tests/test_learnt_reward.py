"""Learnt rewards: their formulas by hand, what is judged, and what a policy learns by them."""

from __future__ import annotations

import shutil
import tracemalloc
from pathlib import Path
from typing import Any

import attrs
import numpy as np
import pytest
import torch
from gymnasium import spaces

import rlk
from rlk.errors import BadFile, PlanError
from rlk_adversarial_reward import AIRLConfig, GAILConfig
from rlk_adversarial_reward.discriminator import NormalisedRows
from rlk_adversarial_reward.extension import AIRLReward, GAILReward, LearntReward
from rlk_adversarial_reward.loss import (
    airl_logit,
    discriminator_loss,
    entropy,
    gail_reward,
    shaped,
)
from rlk_adversarial_reward.transitions import every_pair, of_expert, of_rollout, rows, size_of
from rlk_expert_data import Trajectories
from rlk_testing.tools.episodes import mean_return

MATCH = "rlk_testing.environments:DiscreteMatch"
BOX = "rlk_testing.environments:BoxMatch"
SMALL: dict[str, Any] = {"seed": 0, "n_threads": 1, "policy": {"layers": [32]}}
QUICK: dict[str, Any] = {"g_step": 1, "d_step": 2, "d_stepsize": 1e-2}


def matches(size: int = 240, length: int = 8) -> dict[str, Any]:
    """The actions of an expert in a Match, in episodes of that length."""
    right = np.random.default_rng(0).integers(0, 3, size)
    return {
        "obs": np.eye(3, dtype=np.float32)[right],
        "actions": 1 + right[:, None],
        "episode_starts": np.arange(size) % length == 0,
        "episode_returns": np.full(size // length, float(length)),
    }


@pytest.fixture(scope="module")
def expert(tmp_path_factory: pytest.TempPathFactory) -> str:
    path = tmp_path_factory.mktemp("expert") / "expert.npz"
    np.savez(path, **matches())
    return str(path)


def imitator(algo: str, reward: str, expert: str, **settings: Any) -> Any:
    given = {"env": MATCH, **SMALL, "plugins": [reward], **settings}
    return rlk.make(algo, **{reward: {**QUICK, "expert_path": expert}, **given})


# ---- formulas ------------------------------------------------------------------------------------


def test_what_looks_like_the_expert_is_rewarded() -> None:
    found = gail_reward(torch.tensor([0.0, 2.0, -2.0])).tolist()
    assert found == pytest.approx([np.log(2), np.log1p(np.e**2), np.log1p(np.e**-2)])


def test_the_discriminators_loss_by_hand() -> None:
    p = 1 / (1 + np.exp(-1.0))  # of a logit of 1
    coin = -p * np.log(p) - (1 - p) * np.log(1 - p)
    assert float(entropy(torch.tensor(1.0))) == pytest.approx(coin)
    one = torch.tensor([1.0])
    assert float(discriminator_loss(one, one, 0.0)) == pytest.approx(-np.log(1 - p) - np.log(p))
    loss = float(discriminator_loss(one, one, 0.5))
    assert loss == pytest.approx(-np.log(1 - p) - np.log(p) - 0.5 * coin)
    # The entropy is the mean of both sides': that of a logit of 0 is log 2.
    loss = float(discriminator_loss(one, torch.zeros(1), 0.5))
    assert loss == pytest.approx(-np.log(1 - p) + np.log(2) - 0.25 * (coin + np.log(2)))


def test_airls_reward_by_hand() -> None:
    numbers = [torch.tensor([x]) for x in (2.0, 1.0, 3.0)]
    f = shaped(*numbers, torch.tensor([0.9]))
    assert f.tolist() == pytest.approx([2.0 + 0.9 * 3.0 - 1.0])
    assert airl_logit(f, torch.log(torch.tensor([0.5]))).tolist() == pytest.approx([4.393147])
    # D of the paper's eq. is exp(f) / (exp(f) + pi)
    expected = np.exp(3.7) / (np.exp(3.7) + 0.5)
    assert float(torch.sigmoid(torch.tensor(4.393147))) == pytest.approx(expected)


def test_whole_numbers_are_shown_one_hot() -> None:
    assert rows(spaces.Discrete(3, start=4), np.array([5])).tolist() == [[0, 1, 0]]
    parts = spaces.MultiDiscrete([2, 3], start=[0, 7])
    assert rows(parts, np.array([[1, 9]])).tolist() == [[0, 1, 0, 0, 1]]
    box = spaces.Box(-1, 1, (2, 2))
    assert rows(box, np.array([[[1, 2], [3, 4]]])).tolist() == [[1, 2, 3, 4]]
    assert [size_of(space) for space in (spaces.Discrete(3), parts, box)] == [3, 5, 4]
    for space in (spaces.Discrete(3), parts, box):
        assert rows(space, np.zeros((0, *space.shape), int)).shape == (0, size_of(space))


def test_a_space_of_many_values_takes_the_memory_of_its_rows_alone() -> None:
    tracemalloc.start()
    try:
        found = rows(spaces.Discrete(2000), np.zeros(3, int))
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak < 10 * found.nbytes  # 480 kB; one row for each value would be 32 MB


@pytest.mark.parametrize("distribution", ["diag-gaussian", "squashed-gaussian", "beta"])
def test_both_sides_show_actions_as_the_environment_gets_them(distribution: str) -> None:
    low, high = np.array([-1.0, 0.0]), np.array([2.0, 0.5])
    action = np.linspace(low, high, 5)[1:4]
    data = {
        "obs": np.zeros((3, 2), np.float32),
        "actions": action,
        "episode_starts": np.array([True, False, False]),
        "episode_returns": np.zeros(1),
    }
    plugin = GAILReward(GAILConfig(), Trajectories.of(data))
    settings = {**SMALL, "n_steps": 64, "distribution": distribution}
    with rlk.make("a2c", env=BOX, plugins=[plugin], **settings) as agent:
        shown = every_pair(agent.run, plugin.expert)
        assert np.allclose(shown.taken, action, atol=1e-6)
        agent.run.collector.collect()
        found = of_rollout(agent.run, agent.run.storage.latest())
        assert np.all((found.taken >= low) & (found.taken <= high))


# ---- what is judged ------------------------------------------------------------------------------


def test_what_an_episode_ended_on_follows_its_last_step(expert: str) -> None:
    with imitator("a2c", "airl-reward", expert, n_steps=12, n_envs=2) as agent:
        run = agent.run
        run.collector.collect()
        rollout = run.storage.latest()
        found = of_rollout(run, rollout)
        assert found.terminated.sum() == 2 and len(found) == 24
        last = found.following[found.terminated]
        assert np.allclose(last, rollout.final_observation)
        assert np.allclose(found.following[:14], found.seen[2:16])  # two environments apart
        discriminator = run.hooks.get("airl-reward").adversary.discriminator
        before = discriminator.logits(found, torch.zeros(24))
        with torch.no_grad():  # h is larger by 1 everywhere: f by gamma - 1, at the end by -1
            discriminator.h[-1].bias += 1.0
        more = (discriminator.logits(found, torch.zeros(24)) - before).detach().numpy()
        assert np.allclose(more, np.where(found.terminated, -1.0, 0.99 - 1.0), atol=1e-5)
        whole = of_expert(run, Trajectories.of(matches()))
        assert len(whole) == 240 - 30 and not whole.terminated.any()


def test_the_reward_is_shaped_by_what_a_step_came_from_and_what_it_led_to(expert: str) -> None:
    with imitator("a2c", "airl-reward", expert, n_steps=12, gamma=0.9) as agent:
        agent.run.collector.collect()
        found = of_rollout(agent.run, agent.run.storage.latest())
        discriminator = agent.run.hooks.get("airl-reward").adversary.discriminator
        log_prob = torch.linspace(-2.0, -1.0, 12)
        with torch.no_grad():
            seen, after = discriminator.rows(found.seen), discriminator.rows(found.following)
            taken = torch.as_tensor(found.taken, dtype=torch.float32)
            g = discriminator.g(torch.cat((seen, taken), 1))[:, 0]
            h, next_h = discriminator.h(seen)[:, 0], discriminator.h(after)[:, 0]
            f = g + 0.9 * next_h * torch.as_tensor(~found.terminated) - h
            assert torch.allclose(discriminator.logits(found, log_prob), f - log_prob, atol=1e-6)
            assert found.terminated.any() and not torch.allclose(h, next_h, atol=1e-3)


def test_an_experts_last_steps_are_shown_where_it_is_known_how_episodes_ended(expert: str) -> None:
    """Without them, a discriminator would know the ends of episodes from the policy alone."""
    data, ends = matches(size=16), np.array([[2, 0, 0], [0, 0, 3]], np.float32)
    data |= {"episode_final_obs": ends, "episode_terminated": np.array([True, False])}
    with imitator("a2c", "airl-reward", expert) as agent:
        whole = of_expert(agent.run, Trajectories.of(data))
        assert len(whole) == 16 and np.flatnonzero(whole.terminated).tolist() == [7]
        assert np.array_equal(whole.following[[7, 15]], ends)
        assert np.array_equal(whole.following[:7], whole.seen[1:8])


def test_the_environments_rewards_are_replaced_and_still_reported(expert: str) -> None:
    with imitator("a2c", "gail-reward", expert, n_steps=16) as agent:
        agent.run.collect()
        first = agent.run.storage.latest().reward.copy()
        assert np.all((first > 0.3) & (first < 1.2))  # log 2, as long as nothing is known
        agent.learn(16)
        true = [figure for figure, _ in agent.run.metrics.recent_episodes]
        assert all(figure == int(figure) for figure in true)


def test_a_normalised_observation_is_clipped_at_ten_standard_deviations() -> None:
    normalised = NormalisedRows(1)
    normalised.moments.merge(np.array([3.0]), np.array([4.0]), 5.0)  # standard deviation 2
    assert normalised(np.array([[5.0], [24.0], [-99.0]])).tolist() == [[1.0], [10.0], [-10.0]]


def test_a_number_that_never_changes_is_normalised_to_zero() -> None:
    normalised = NormalisedRows(1)
    normalised.moments.merge(np.array([3.0]), np.array([0.0]), 5.0)
    assert normalised(np.array([[3.0]])).tolist() == [[0.0]]


def test_observations_are_normalised_by_those_of_both_sides(expert: str) -> None:
    with imitator("a2c", "gail-reward", expert, n_steps=16) as agent:
        run = agent.run
        adversary = run.hooks.get("gail-reward").adversary
        shown, draw = [], adversary._of_expert
        adversary._of_expert = lambda count: shown.append(draw(count)) or shown[-1]
        run.collect()
        seen = [run.storage.latest().observation[:, 0], *[one.seen for one in shown]]
        assert [len(one) for one in seen] == [16, 8, 8]
        moments, every = adversary.discriminator.rows.moments, np.concatenate(seen)
        assert moments.count == 32
        assert np.allclose(moments.mean, every.mean(0)) and np.allclose(moments.var, every.var(0))


def test_it_learns_after_every_g_step_collections_from_d_step_batches(expert: str) -> None:
    settings = {"gail-reward": {"expert_path": expert, "g_step": 3, "d_step": 2}}
    with imitator("a2c", "gail-reward", expert, **settings) as agent:
        adversary = agent.run.hooks.get("gail-reward").adversary
        taken, step = [], adversary._optimiser.step
        adversary._optimiser.step = lambda: (taken.append(adversary._judged), step())
        agent.learn(5 * 7)
        assert taken == [3, 3, 6, 6]


#: Another value for every setting, which must change what is learnt.
OTHERS: dict[str, Any] = {
    "expert_path": "other.npz",
    "traj_limitation": 1,
    "g_step": 2,
    "d_step": 1,
    "d_stepsize": 1e-3,
    "adversary_entcoeff": 0.5,
    "hidden_size_adversary": 7,
    "state_only": True,
}


@pytest.mark.parametrize("reward", ["gail-reward", "airl-reward"])
def test_no_setting_is_without_effect(
    reward: str, expert: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    np.savez("other.npz", **{**matches(), "actions": np.ones((240, 1), int)})
    config = AIRLConfig if reward == "airl-reward" else GAILConfig
    others = {field.name: OTHERS[field.name] for field in attrs.fields(config)}

    def learnt(**own: Any) -> torch.Tensor:
        settings = {reward: {**QUICK, "expert_path": expert, **own}}
        with imitator("a2c", reward, expert, n_steps=8, **settings) as agent:
            agent.learn(24)
            return agent.run.parameters.flat.clone()

    usual = learnt()
    same = [name for name, other in others.items() if learnt(**{name: other}).equal(usual)]
    assert not same and learnt().equal(usual)


def test_what_another_plugin_stops_is_not_judged(expert: str) -> None:
    """As ranks do, where one of them was stopped in the middle of a collection."""

    class Stops:
        @rlk.hookimpl
        def rlk_wrap_collector(self) -> Any:
            return lambda collect: lambda: collect() and False

    for plugins in (["gail-reward", Stops()], [Stops(), "gail-reward"]):
        with imitator("a2c", "gail-reward", expert, plugins=plugins) as agent:
            agent.learn(5)
            assert agent.run.hooks.get("gail-reward").adversary._judged == 0


# ---- what is learnt ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("algo", "reward", "settings"),
    [
        ("trpo", "gail-reward", {"timesteps_per_batch": 64, "gamma": 0.0}),
        ("ppo2", "airl-reward", {"n_steps": 32, "n_envs": 2, "gamma": 0.0, "learning_rate": 1e-2}),
    ],
)
def test_a_policy_imitates_an_expert_whose_rewards_it_never_sees(
    expert: str, algo: str, reward: str, settings: Any
) -> None:
    with imitator(algo, reward, expert, **settings) as agent:
        agent.learn(64 * 30)
        assert mean_return(agent, MATCH) > 7.0  # actions at random have 2.7


@pytest.mark.parametrize("reward", ["gail-reward", "airl-reward"])
def test_a_run_that_was_interrupted_goes_on_bit_for_bit(
    expert: str, reward: str, tmp_path: Path
) -> None:
    # Five collections are not a multiple of three: it has learnt after one of them, at first.
    settings = {reward: {**QUICK, "expert_path": expert, "g_step": 3}}
    with (
        imitator("a2c", reward, expert, n_steps=8, **settings) as whole,
        imitator("a2c", reward, expert, n_steps=8, **settings) as half,
    ):
        whole.learn(80)
        path = half.learn(40).save_checkpoint(tmp_path / "half")
        with rlk.load(path, env=MATCH) as resumed:
            resumed.learn(40, reset_num_timesteps=False)
            assert resumed.run.parameters.flat.equal(whole.run.parameters.flat)


def test_an_expert_may_be_passed_as_an_object(expert: str) -> None:
    config = GAILConfig(g_step=1, traj_limitation=2)
    plugin = GAILReward(config, Trajectories.of(matches()))
    with rlk.make("a2c", env=MATCH, plugins=[plugin], **SMALL) as agent:
        agent.learn(10)
        assert plugin.adversary is not None and plugin.adversary._judged == 2
        assert len(plugin.adversary.expert or ()) == 2 * 8


# ---- what is refused -----------------------------------------------------------------------------


def test_what_cannot_work_is_refused_while_planning(expert: str, tmp_path: Path) -> None:
    with pytest.raises(PlanError, match=r"imitates an expert. Use --set gail-reward.expert_path"):
        rlk.make("a2c", env=MATCH, plugins=["gail-reward"])
    with pytest.raises(PlanError, match="another form"):
        imitator("a2c", "gail-reward", expert, env=BOX)
    with pytest.raises(PlanError, match="is for on-policy algorithms"):
        imitator("dqn", "gail-reward", expert)
    for reward in ("gail-reward", "airl-reward"):
        with pytest.raises(PlanError, match=r"'acer'.* also learns from earlier ones"):
            imitator("acer", reward, expert)
    with pytest.raises(PlanError, match="remembers what went before"):
        imitator("a2c", "airl-reward", expert, policy="lstm")
    with pytest.raises(PlanError, match=r"does not exist\. Record an expert"):
        imitator("a2c", "gail-reward", str(tmp_path / "nothing"))


def test_a_model_is_loaded_without_its_expert_and_does_not_train_on(
    expert: str, tmp_path: Path
) -> None:
    copy = shutil.copy(expert, tmp_path / "copy.npz")
    with imitator("a2c", "gail-reward", str(copy)) as agent:
        path = agent.save(tmp_path / "model")
    copy.unlink()
    with rlk.load(path, env=MATCH) as agent:
        with pytest.raises(BadFile, match=r"does not exist\. Record an expert"):
            agent.learn(5)
        assert agent.num_timesteps == 0


def test_airl_refuses_episodes_of_a_single_step_while_planning_unless_their_ends_are_known(
    tmp_path: Path,
) -> None:
    short = matches(length=1)
    np.savez(tmp_path / "short.npz", **short)
    with pytest.raises(PlanError, match=r"'airl-reward': each episode of .*short.* single step"):
        imitator("a2c", "airl-reward", str(tmp_path / "short"))
    imitator("a2c", "gail-reward", str(tmp_path / "short")).close()
    ends = {"episode_final_obs": short["obs"], "episode_terminated": np.ones(len(short["obs"]))}
    np.savez(tmp_path / "ends.npz", **short, **ends)
    with imitator("a2c", "airl-reward", str(tmp_path / "ends")) as agent:
        agent.learn(5)
    assert agent.num_timesteps == 5


@pytest.mark.parametrize("reward", [GAILReward, AIRLReward])
def test_a_file_and_trajectories_are_one_expert_too_many(reward: type[LearntReward]) -> None:
    plugin = reward(reward.config_class(expert_path="absent.npz"), Trajectories.of(matches()))
    with pytest.raises(PlanError, match=r"-reward'.*expert_path='absent.npz' and trajectories"):
        rlk.make("a2c", env=MATCH, plugins=[plugin], **SMALL)
