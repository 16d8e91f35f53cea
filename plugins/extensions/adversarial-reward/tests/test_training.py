"""How a discriminator is trained: batches, passes over the expert, rewards and metrics."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import attrs
import numpy as np
import pytest
import torch

import rlk
from rlk.errors import NotFinite, PlanError
from rlk_adversarial_reward.transitions import of_rollout


@pytest.fixture
def adversary(rlk_expert: Path) -> Iterator[Any]:
    """An adversary that judges four transitions, and learns from them in seven batches at most."""
    own = {"expert_path": str(rlk_expert), "g_step": 2, "d_step": 7, "adversary_entcoeff": 0.0}
    settings: dict[str, Any] = {"seed": 0, "n_threads": 1, "n_steps": 4, "gail-reward": own}
    env = "rlk_testing.environments:DiscreteMatch"
    with rlk.make("a2c", env=env, plugins=["gail-reward"], **settings) as agent:
        yield agent.run.hooks.get("gail-reward").adversary


def test_there_are_no_more_batches_than_transitions(adversary: Any) -> None:
    for _ in range(4):  # it learns after every second collection
        adversary.run.collect()
    assert adversary.state_dict()["adam"]["0"]["step"] == 2 * 4
    assert all(bool(torch.isfinite(one).all()) for one in adversary._parameters)


def test_every_pass_has_each_of_the_experts_transitions_once(adversary: Any) -> None:
    adversary.expert = np.arange(8)
    drawn = np.concatenate([adversary._of_expert(3) for _ in range(8)])
    passes = [one.tolist() for one in np.split(drawn, 3)]
    assert [sorted(one) for one in passes] == [list(range(8))] * 3
    assert len({tuple(one) for one in [*passes, range(8)]}) == 4, "each has an order of its own"
    several = adversary._of_expert(16)
    assert sorted(several) == sorted([*range(8)] * 2), "also where a batch is larger than a pass"


def test_a_collection_is_judged_with_its_own_observations_among_those_seen(adversary: Any) -> None:
    run = adversary.run
    for _ in range(3):  # the discriminator has learnt once
        run.metrics.take_row()
        run.collect()
    rollout = run.storage.latest()
    with torch.no_grad():
        logits = adversary.discriminator.logits(of_rollout(run, rollout), None)
        expected = adversary.discriminator.reward(logits).numpy()
    assert np.allclose(rollout.reward.reshape(-1), expected)
    assert run.metrics.take_row()["train/learnt_reward"] == pytest.approx(expected.mean())


def test_a_row_has_the_mean_of_the_learnt_rewards_of_its_collections(adversary: Any) -> None:
    run, means = adversary.run, []
    for _ in range(2):
        run.collect()
        means.append(run.storage.latest().reward.mean())
    assert means[0] != means[1]
    assert run.metrics.take_row()["train/learnt_reward"] == pytest.approx(np.mean(means))


def test_metrics_of_a_training_by_hand(adversary: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    log_2, log_3 = float(np.log(2)), float(np.log(3))  # probabilities 2/3 and 3/4
    logits = iter([[-log_2, -log_2, -log_3, log_3], [log_2, -log_2, -log_2, -log_2]])

    def given(transitions: Any) -> torch.Tensor:
        return torch.tensor(next(logits)) + 0.0 * adversary._parameters[0].sum()

    adversary.prepare()
    run = adversary.run
    run.collector.collect()
    monkeypatch.setattr(adversary, "_logits", given)
    monkeypatch.setattr(adversary, "config", attrs.evolve(adversary.config, d_step=1))
    adversary._train(of_rollout(run, run.storage.latest()))
    row = run.metrics.take_row()
    assert row["train/discriminator_policy"] == 0.75 and row["train/discriminator_expert"] == 0.25
    # -log of what is right: 2/3, 2/3, 3/4 and 1/4; then 2/3 and three times 1/3.
    wrong = -np.log([2 / 3, 2 / 3, 3 / 4, 1 / 4]).mean()
    missed = -np.log([2 / 3, 1 / 3, 1 / 3, 1 / 3]).mean()
    assert row["train/discriminator_loss"] == pytest.approx(wrong + missed)


def test_metrics_are_means_over_all_batches(
    adversary: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    right = iter([[-1.0], [1.0], [-1.0], [1.0], [1.0], [-1.0], [-1.0], [-1.0]])

    def given(transitions: Any) -> torch.Tensor:
        return torch.tensor(next(right)) + 0.0 * adversary._parameters[0].sum()

    adversary.prepare()
    run = adversary.run
    run.collector.collect()
    monkeypatch.setattr(adversary, "_logits", given)
    adversary._train(of_rollout(run, run.storage.latest()))  # four batches of one transition
    row = run.metrics.take_row()
    assert row["train/discriminator_policy"] == 0.75 and row["train/discriminator_expert"] == 0.5


def test_a_gradient_that_is_not_finite_is_the_discriminators_fault(adversary: Any) -> None:
    adversary.prepare()
    before = [one.clone() for one in adversary._parameters]
    with pytest.raises(NotFinite, match=r"gradient of the discriminator .* Lower d_stepsize"):
        adversary._step(adversary._parameters[0].sum() * float("nan"))
    assert all(torch.equal(*pair) for pair in zip(before, adversary._parameters, strict=True))


def test_another_expert_than_before_is_refused(adversary: Any) -> None:
    adversary.prepare()
    state = adversary.state_dict()
    adversary.load_state_dict({**state, "expert_transitions": 7})
    adversary.expert = None
    with pytest.raises(PlanError, match=r"had 7 transitions .* has \d+ now"):
        adversary.prepare()


def test_a_state_has_the_number_of_the_experts_transitions(adversary: Any) -> None:
    adversary.prepare()
    state = adversary.state_dict()
    assert state.pop("expert_transitions") == len(adversary.expert)
    with pytest.raises(KeyError, match="expert_transitions"):
        adversary.load_state_dict(state)
