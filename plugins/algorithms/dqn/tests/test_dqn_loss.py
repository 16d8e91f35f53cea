from __future__ import annotations

import pytest
import torch
from torch import tensor
from torch.nn import functional

from rlk_dqn.loss import double_q_target, huber_loss, q_target
from rlk_off_policy.heads import DuelingHead
from rlk_testing.stand_ins import NoLayers


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
    value = huber_loss(tensor([error]), torch.ones(1))
    assert value.item() == pytest.approx(loss)


def test_the_loss_is_the_mean_of_weighted_losses():
    found = huber_loss(tensor([1.0, 3.0]), tensor([1.0, 0.5]))
    assert found.item() == pytest.approx((0.5 + 0.5 * 2.5) / 2)


@pytest.mark.parametrize(
    ("error", "gradient"), [(0.5, 0.5), (-0.5, -0.5), (3.0, 1.0), (-3.0, -1.0)]
)
def test_its_gradient_is_the_error_clipped_to_one(error, gradient):
    error = tensor([error], requires_grad=True)
    (found,) = torch.autograd.grad(huber_loss(error, torch.ones(1)), error)
    assert found.item() == gradient


def test_it_is_that_of_torch():
    error, weight = torch.linspace(-3.0, 3.0, 25, requires_grad=True), torch.linspace(0.1, 1, 25)
    each = functional.huber_loss(error, torch.zeros(25), reduction="none")
    ours, theirs = huber_loss(error, weight), (weight * each).mean()
    assert ours.item() == pytest.approx(theirs.item())
    (found,), (expected,) = (torch.autograd.grad(one, error) for one in (ours, theirs))
    assert torch.allclose(found, expected)


def trunk(role, **_):
    return NoLayers().trunk(role, 2)


def test_a_dueling_head_adds_the_value_and_the_advantages_without_their_mean():
    head = DuelingHead(trunk, 3)
    with torch.no_grad():
        head.advantage.out.weight.copy_(tensor([[1.0, 0.0, 0.0], [0.0, 1.0, 0.0]]))
        head.value.out.weight.copy_(tensor([[10.0], [0.0]]))
    # V = 10 * 3 = 30; A = (3, 6, 0), mean 3
    assert head(tensor([[3.0, 6.0]])).tolist() == [[30.0, 33.0, 27.0]]


def test_the_layers_before_the_value_have_their_own_role():
    asked = []

    def noting(role, **_):
        asked.append(role)
        return trunk(role)

    DuelingHead(noting, 3)
    assert asked == ["qf", "state_value"]


def test_the_hidden_layers_of_a_dueling_head_are_those_of_both_streams():
    head = DuelingHead(lambda role, **_: Doubled(role == "qf"), 3)
    assert head.hidden(tensor([[3.0, 6.0]])).tolist() == [[6.0, 12.0, 3.0, 6.0]]


class Doubled(torch.nn.Module):
    features = 2

    def __init__(self, is_doubled):
        super().__init__()
        self.factor = 1.0 + is_doubled

    def forward(self, x):
        return self.factor * x


def test_the_mean_of_what_a_dueling_head_gives_is_the_value():
    torch.manual_seed(0)
    head = DuelingHead(trunk, 4)
    x = torch.randn(5, 2)
    assert torch.allclose(head(x).mean(1, keepdim=True), head.value(x), atol=1e-6)
