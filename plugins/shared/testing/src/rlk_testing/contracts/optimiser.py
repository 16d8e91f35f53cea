"""The contract of an optimiser: it moves one group's range of a flat tensor, and nothing else."""

from __future__ import annotations

import copy
import dataclasses
from collections.abc import Mapping
from typing import Any, ClassVar

import pytest
import torch
from torch import Tensor, nn

from rlk.one_process import OneProcess
from rlk.optimise import Group, Objective
from rlk.protocols import Communicator
from rlk.records import Loss
from rlk_testing.contracts.shared.contract import Contract
from rlk_testing.stand_ins import StandInParameters
from rlk_testing.tools.global_generators import global_generators_untouched
from rlk_testing.tools.states import plain, same
from rlk_testing.tools.thread_ranks import on_ranks


class OptimiserContract(Contract):
    """What every optimiser must do. Its factory takes a `Group`.

    Attributes:
        learning_rate: for the checks.
        n_steps: number of steps in which a quadratic loss must fall below half of its value.
        options: of the group, as an algorithm passes them.
    """

    kind = "optimisers"
    learning_rate: ClassVar[float] = 0.05
    n_steps: ClassVar[int] = 60
    options: ClassVar[Mapping[str, Any]] = {}

    def problem(self, **keywords: Any) -> Problem:
        """A network, a quadratic loss with minimum 0, and an optimiser of the network or a part."""
        return Problem(self, **{"learning_rate": self.learning_rate, **keywords})

    def ranks_of_problems(self) -> list[Problem]:
        """The same network and optimiser on two ranks, each with data of its own."""
        problems = [self.problem(), self.problem()]
        problems[1].x = 1.0 - problems[1].x
        return problems

    def test_it_brings_a_quadratic_down(self) -> None:
        problem = self.problem()
        first = float(problem.step().value.detach())
        for _ in range(self.n_steps):
            last = float(problem.step().value.detach())
        assert last < 0.5 * first, (
            f"the loss went from {first:.4f} to {last:.4f} in {self.n_steps} steps"
        )

    def test_a_step_returns_the_loss_at_the_parameters_before_it(self) -> None:
        problem = self.problem()
        expected = float(problem.quadratic().value.detach())
        loss = problem.step()
        assert isinstance(loss, Loss)
        assert float(loss.value.detach()) == pytest.approx(expected)
        assert "loss" in loss.metrics, "the metrics of the loss must come through"
        assert "error" in loss.outputs, "the outputs of the loss must come through"

    def test_a_loss_may_have_neither_metrics_nor_outputs(self) -> None:
        """All losses without them share one mapping, which nobody can add to."""
        problem = self.problem()
        before = problem.flat.flat.clone()
        problem.reports = False
        problem.step()
        assert not problem.flat.flat.equal(before)

    def test_its_state_is_on_the_device_of_its_group(self) -> None:
        """Tried with the device "meta", where tensors have no numbers."""
        group = self.problem().group
        elsewhere = dataclasses.replace(
            group,
            parameters=[nn.Parameter(parameter.to("meta")) for parameter in group.parameters],
            flat=group.flat.to("meta"),
            learning_rate=group.learning_rate.to("meta"),
        )
        for name, value in self.made(elsewhere).state_dict().items():
            if isinstance(value, Tensor) and value.dim() > 0:
                assert value.device.type == "meta", (
                    f"{name!r} of its state is on {value.device.type}, and the group elsewhere: "
                    "make it with torch.zeros_like(group.flat)"
                )

    def test_metrics_that_it_adds_are_0_dim_tensors(self) -> None:
        for name, value in self.problem().step().metrics.items():
            assert isinstance(value, Tensor) and value.dim() == 0, f"metric {name!r} is {value!r}"

    @pytest.mark.parametrize("bad", [float("nan"), float("inf")])
    def test_a_gradient_that_is_not_finite_moves_nothing(self, bad: float) -> None:
        problem = self.problem()
        problem.step()
        before, state = problem.flat.flat.clone(), copy.deepcopy(problem.optimiser.state_dict())
        problem.factor = bad
        problem.step()
        assert problem.flat.flat.equal(before), f"parameters moved by a gradient of {bad}"
        assert same(problem.optimiser.state_dict(), state), f"its state took in a gradient of {bad}"
        problem.factor = 1.0
        problem.step()
        assert bool(torch.isfinite(problem.flat.flat).all()) and not problem.flat.flat.equal(before)

    def test_a_loss_that_does_not_accept_its_step_moves_nothing(self) -> None:
        problem = self.problem()
        problem.step()
        before, state = problem.flat.flat.clone(), copy.deepcopy(problem.optimiser.state_dict())
        problem.accept = torch.tensor(False)
        problem.step()
        assert problem.flat.flat.equal(before)
        assert same(problem.optimiser.state_dict(), state)
        problem.accept = torch.tensor(True)
        problem.step()
        assert not problem.flat.flat.equal(before), "with accept = True it did not step either"

    def test_it_moves_its_own_group_alone(self) -> None:
        problem = self.problem(prefixes=("pi",))
        before = {name: p.detach().clone() for name, p in problem.net.named_parameters()}
        for _ in range(3):
            problem.step()
        for name, parameter in problem.net.named_parameters():
            has_moved = not parameter.equal(before[name])
            if name.startswith("pi"):
                assert has_moved, f"{name} is of its group, and has not moved"
            else:
                assert not has_moved, f"{name} is not of its group"

    def test_parameters_stay_views_of_the_flat_tensor(self) -> None:
        problem = self.problem()
        memory = problem.flat.flat.data_ptr()
        for _ in range(3):
            problem.step()
        problem.flat.check()
        assert problem.flat.flat.data_ptr() == memory
        assert all(p.grad is None for p in problem.net.parameters()), (
            ".grad was filled, and nothing clears it"
        )

    def test_a_learning_rate_that_changes_is_used_at_once(self) -> None:
        problem = self.problem()
        problem.step()
        before = problem.flat.flat.clone()
        problem.group.learning_rate.fill_(0.0)
        problem.step()
        assert problem.flat.flat.equal(before), "it moved at a learning rate of 0"

    def test_the_gradients_norm_is_clipped(self) -> None:
        """One that is too long is scaled down; its direction stays, and a short one is kept."""
        limit = 0.1
        problem, scaled = self.problem(max_grad_norm=limit), self.problem()
        for factor in (0.1, 10.0, 1000.0, 10.0):
            problem.factor, scaled.factor = factor, 1.0
            scaled.factor = min(factor, limit / float(scaled.gradient().norm()))
            problem.step()
            scaled.step()
        assert torch.allclose(problem.flat.flat, scaled.flat.flat, rtol=1e-4, atol=1e-6), (
            "a step with group.max_grad_norm is not that of the gradient scaled down to this norm: "
            "multiply the whole gradient by (max_grad_norm / its norm).clamp(max=1), not each "
            "element by itself"
        )

    def test_ranks_with_data_of_their_own_take_the_same_steps(self) -> None:
        problems = self.ranks_of_problems()
        start = problems[0].flat.flat.clone()
        on_ranks(2, lambda rank: problems[rank.rank].steps(3, rank))
        assert not problems[0].flat.flat.equal(start)
        assert problems[1].flat.flat.equal(problems[0].flat.flat), (
            "parameters of ranks differ: what moves them has to be averaged over ranks, as "
            "objective.gradient(), gradient_of and mean do"
        )

    def test_no_rank_takes_a_step_that_another_does_not_accept(self) -> None:
        problems = self.ranks_of_problems()
        start = problems[0].flat.flat.clone()
        for problem, accept in zip(problems, (True, False), strict=True):
            problem.accept = torch.tensor(accept)
        on_ranks(2, lambda rank: problems[rank.rank].steps(1, rank))
        for problem in problems:
            assert problem.flat.flat.equal(start), (
                "use the `accept` of the loss from objective.gradient(), or objective.accepts(loss)"
            )

    def test_its_state_does_not_change_with_later_steps(self) -> None:
        problem = self.problem()
        problem.step()
        state = problem.optimiser.state_dict()
        kept = copy.deepcopy(state)
        problem.steps(2)
        assert same(state, kept), "what state_dict returned has changed: clone() its tensors"

    def test_its_state_is_plain_and_gives_the_same_next_steps(self) -> None:
        problem, twin = self.problem(), self.problem()
        for _ in range(3):
            problem.step()
        state = copy.deepcopy(problem.optimiser.state_dict())
        plain(state)
        twin.flat.flat.copy_(problem.flat.flat)
        given = copy.deepcopy(state)
        twin.optimiser.load_state_dict(given)
        assert same(twin.optimiser.state_dict(), state)
        for _ in range(3):
            problem.step()
            twin.step()
        assert twin.flat.flat.equal(problem.flat.flat)
        assert same(given, state), (
            "steps after load_state_dict have changed the state that it was given, which another "
            "optimiser may load too: copy_() its tensors into your own"
        )

    def test_two_optimisers_share_nothing(self) -> None:
        one, two, alone = self.problem(), self.problem(), self.problem()
        for _ in range(3):
            one.step()
            two.step()
            alone.step()
        assert two.flat.flat.equal(alone.flat.flat)
        for _ in range(3):
            one.step()
        assert two.flat.flat.equal(alone.flat.flat)

    def test_it_draws_from_no_global_generator(self) -> None:
        problem = self.problem()
        with global_generators_untouched():
            problem.step()


class Net(nn.Module):
    """A network with shared layers and two heads, as policies have."""

    def __init__(self) -> None:
        super().__init__()
        self.shared = nn.Linear(4, 5)
        self.pi = nn.Linear(5, 3)
        self.vf = nn.Linear(5, 1)

    def forward(self, x: Tensor) -> tuple[Tensor, Tensor]:
        hidden = torch.tanh(self.shared(x))
        return self.pi(hidden), self.vf(hidden)


class Problem:
    """A network, a group of its parameters, and an optimiser that minimises the quadratic loss.

    Attributes:
        factor: that the loss is multiplied by; NaN or infinity make its gradient non-finite.
        accept: `Loss.accept` of every loss.
        reports: whether losses have metrics and outputs.
    """

    def __init__(
        self,
        suite: OptimiserContract,
        learning_rate: float,
        prefixes: tuple[str, ...] | None = None,
        max_grad_norm: float | None = None,
    ) -> None:
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(0)
            self.net = Net()
            self.x = torch.randn(32, 4)
        self.flat = StandInParameters(self.net)
        views, memory = self.flat.select(prefixes)
        rate = torch.tensor(learning_rate)
        self.group = Group("all", views, memory, rate, max_grad_norm, dict(suite.options))
        self.optimiser = suite.made(self.group)
        self.factor, self.accept, self.reports = 1.0, None, True

    def quadratic(self) -> Loss:
        """The sum of both heads' mean squares, with a distribution and a prediction."""
        pi, vf = self.net(self.x)
        value = self.factor * (pi.square().mean() + vf.square().mean())
        loss = Loss(value, distribution=pi, prediction=vf[:, 0], accept=self.accept)
        if not self.reports:
            return loss
        metrics, outputs = {"loss": value.detach()}, {"error": vf.detach()[:, 0]}
        return loss._replace(metrics=metrics, outputs=outputs)

    accept: Tensor | None

    def gradient(self) -> Tensor:
        """The gradient of the loss by the group's parameters, flat [P]."""
        parts = torch.autograd.grad(self.quadratic().value, self.group.parameters)
        return torch.cat([part.flatten() for part in parts])

    def step(self, communicator: Communicator | None = None) -> Loss:
        among = communicator or OneProcess()
        return self.optimiser.step(Objective(self.group, self.quadratic, (), among))

    def steps(self, count: int, communicator: Communicator | None = None) -> None:
        for _ in range(count):
            self.step(communicator)
