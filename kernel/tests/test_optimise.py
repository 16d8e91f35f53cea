from __future__ import annotations

import pytest
import torch
from torch import nn

from rlk.errors import RlkError
from rlk.one_process import OneProcess
from rlk.optimise import MOST_LOSSES, Group, Objective, Optimiser
from rlk.records import Loss
from rlk_testing.stand_ins import StandInParameters


class TwoRanks:
    """The other rank is the first, has nothing but zeros and says "yes" to everything."""

    rank, size = 0, 2

    def mean(self, tensor):
        return tensor / 2

    def agree(self, value):
        return "yes"


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.a = nn.Parameter(torch.tensor([2.0, 3.0]))
        self.b = nn.Parameter(torch.tensor([5.0]))


def group_of(net, prefixes=None):
    views, memory = StandInParameters(net).select(prefixes)
    return Group("all", views, memory, torch.tensor(0.1))


class Keeps:
    """An optimiser that does nothing but hand on the loss, with its graph."""

    def __init__(self):
        self.objectives = []

    def step(self, objective):
        self.objectives.append(objective)
        return objective.differentiable()

    def state_dict(self):
        return {"steps": len(self.objectives)}

    def load_state_dict(self, state):
        self.loaded = state["steps"]


# ---- the objective -------------------------------------------------------------------------------


def objective_of(net, communicator=None, prefixes=None):
    def loss(factor):
        return Loss(factor * (net.a * net.a).sum())

    return Objective(group_of(net, prefixes), loss, (2.0,), communicator or OneProcess())


def test_the_gradient_is_flat_in_the_order_of_the_group():
    loss, gradient = objective_of(Net()).gradient()
    assert loss.value.item() == pytest.approx(2 * (4 + 9))
    assert gradient.tolist() == [8.0, 12.0, 0.0]  # b is not used: zeros


def test_the_gradient_of_a_loss_with_its_graph_is_the_same_and_can_be_taken_twice():
    objective = objective_of(Net(), TwoRanks())
    loss = objective.differentiable()
    for _ in range(2):
        assert objective.gradient_of(loss).tolist() == [4.0, 6.0, 0.0]


def test_the_gradient_is_that_of_the_group_alone():
    _, gradient = objective_of(Net(), prefixes=("b",)).gradient()
    assert gradient.tolist() == [0.0]


def test_a_frozen_parameter_is_refused_with_its_group():
    net = Net()
    objective = objective_of(net)
    net.b.requires_grad_(False)
    with pytest.raises(RlkError, match=r"of group 'all' was frozen .* in the constructor of"):
        objective.gradient()
    net.b.requires_grad_(True)
    assert objective.gradient()[1].tolist() == [8.0, 12.0, 0.0]


def test_no_grad_field_is_filled():
    net = Net()
    objective_of(net).gradient()
    assert net.a.grad is None and net.b.grad is None


def test_an_evaluation_has_no_graph_and_sees_parameters_as_they_are():
    net = Net()
    objective = objective_of(net)
    assert not objective.evaluate().value.requires_grad
    with torch.no_grad():
        net.a.zero_()
    assert objective.evaluate().value.item() == 0.0
    assert objective.differentiable().value.requires_grad


def test_gradients_are_means_over_ranks():
    _, gradient = objective_of(Net(), TwoRanks()).gradient()
    assert gradient.tolist() == [4.0, 6.0, 0.0]
    assert objective_of(Net(), TwoRanks()).mean(torch.tensor(3.0)).item() == 1.5


def test_what_a_step_decides_is_what_the_first_rank_says():
    assert objective_of(Net(), TwoRanks()).agree("no") == "yes"
    assert objective_of(Net()).agree("no") == "no"


@pytest.mark.parametrize(
    ("accepted", "communicator", "taken"),
    [
        (True, TwoRanks, False),
        (True, OneProcess, True),
        (False, OneProcess, False),
    ],
)
def test_a_step_is_accepted_by_every_rank_or_by_none(net, accepted, communicator, taken):
    """The other rank of `TwoRanks` does not accept."""

    def loss():
        return Loss(net.a.square().sum(), accept=torch.tensor(accepted))

    objective = Objective(group_of(net), loss, (), communicator())
    found, _ = objective.gradient()
    assert found.accept.dtype == torch.bool and found.accept.item() is taken
    assert objective.accepts(objective.differentiable()) is taken


def test_one_process_is_a_communicator_that_changes_nothing():
    alone = OneProcess()
    assert (alone.rank, alone.size) == (0, 1)
    assert alone.gather("x") == ["x"]
    assert alone.mean(torch.tensor(3.0)).item() == 3.0 and alone.agree("x") == "x"


# ---- the seam ------------------------------------------------------------------------------------


@pytest.fixture
def net():
    return Net()


@pytest.fixture
def optimise(net):
    made = Optimiser(OneProcess())
    made.add(group_of(net), Keeps())
    return made


def loss_of(net):
    value = net.a.sum()
    return Loss(value, distribution=net.a * 2, metrics={"m": value}, outputs={"o": net.a * 3})


def test_what_it_returns_is_detached(optimise, net):
    found = optimise("all", loss_of, net)
    assert found.value.item() == 5.0 and not found.value.requires_grad
    assert not found.distribution.requires_grad
    assert found.metrics["m"].item() == 5.0 and not found.metrics["m"].requires_grad
    assert found.outputs["o"].tolist() == [6.0, 9.0] and not found.outputs["o"].requires_grad


def test_a_metric_that_is_no_tensor_is_left_to_what_logs_it(optimise, net):
    found = optimise("all", lambda: loss_of(net)._replace(metrics={"strength": 0.5}))
    assert found.metrics == {"strength": 0.5}


def test_a_group_that_was_not_declared_is_refused_with_those_that_were(optimise, net):
    with pytest.raises(RlkError, match=r"'actor'.*\['all'\]"):
        optimise("actor", loss_of, net)


def test_a_group_that_is_declared_twice_is_refused(optimise, net):
    with pytest.raises(RlkError, match=r"group 'all' is declared twice\. Give the second"):
        optimise.add(group_of(net), Keeps())


class Algorithm:
    def __init__(self, net):
        self.net = net

    def loss(self):
        return loss_of(self.net)


def test_wrappers_compose_once_for_each_function(net):
    made = []

    def wraps(name):
        def wrapper(function):
            made.append(name)
            return lambda *args: plus_one(function(*args))

        return wrapper

    def plus_one(loss):
        return Loss(loss.value + 1)

    optimise = Optimiser(OneProcess())
    optimise.add(group_of(net), Keeps(), [wraps("inner"), wraps("outer")])
    algorithm = Algorithm(net)
    for _ in range(3):
        # A bound method is another object at every access.
        assert optimise("all", algorithm.loss).value.item() == 7.0
    assert made == ["inner", "outer"]
    optimise("all", loss_of, net)
    assert made == ["inner", "outer"] * 2


def test_a_new_function_for_every_update_is_refused_where_losses_are_wrapped(net):
    optimise = Optimiser(OneProcess())
    optimise.add(group_of(net), Keeps(), [lambda function: lambda *args: function(*args)])

    def update():
        optimise("all", lambda: loss_of(net))

    for _ in range(MOST_LOSSES):
        update()
    with pytest.raises(RlkError, match=r"optimise\('all', self\.loss, batch\), not a new function"):
        update()


@pytest.mark.parametrize("returned", [None, torch.zeros(())])
def test_an_optimiser_that_returns_no_loss_is_named(optimise, net, monkeypatch, returned):
    monkeypatch.setattr(Keeps, "step", lambda self, objective: returned)
    said = f"optimiser Keeps, of group 'all', returned {type(returned).__name__}"
    with pytest.raises(RlkError, match=said):
        optimise("all", loss_of, net)


@pytest.mark.parametrize("part", ["metrics", "outputs"])
def test_a_loss_whose_metrics_are_none_is_named(optimise, net, part):
    with pytest.raises(RlkError, match=r"loss of group 'all', or what rlk_wrap_loss .* has None"):
        optimise("all", lambda: loss_of(net)._replace(**{part: None}))


def test_nothing_can_be_added_to_the_metrics_and_outputs_that_are_a_loss_s_default():
    loss = Loss(torch.tensor(1.0))
    changes = (lambda d: d.update(a=1), lambda d: d.setdefault("a", 1), lambda d: d.__ior__({}))
    for values in (loss.metrics, loss.outputs):
        assert values == {} and {**values, "a": 1} == values | {"a": 1} == {"a": 1}
        for change in (lambda d: d.__setitem__("a", 1), *changes):
            with pytest.raises(TypeError, match=r"Give a dict of your own: loss\._replace"):
                change(values)
    assert Loss(torch.tensor(1.0)).metrics == {}


def test_wrappers_of_one_group_leave_others_alone(net):
    optimise = Optimiser(OneProcess())
    optimise.add(group_of(net), Keeps(), [lambda function: lambda *args: Loss(0.0 * net.b.sum())])
    views, memory = StandInParameters(Net()).select(None)
    optimise.add(Group("other", views, memory, torch.tensor(0.1)), Keeps())
    assert optimise("all", loss_of, net).value.item() == 0.0
    assert optimise("other", loss_of, net).value.item() == 5.0


class AddsANorm(Keeps):
    def step(self, objective):
        loss = super().step(objective)
        return loss._replace(metrics={**loss.metrics, "grad_norm": torch.tensor(4.0)})


def test_of_several_groups_what_an_optimiser_reports_has_the_groups_name(net):
    optimise = Optimiser(OneProcess())
    optimise.add(group_of(net), AddsANorm())
    assert optimise("all", loss_of, net).metrics.keys() == {"m", "grad_norm"}
    views, memory = StandInParameters(Net()).select(None)
    optimise.add(Group("other", views, memory, torch.tensor(0.1)), AddsANorm())
    assert optimise("all", loss_of, net).metrics.keys() == {"m", "grad_norm_all"}
    assert optimise("other", loss_of, net).metrics.keys() == {"m", "grad_norm_other"}


def test_states_of_all_groups_are_kept_by_name(optimise, net):
    optimise("all", loss_of, net)
    assert optimise.state_dict() == {"all": {"steps": 1}}
    optimise.load_state_dict({"all": {"steps": 9}})
    assert optimise.steps["all"].loaded == 9


def test_a_loss_without_a_graph_is_refused_with_its_group():
    objective = Objective(group_of(Net()), lambda: Loss(torch.tensor(1.0)), (), OneProcess())
    for wanted in (objective.gradient, objective.differentiable):
        with pytest.raises(RlkError, match="the loss of group 'all' has no graph"):
            wanted()
    assert objective.evaluate().value == 1.0
