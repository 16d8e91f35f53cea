from __future__ import annotations

import gymnasium as gym
import numpy as np
import pytest
import torch
from torch import nn

from rlk.errors import PlanError
from rlk_networks import custom_encoder

BOX = gym.spaces.Box(-1.0, 1.0, (3,), np.float32)
DICT = gym.spaces.Dict({"a": BOX, "b": gym.spaces.Discrete(2, start=5)})


class Joined(nn.Module):
    def forward(self, observation):
        return torch.cat([observation["a"], observation["b"]], 1)


class Says(nn.Module):
    def __init__(self, space):
        super().__init__()
        self.features = 9

    def forward(self, x):
        return x


class ReadOnly(nn.Module):
    said = 5

    def __init__(self, space):
        super().__init__()
        self.layer = nn.Linear(3, 5)

    @property
    def features(self):
        return self.said

    def forward(self, x):
        return self.layer(x)


class SaysFive(nn.Linear):
    features = 5


class SaysMore(ReadOnly):
    said = 6


class HasAPart(nn.Module):
    """The convolutions of torchvision's VGG and AlexNet are called `features`."""

    def __init__(self, space):
        super().__init__()
        self.features = nn.Sequential(nn.Linear(3, 4), nn.ReLU())
        self.classifier = nn.Linear(4, 5)

    def forward(self, x):
        return self.classifier(self.features(x))


class OneForAll(nn.Module):
    """Returns one row for the whole batch."""

    def forward(self, x):
        return x.mean(0, keepdim=True)


class Recalls(nn.Module):
    """Begins with what it was given first."""

    first = None

    def forward(self, x):
        self.first = x if self.first is None else self.first
        return x


class SaysNothing(ReadOnly):
    said = None


@pytest.mark.parametrize(
    ("asked", "space", "features"),
    [
        (nn.Linear(3, 5), BOX, 5),
        (lambda space: nn.Linear(space.shape[0], 4), BOX, 4),
        (nn.Flatten(), gym.spaces.Box(0, 255, (4, 5, 3), np.uint8), 60),
        (nn.Identity(), gym.spaces.Discrete(7), 7),
        (Joined(), DICT, 5),
        (ReadOnly, BOX, 5),
        (SaysNothing, BOX, 5),
        (HasAPart, BOX, 5),
    ],
)
def test_the_size_of_its_output_is_found_by_trying_it(asked, space, features):
    assert custom_encoder(asked, space).features == features


def test_what_a_module_itself_calls_features_stays_its_own():
    made = custom_encoder(HasAPart, BOX)
    inside = made.get_submodule("module")
    assert isinstance(inside.features, nn.Sequential)
    x = torch.ones(2, 3)
    assert made(x).equal(inside(x)) and len(list(made.parameters())) == 4


@pytest.mark.parametrize("asked", [ReadOnly, SaysFive(3, 5), nn.Linear(3, 5)])
def test_a_module_that_says_the_right_number_or_none_is_used_as_it_is(asked):
    kind = asked if isinstance(asked, type) else type(asked)
    assert type(custom_encoder(asked, BOX)) is kind


def test_a_module_is_copied_and_a_class_is_made_for_the_space():
    module = nn.Linear(3, 5)
    assert custom_encoder(module, BOX) is not module
    assert torch.equal(custom_encoder(module, BOX).weight, module.weight)


def test_trying_it_draws_nothing_from_the_space():
    space = gym.spaces.Box(-1.0, 1.0, (3,), np.float32, seed=4)
    custom_encoder(nn.Linear(3, 5), space)
    assert np.array_equal(space.sample(), gym.spaces.Box(-1.0, 1.0, (3,), np.float32, 4).sample())


@pytest.mark.parametrize(
    ("asked", "message"),
    [
        (lambda images: images * 2, "failed: TypeError.* called with the observation space, not"),
        (lambda space: 3, "is to be a torch.nn.Module, or to make one.*it made int"),
        (nn.Linear(4, 5), r"the encoder Linear does not take observations Box\(\(3,\), float32\)"),
        (nn.Unflatten(1, (1, 3)), r"is to give features \[B, F\], and gives \[2, 1, 3\]"),
        (OneForAll(), r"is to give features \[B, F\], and gives \[1, 3\]"),
        (Says, "says features=9, and gives 3"),
        (SaysMore, "says features=6, and gives 5"),
    ],
)
def test_what_is_no_encoder_of_these_observations_is_refused(asked, message):
    with pytest.raises(PlanError, match=message):
        custom_encoder(asked, BOX)


def test_the_trial_teaches_batch_normalisation_nothing():
    made = custom_encoder(nn.BatchNorm1d(3), BOX)
    assert made.num_batches_tracked == 0 and made.training


def test_a_module_that_is_not_in_training_stays_so():
    assert not custom_encoder(nn.BatchNorm1d(3).eval(), BOX).training


def test_it_is_tried_with_the_same_observations_in_every_process():
    one, other = (custom_encoder(lambda space: Recalls(), BOX) for _ in range(2))
    assert one.first.equal(other.first)
