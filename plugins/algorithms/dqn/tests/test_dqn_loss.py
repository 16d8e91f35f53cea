from __future__ import annotations

import pytest
import torch
from torch import tensor
from torch.nn import functional as F

from rlk_dqn.loss import double_q_target, huber_loss, q_target
from rlk_dqn.network import DuelingHead, q_head
from rlk_testing import NoLayers


def test_the_target_is_the_reward_and_the_discounted_best_value():
    found = q_target(tensor([1.0]), tensor([0.5]), tensor([[2.0, 6.0, 4.0]]))
    assert found.tolist() == [4.0]


def test_a_terminated_transition_does_not_bootstrap():
    nothing = tensor([0.0])
    assert q_target(tensor([1.0]), nothing, tensor([[9.0, 9.0]])).tolist() == [1.0]
    found = double_q_target(tensor([1.0]), nothing, tensor([[9.0, 0.0]]), tensor([[9.0, 9.0]]))
    assert found.tolist() == [1.0]


def test_double_q_values_the_action_of_the_online_network_with_the_target_network():
    found = double_q_target(
        reward=tensor([1.0, 1.0]),
        discount=tensor([0.5, 0.5]),
        next_q=tensor([[0.0, 3.0], [3.0, 0.0]]),
        next_q_target=tensor([[10.0, 4.0], [10.0, 4.0]]),
    )
    assert found.tolist() == [3.0, 6.0]  # 1 + 0.5 * 4 and 1 + 0.5 * 10


@pytest.mark.parametrize(
    ("error", "loss"), [(0.0, 0.0), (0.5, 0.125), (-0.5, 0.125), (1.0, 0.5), (3.0, 2.5)]
)
def test_the_huber_loss_is_a_square_within_one_and_a_line_beyond(error, loss):
    value, td_error = huber_loss(tensor([error + 2.0]), tensor([2.0]), torch.ones(1))
    assert value.item() == pytest.approx(loss)
    assert td_error.item() == error


def test_losses_are_weighted_and_averaged():
    found, _ = huber_loss(tensor([1.0, 2.0]), tensor([0.0, -1.0]), tensor([1.0, 0.5]))
    assert found.item() == pytest.approx((0.5 + 0.5 * 2.5) / 2)


def test_its_value_and_gradient_equal_those_of_torch():
    generator = torch.Generator().manual_seed(0)
    error = (4 * torch.randn(64, generator=generator)).requires_grad_()
    weight = torch.rand(64, generator=generator)
    twin = error.detach().clone().requires_grad_()
    value, _ = huber_loss(error, torch.zeros(64), weight)
    expected = (weight * F.smooth_l1_loss(twin, torch.zeros(64), reduction="none")).mean()
    assert value.item() == pytest.approx(expected.item(), rel=1e-5)
    one, two = torch.autograd.grad(value, error)[0], torch.autograd.grad(expected, twin)[0]
    assert torch.allclose(one, two, atol=1e-7)


def trunk(role, **_):
    return NoLayers().trunk(role, 2)


def test_a_dueling_head_adds_the_value_and_the_advantages_without_their_mean():
    head = DuelingHead(trunk, 3)
    with torch.no_grad():
        head.advantage.out.weight.copy_(tensor([[1.0, 0.0, 0.0], [0.0, 1.0, 0.0]]))
        head.value.out.weight.copy_(tensor([[10.0], [0.0]]))
    # V = 10 * 3 = 30; A = (3, 6, 0), mean 3
    assert head(tensor([[3.0, 6.0]])).tolist() == [[30.0, 33.0, 27.0]]


@pytest.mark.parametrize("make", [DuelingHead, q_head])
def test_numpy_twins_of_heads_equal_torch(make):
    torch.manual_seed(0)
    head = make(trunk, 4)
    x = torch.randn(5, 2)
    twin = head.numpy_forward()
    assert twin is not None
    assert torch.allclose(head(x), torch.from_numpy(twin(x.numpy())), atol=1e-6)


def test_the_mean_of_what_a_dueling_head_gives_is_the_value():
    torch.manual_seed(0)
    head = DuelingHead(trunk, 4)
    x = torch.randn(5, 2)
    assert torch.allclose(head(x).mean(1, keepdim=True), head.value(x), atol=1e-6)
