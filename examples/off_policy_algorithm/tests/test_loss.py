"""The formulas by hand."""

from torch import tensor

from acme_ensemble.loss import actor_loss, critic_loss, least_of_two_target


def test_the_target_is_of_the_two_critics_with_the_lowest_numbers():
    next_q = tensor([[1.0, 10.0], [3.0, 30.0], [2.0, 20.0]])
    order = tensor([[0.9, 0.1, 0.2], [0.3, 0.2, 0.8]])
    found = least_of_two_target(tensor([1.0, 0.0]), tensor([0.5, 0.0]), next_q, order)
    assert found.tolist() == [1.0 + 0.5 * 2.0, 0.0]


def test_weights_scale_the_errors_of_each_critic():
    q = tensor([[1.0, 2.0], [0.0, 4.0]])
    found = critic_loss(q, tensor([0.0, 2.0]), tensor([1.0, 0.5]))
    assert found.item() == (1.0 + 0.0) / 2 + (0.0 + 0.5 * 4.0) / 2


def test_the_policy_goes_by_the_mean_of_all_critics():
    assert actor_loss(tensor([[1.0, 2.0], [3.0, 6.0]])).item() == -3.0
