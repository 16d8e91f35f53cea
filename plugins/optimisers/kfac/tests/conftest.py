"""Small networks with a likelihood that a test decides, and what moves them."""

from __future__ import annotations

import pytest
import torch

from rlk.one_process import OneProcess
from rlk.optimise import Group, Objective
from rlk.records import Loss
from rlk_kfac import KfacConfig
from rlk_kfac.step import Kfac
from rlk_testing.stand_ins import StandInParameters

#: No damping to speak of, no cold start, no momentum, no trust region: A^-1 D G^-1 by itself.
BARE = {"cold_iter": 0, "momentum": 0.0, "kfac_clip": 1e9, "epsilon": 1e-12}


class Small:
    """A network, its group, and a K-FAC step of a loss of its outputs.

    Args:
        net: from x to outputs [B, D]. value: (outputs) -> the loss, 0-dim.
        likelihood: as `rlk_on_policy.SampledLikelihood`.
    """

    def __init__(
        self, net, x, value, likelihood, communicator=None, max_grad_norm=None, rate=0.1, **settings
    ):
        self.net, self.x, self.value = net, x, value
        self.flat = StandInParameters(net)
        views, memory = self.flat.select(None)
        options = {"log_likelihood": likelihood}
        self.group = Group("all", views, memory, torch.tensor(rate), max_grad_norm, options)
        self.kfac = Kfac(self.group, KfacConfig(**{**BARE, **settings}))
        self.communicator = communicator or OneProcess()

    def loss(self):
        outputs = self.net(self.x)
        return Loss(self.value(outputs), distribution=outputs)

    def step(self):
        return self.kfac.step(Objective(self.group, self.loss, (), self.communicator))

    def moved(self):
        """By one step, the change of each parameter divided by minus the learning rate."""
        before = {name: one.detach().clone() for name, one in self.net.named_parameters()}
        self.step()
        rate = float(self.group.learning_rate)
        return {n: (before[n] - one.detach()) / rate for n, one in self.net.named_parameters()}

    def factors(self, name):
        """A and G of the layer whose weight, or else bias, has this name; of one copy."""
        number = [each for each, _ in self.net.named_parameters()].index(name)
        means = self.kfac.factors.means
        key = next(key for key in means if number == key[0] or (None, number) == key)
        return tuple(one[0] for one in means[key])


@pytest.fixture
def small_network():
    """The class above."""
    return Small


@pytest.fixture(autouse=True)
def one_thread(rlk_one_thread):
    """Every test here computes on one thread."""
