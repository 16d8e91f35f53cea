"""How an expert's transitions are divided, and the mean of a loss over them."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from rlk_bc.config import ExpertConfig
from rlk_bc.storage import ExpertTransitions, mean_loss


@pytest.mark.parametrize(("fraction", "kept"), [(1e-6, 1), (0.39, 3), (1.0, 10)])
def test_the_training_part_has_at_least_one_transition(
    tmp_path: Path, fraction: float, kept: int
) -> None:
    path, starts = tmp_path / "expert.npz", np.arange(10) == 0
    shown, taken = np.zeros((10, 3)), np.zeros((10, 1))
    parts = {"actions": taken, "episode_starts": starts, "episode_returns": np.zeros(1)}
    np.savez(path, obs=shown, **parts)
    storage = ExpertTransitions(ExpertConfig(expert_path=str(path), train_fraction=fraction))
    assert len(storage) == kept


def test_the_mean_of_a_loss_is_over_transitions_and_not_over_batches() -> None:
    batches: list[Any] = [SimpleNamespace(action=[2.0, 2.0, 2.0]), SimpleNamespace(action=[6.0])]
    assert mean_loss(lambda batch: batch.action[0], iter(batches)) == (3 * 2.0 + 6.0) / 4
