from __future__ import annotations

import inspect

import pytest
import torch

import rlk
from rlk.errors import BadFile, PlanError, RlkError
from rlk.one_process import OneProcess
from rlk.optimise import Group, Objective
from rlk.records import Loss
from rlk_testing import OptimiserContract
from rlk_torch_optim.config import ARGUMENTS, TorchOptimConfig
from rlk_torch_optim.step import TorchOptim

#: Arguments of torch's classes that choose an implementation, or a sign.
IMPLEMENTATION = {"foreach", "maximize", "capturable", "differentiable", "fused"}
#: Learning rates with which three steps are neither lost in rounding nor wild; 0.05 for others.
RATES = {"Adadelta": 5.0, "SGD": 0.5, "Rprop": 0.01, "ASGD": 0.5, "Adagrad": 0.2}


class TestTorchOptim(OptimiserContract):
    component = "torch-optim"


class TestSGDWithMomentum(OptimiserContract):
    component = "torch-optim"
    settings = {"kind": "SGD", "arguments": {"momentum": 0.9, "nesterov": True}}
    variant = True


class TestNAdam(OptimiserContract):
    component = "torch-optim"
    settings = {"kind": "NAdam", "arguments": {"weight_decay": 0.01}}
    variant = True
    options = {"eps": 1e-5, "betas": (0.8, 0.9)}


class Follows:
    """An optimiser whose gradients are given one by one."""

    def __init__(self, kind, start=(1.0, -2.0), learning_rate=0.1, options=(), **arguments):
        self.x = torch.nn.Parameter(torch.tensor(start))
        group = Group("x", [self.x], self.x.data, torch.tensor(learning_rate), None, dict(options))
        self.optimiser = TorchOptim(group, TorchOptimConfig(kind=kind, arguments=arguments))

    def step(self, *gradient):
        def loss():
            return Loss((self.x * torch.tensor(gradient)).sum())

        return self.optimiser.step(Objective(self.optimiser.group, loss, (), OneProcess()))


def test_two_steps_of_adamw_are_those_computed_by_hand():
    """Loshchilov and Hutter 2019, algorithm 2: the decay is not part of the gradient."""
    follows = Follows("AdamW", [1.0], 0.1, betas=(0.5, 0.75), eps=0.0, weight_decay=0.2)
    follows.step(2.0)
    # 1 - 0.1 * 0.2 * 1 = 0.98; m = 1 / 0.5, v = 1 / 0.25: 0.98 - 0.1 * 2 / 2
    assert follows.x.item() == pytest.approx(0.88)
    follows.step(1.0)
    # 0.88 * 0.98 = 0.8624; m = 0.5 * 1 + 0.5 * 1 = 1, / 0.75; v = 0.75 * 1 + 0.25 = 1, / 0.4375
    assert follows.x.item() == pytest.approx(0.8624 - 0.1 * (1 / 0.75) / (1 / 0.4375) ** 0.5)


def test_two_steps_of_sgd_with_momentum_are_those_computed_by_hand():
    follows = Follows("SGD", [1.0], 0.1, momentum=0.5)
    follows.step(2.0)
    follows.step(1.0)
    assert follows.x.item() == pytest.approx(1.0 - 0.1 * 2.0 - 0.1 * (0.5 * 2.0 + 1.0))


@pytest.mark.parametrize("kind", ARGUMENTS)
def test_steps_are_those_of_torchs_class_on_each_parameter_by_itself(kind):
    follows = Follows(kind, [1.0, -2.0, 0.5], RATES.get(kind, 0.05))
    parts = [torch.nn.Parameter(torch.tensor(start)) for start in ([1.0, -2.0], [0.5])]
    alone = getattr(torch.optim, kind)(parts, lr=RATES.get(kind, 0.05))
    for gradient in ([0.3, -1.0, 2.0], [0.1, 0.2, -0.4], [-1.5, 0.0, 0.7]):
        follows.step(*gradient)
        parts[0].grad, parts[1].grad = torch.tensor(gradient[:2]), torch.tensor(gradient[2:])
        alone.step()
    assert torch.allclose(follows.x, torch.cat(parts), rtol=1e-6)


@pytest.mark.parametrize("kind", ARGUMENTS)
def test_the_arguments_of_a_class_are_those_that_torch_has(kind):
    taken = [*inspect.signature(getattr(torch.optim, kind)).parameters]
    expected = set(taken) - {"params", "lr"} - IMPLEMENTATION
    newer = {"decoupled_weight_decay"} if kind == "Adam" else set()  # torch 2.7 has it, 2.6 not
    assert set(ARGUMENTS[kind]) == expected - newer


def test_the_groups_options_are_for_classes_with_such_arguments():
    options = {"eps": 0.5, "betas": (0.1, 0.2), "log_likelihood": None}
    assert Follows("AdamW", options=options).optimiser.optimiser.defaults["eps"] == 0.5
    assert Follows("AdamW", options=options).optimiser.optimiser.defaults["betas"] == (0.1, 0.2)
    assert Follows("AdamW", options=options, eps=0.25).optimiser.optimiser.defaults["eps"] == 0.25
    assert "eps" not in Follows("SGD", options=options).optimiser.optimiser.defaults


@pytest.mark.parametrize(
    "settings, words",
    [
        ({"optimiser.kind": "AdamX"}, "'kind' must be in .*AdamW"),
        ({"optimiser.kind": "LBFGS"}, "'kind' must be in .*got 'LBFGS'"),
        ({"optimiser.arguments": {"momentun": 0.9}, "optimiser.kind": "SGD"}, "'momentum'"),
        ({"optimiser.arguments": {"lr": 0.9}}, "argument of AdamW: 'lr'"),
        ({"optimiser.arguments": {"fused": True}}, "argument of AdamW: 'fused'"),
    ],
)
def test_what_no_class_has_is_refused_while_planning(settings, words):
    with pytest.raises(PlanError, match=words):
        rlk.make("ppo2", env="CartPole-v1", optimiser="torch-optim", settings=settings)


def test_a_value_that_the_class_refuses_is_named():
    with pytest.raises(RlkError, match=r"SGD refuses momentum=-1\.0: Invalid momentum"):
        Follows("SGD", momentum=-1.0)


def test_a_model_and_a_checkpoint_go_on_with_its_state(tmp_path):
    settings = {"optimiser.kind": "SGD", "optimiser.arguments": {"momentum": 0.9}}
    run = {"env": "CartPole-v1", "optimiser": "torch-optim", "settings": settings, "seed": 1}
    small = {"n_steps": 16, "nminibatches": 2}
    with rlk.make("ppo2", **run, **small) as agent:
        agent.learn(32)
        agent.save_checkpoint(tmp_path / "half")
        agent.learn(32, reset_num_timesteps=False)
        expected = agent.get_parameters()
    with rlk.load(tmp_path / "half") as again:
        again.learn(32, reset_num_timesteps=False)
        found = again.get_parameters()
    assert all((found[name] == expected[name]).all() for name in expected)


@pytest.mark.parametrize(
    ("policy_kwargs", "words"),
    [
        ({"optimizer_class": torch.optim.AdamW}, "use --plugin torch-optim:kind=AdamW"),
        ({"optimizer_class": torch.optim.LBFGS}, "torch-optim:kind=NAME has ASGD"),
        (
            {"optimizer_kwargs": {"weight_decay": 0.1}},
            r"in torch-optim:arguments=\{weight_decay=0\.1\}",
        ),
    ],
)
def test_words_of_stable_baselines3_name_it(policy_kwargs, words):
    with pytest.raises(PlanError, match=words):
        rlk.make("ppo", env="CartPole-v1", policy_kwargs=policy_kwargs)


def test_a_state_of_another_number_of_parameters_is_refused():
    state = Follows("AdamW", [1.0, 2.0, 3.0])
    state.step(1.0, 1.0, 1.0)
    with pytest.raises(BadFile, match=r"'exp_avg' of shape \[3\].*2 parameters"):
        Follows("AdamW").optimiser.load_state_dict(state.optimiser.state_dict())
