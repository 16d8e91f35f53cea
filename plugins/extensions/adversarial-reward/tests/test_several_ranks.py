"""What a discriminator takes from other ranks: parameters, gradients, and what they have seen."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import torch

import rlk
from rlk_adversarial_reward.extension import GAILReward


@pytest.fixture
def adversary(rlk_expert: Path) -> Iterator[Any]:
    settings: dict[str, Any] = {"seed": 0, "n_threads": 1, "n_steps": 4}
    settings["gail-reward"] = {"expert_path": str(rlk_expert)}
    env = "rlk_testing.environments:DiscreteMatch"
    with rlk.make("a2c", env=env, plugins=["gail-reward"], **settings) as agent:
        yield agent.run.hooks.get("gail-reward").adversary


def test_a_step_is_taken_with_the_mean_of_the_gradients(
    adversary: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    own: list[float] = []

    def mean(gradient: torch.Tensor) -> torch.Tensor:
        own.extend(gradient.reshape(-1).tolist())
        return -torch.ones_like(gradient)

    monkeypatch.setattr(adversary.run, "communicator", SimpleNamespace(size=2, rank=1, mean=mean))
    adversary._optimiser.param_groups[0]["lr"] = 0.25
    before = [parameter.detach().clone() for parameter in adversary._parameters]
    adversary._step(sum(3.0 * parameter.sum() for parameter in adversary._parameters))
    assert own == [3.0] * sum(parameter.numel() for parameter in before)
    for parameter, old in zip(adversary._parameters, before, strict=True):  # Adam's first step
        assert torch.allclose(parameter - old, torch.tensor(0.25))


def test_observations_are_normalised_by_those_of_all_ranks(
    adversary: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    size = adversary.discriminator.rows.moments.mean.size
    theirs = np.full(size, 6.0), np.full(size, 3.0), 6.0

    def gather(mine: Any) -> list[Any]:
        return [theirs, mine]

    several = SimpleNamespace(size=2, rank=1, gather=gather)
    monkeypatch.setattr(adversary.run, "communicator", several)
    adversary._see(np.repeat([[1.0], [3.0]], size, axis=1))
    moments = adversary.discriminator.rows.moments
    # Eight rows: six around 6 with variance 3, and 1 and 3.
    assert moments.count == 8.0
    assert moments.mean == pytest.approx([5.0] * size)
    assert moments.var == pytest.approx([(6 * (3 + 1) + 16 + 4) / 8] * size)


def test_every_rank_begins_with_the_parameters_of_rank_0(
    adversary: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    rank_1 = SimpleNamespace(size=2, rank=1, agree=lambda own: np.full_like(own, 0.5))
    monkeypatch.setattr(adversary.run, "communicator", rank_1)
    made = adversary._equal_on_ranks(GAILReward()._discriminator)
    assert all(bool((parameter == 0.5).all()) for parameter in made.parameters())
