"""The entropy coefficient, its loss, and how its settings are read."""

from __future__ import annotations

import math
from types import SimpleNamespace

import gymnasium as gym
import pytest
import torch
from torch import tensor

from rlk.errors import RlkError
from rlk_off_policy.entropy_coefficient import EntropyCoefficient, entropy_loss
from rlk_off_policy.settings import parse_ent_coef, parse_target_entropy

SPACE = gym.spaces.Box(-1.0, 1.0, (2, 3))


def coefficient(ent_coef="auto", target_entropy="auto"):
    """A coefficient, and the groups that it has declared, by name."""
    groups = {}

    def group(name, **arguments):
        groups[name] = arguments

    settings = SimpleNamespace(
        ent_coef=ent_coef, target_entropy=target_entropy, learning_rate=0.001
    )
    run = SimpleNamespace(action_space=SPACE, device="cpu", group=group)
    return EntropyCoefficient(settings, run), groups


def descent(rate, parameters):
    """`optimise` by plain gradient descent."""

    def optimise(group, loss_fn, *args):
        loss = loss_fn(*args)
        (gradient,) = torch.autograd.grad(loss.value, parameters)
        parameters.detach().sub_(rate * gradient)
        return loss

    return optimise


# ---- the loss ------------------------------------------------------------------------------------


def test_the_entropy_loss_by_hand_and_its_gradient():
    log_alpha = tensor(math.log(0.1), requires_grad=True)
    found = entropy_loss(log_alpha, tensor([-1.0, 4.0]), target_entropy=-2.0)
    assert found.item() == pytest.approx(-math.log(0.1) * (1.5 - 2.0))
    (gradient,) = torch.autograd.grad(found, log_alpha)
    assert gradient.item() == pytest.approx(0.5)


@pytest.mark.parametrize(("log_prob", "rises"), [(3.0, True), (-3.0, False)])
def test_the_coefficient_rises_where_there_is_less_entropy_than_wanted(log_prob, rises):
    log_alpha = tensor(0.0, requires_grad=True)
    loss = entropy_loss(log_alpha, tensor([log_prob]), target_entropy=-1.0)
    (gradient,) = torch.autograd.grad(loss, log_alpha)
    assert (-gradient.item() > 0) == rises


# ---- the settings --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("value", "found"),
    [("auto", (True, 1.0)), ("auto_0.1", (True, 0.1)), (0.2, (False, 0.2)), (0, (False, 0.0)),
     ("0.3", (False, 0.3))],
)  # fmt: skip
def test_a_coefficient_is_learnt_from_a_value_on_or_fixed(value, found):
    assert parse_ent_coef(value) == found


@pytest.mark.parametrize("value", ["automatic", "auto_", "auto_0", "auto_x", -0.1, math.nan])
def test_no_other_coefficient_is_taken(value):
    with pytest.raises(ValueError, match=r"must be 'auto', 'auto_0\.1'"):
        parse_ent_coef(value)


def test_a_target_entropy_is_a_number_or_minus_the_size_of_an_action():
    assert parse_target_entropy("auto", 6) == -6.0
    assert parse_target_entropy(-0.5, 6) == parse_target_entropy("-0.5", 6) == -0.5
    for value in ("automatic", math.inf):
        with pytest.raises(ValueError, match="must be 'auto' or a number"):
            parse_target_entropy(value, 6)


# ---- the coefficient -----------------------------------------------------------------------------


def test_a_learnt_coefficient_is_a_group_with_the_rate_of_the_algorithm():
    entropy, groups = coefficient("auto_0.1")
    assert groups["entropy"]["parameters"].names == ["log_ent_coef"]
    assert groups["entropy"]["learning_rate"] == 0.001
    assert entropy.value().item() == pytest.approx(0.1) and not entropy.value().requires_grad
    assert entropy.log_alpha.item() == pytest.approx(math.log(0.1))
    assert entropy.target_entropy == -6.0
    assert coefficient(target_entropy=-0.5)[0].target_entropy == -0.5


def test_a_fixed_coefficient_is_no_group_and_is_not_updated():
    entropy, groups = coefficient(0.2)
    assert not groups and entropy.log_alpha is None and entropy.state_dict() == {}
    metrics = entropy.update(None, tensor([1.0]))
    assert {name: value.item() for name, value in metrics.items()} == pytest.approx(
        {"ent_coef": 0.2}
    )


def test_an_update_tells_the_coefficient_before_its_step():
    entropy, _ = coefficient("auto_0.5", target_entropy=-1.0)
    metrics = entropy.update(descent(0.1, entropy.log_alpha), tensor([2.0, 4.0]))
    assert metrics["ent_coef"].item() == pytest.approx(0.5)
    assert metrics["ent_coef_loss"].item() == pytest.approx(-math.log(0.5) * 2.0)
    assert entropy.value().item() == pytest.approx(0.5 * math.exp(0.1 * 2.0))


def test_a_state_is_a_copy_and_is_restored_in_place():
    (one, _), (other, groups) = coefficient("auto_0.5"), coefficient("auto")
    state = one.state_dict()
    one.log_alpha.detach().fill_(9.0)
    other.load_state_dict({"target": "of others", **state})
    assert other.value().item() == pytest.approx(0.5)
    groups["entropy"]["parameters"].check()
    assert groups["entropy"]["parameters"].flat.tolist() == state["log_ent_coef"].tolist()


def test_a_fixed_coefficient_cannot_be_learnt_from_there():
    fixed, _ = coefficient(0.2)
    with pytest.raises(RlkError, match="saved by a run with a fixed ent_coef"):
        coefficient("auto")[0].load_state_dict(fixed.state_dict())
    fixed.load_state_dict(coefficient("auto")[0].state_dict())
    assert fixed.value().item() == pytest.approx(0.2)
