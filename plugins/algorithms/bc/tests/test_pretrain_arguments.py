"""What `pretrain` is given: arguments and policies that it refuses before it changes anything."""

from __future__ import annotations

from typing import Any

import pytest
import torch

import rlk
from rlk.errors import PlanError, RlkError
from rlk_bc import pretrain
from rlk_expert_data import ExpertDataset, generate_expert_traj


def dataset() -> ExpertDataset:
    data = generate_expert_traj(lambda _: 1, env="CartPole-v1", n_episodes=2, seed=0)
    return ExpertDataset(traj_data=data, verbose=0, seed=0)


@pytest.fixture
def agent() -> Any:
    with rlk.make("a2c", env="CartPole-v1", seed=0, n_threads=1) as agent:
        yield agent


@pytest.mark.parametrize(
    ("name", "wrong"),
    [
        ("n_epochs", 0),
        ("n_epochs", 1.5),
        ("learning_rate", "lin_1e-3"),
        ("adam_epsilon", 0.0),
        ("val_interval", 0),
    ],
)
def test_the_argument_is_named(agent: Any, name: str, wrong: object) -> None:
    with pytest.raises(PlanError, match=f"^{name} must be a .*number.*, got {wrong!r}"):
        pretrain(agent, dataset(), **{name: wrong})


def test_a_whole_number_may_be_a_float(agent: Any) -> None:
    pretrain(agent, dataset(), n_epochs=2.0)


@pytest.mark.parametrize("off", [torch.no_grad, torch.inference_mode])
def test_it_needs_gradients(agent: Any, off: Any) -> None:
    data = dataset()
    with off(), pytest.raises(PlanError, match=r"which torch.no_grad\(\).*Call it outside"):
        pretrain(agent, data)


def test_a_replaced_parameter_is_refused(agent: Any) -> None:
    trained = agent.run.parameters.flat.clone()
    agent.run.policy.pi.out.bias = torch.nn.Parameter(torch.zeros(2))
    with pytest.raises(RlkError, match=r"'pi.out.bias' is no longer part"):
        pretrain(agent, dataset(), n_epochs=1)
    assert torch.equal(agent.run.parameters.flat, trained)


def test_parameters_that_were_given_other_memory_are_trained(agent: Any) -> None:
    for parameter in agent.run.policy.parameters():
        parameter.data = parameter.data * 0.5
    halved = agent.run.policy.pi.out.weight.detach().clone()
    pretrain(agent, dataset(), n_epochs=1)
    agent.run.parameters.check()
    assert not torch.equal(agent.run.policy.pi.out.weight, halved)
