"""Which batches are large enough for our own kernels."""

from __future__ import annotations

import dataclasses

import torch

import rlk
from rlk_own_products.batches import has_transitions, least_transitions
from rlk_own_products.native import NUMBERS, WORK

#: Of products with a layer of 64 x 64, just large enough.
ROWS, SIZE = WORK // 64**2, 64


@dataclasses.dataclass
class Parts:
    """A batch whose observations are a dict."""

    observation: dict[str, torch.Tensor]


def test_the_transitions_of_a_batch() -> None:
    with rlk.make("dqn", env="CartPole-v1", learning_starts=20, batch_size=8) as agent:
        agent.learn(30)
        batch = agent.run.storage.sample(8)
    assert has_transitions(batch, 8) and not has_transitions(batch, 9)
    assert not has_transitions([torch.ones(4)], 1)
    assert not has_transitions(Parts({}), 1), "it has no tensors"
    parts = Parts({"a": torch.ones(4), "of all": torch.tensor(1.0)})
    assert has_transitions(parts, 4) and not has_transitions(parts, 5)


def test_how_many_transitions_make_products_large_enough() -> None:
    bias, image = torch.ones(99), torch.ones(9, 9, 9, 9)
    assert least_transitions([bias, torch.ones(SIZE, 3), torch.ones(SIZE, SIZE)]) == ROWS
    assert least_transitions([torch.ones(WORK // ROWS - 1, 1)]) == ROWS + 1
    assert least_transitions([torch.ones(1, NUMBERS)]) == 1
    assert least_transitions([bias, image, torch.ones(1, NUMBERS + 1)]) is None
