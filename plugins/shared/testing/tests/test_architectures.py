"""The contract of policies fails where the encoder or the layers of an architecture are broken."""

from __future__ import annotations

import attrs
import numpy as np
import pytest
import torch

from rlk.component import Component
from rlk_networks import Policy, flat_size
from rlk_testing import PolicyContract
from rlk_testing.stand_ins import NoLayers


class Hidden(NoLayers):
    """Good: one hidden layer for each head."""

    def trunk(self, role, features, *, extra=0, n_copies=1):
        if n_copies > 1:
            return super().trunk(role, features, extra=extra, n_copies=n_copies)
        return HiddenLayer(features + extra)


class HiddenLayer(torch.nn.Module):
    def __init__(self, inputs, size=4):
        super().__init__()
        self.layer, self.features = torch.nn.Linear(inputs, size), size

    def forward(self, x):
        return torch.tanh(self.layer(x))


def hidden(layer: type) -> type:
    class Made(Hidden):
        def trunk(self, role, features, *, extra=0, n_copies=1):
            return layer(features + extra)

    Made.__name__ = layer.__name__
    return Made


class LiesAboutFeatures(HiddenLayer):
    def __init__(self, inputs):
        super().__init__(inputs)
        self.layer = torch.nn.Linear(inputs, 7)


class HasAnIdleLayer(HiddenLayer):
    def __init__(self, inputs):
        super().__init__(inputs)
        self.idle = torch.nn.Linear(2, 2)


class CountsRows(HiddenLayer):
    def forward(self, x):
        return super().forward(x).view(len(x), 2, 2).flatten(1)


class NormalisesTheBatch(HiddenLayer):
    def forward(self, x):
        found = super().forward(x)
        return found - found.mean(0)


class IsBoundToTheOriginal(HiddenLayer):
    def __init__(self, inputs):
        super().__init__(inputs)
        self.call = lambda x: torch.tanh(self.layer(x))

    def forward(self, x):
        return self.call(x)


class SeedsItself(HiddenLayer):
    def __init__(self, inputs):
        torch.manual_seed(0)
        super().__init__(inputs)


class DrawsFromNumpy(HiddenLayer):
    def __init__(self, inputs):
        super().__init__(inputs)
        with torch.no_grad():
            self.layer.bias.fill_(float(np.random.random()))


class NormalisesValues(Hidden):
    def trunk(self, role, features, *, extra=0, n_copies=1):
        if role == "vf":
            return NormalisesTheBatch(features + extra)
        return super().trunk(role, features, extra=extra, n_copies=n_copies)


class HasAConstantOnTheCpu(HiddenLayer):
    def __init__(self, inputs):
        super().__init__(inputs)
        self.scale = torch.full((4,), 0.5)

    def forward(self, x):
        return super().forward(x) * self.scale


class MovesItsConstantAlong(HiddenLayer):
    def __init__(self, inputs):
        super().__init__(inputs)
        self.register_buffer("scale", torch.full((4,), 0.5))

    def forward(self, x):
        return super().forward(x) * self.scale


class ScalesItsInput(HiddenLayer):
    def forward(self, x):
        return super().forward(x.mul_(0.5))


class TakesInputsAsTheyAre(HiddenLayer):
    """No gradient goes through it, to an action, for example."""

    def forward(self, x):
        return super().forward(x.detach())


class EvaluatesAllCopies(torch.nn.Module):
    def __init__(self, inputs):
        super().__init__()
        self.features, self.scale = inputs, torch.nn.Parameter(torch.randn(3, 1, 1))

    def forward(self, x, n_copies=None):
        return x * self.scale


class MixesCopies(torch.nn.Module):
    """Its first copy is the sum of two layers, of which the second copy is one."""

    def __init__(self, inputs):
        super().__init__()
        self.features = 4
        self.layers = torch.nn.ModuleList([torch.nn.Linear(inputs, 4) for _ in range(2)])

    def forward(self, x, n_copies=None):
        one, two = (layer(x) for layer in self.layers)
        return torch.stack([one + two, two])[:n_copies]


class HidesItsLayers(Hidden):
    """Its heads are inside modules that do not give the output of their hidden layers."""

    def build(self, observation_space, heads):
        made = super().build(observation_space, heads)
        wrapped = {name: torch.nn.Sequential(getattr(made, name)) for name in heads}
        return Policy(observation_space, made.shared, wrapped)


class EncodesKeys(Hidden):
    """Good: it encodes all keys of a Dict."""

    def encoder(self, observation_space):
        return Keys(observation_space, list(observation_space.spaces))


class EncodesOneKey(Hidden):
    def encoder(self, observation_space):
        return Keys(observation_space, ["place"])


class Keys(torch.nn.Module):
    def __init__(self, space, keys):
        super().__init__()
        self.keys, self.features = keys, sum(flat_size(space[key]) for key in keys)

    def forward(self, x):
        return torch.cat([x[key].flatten(1) for key in self.keys], 1)


class LayersByKey(torch.nn.Module):
    """Good: one layer for each key, under a name that may have no dot."""

    def __init__(self, space):
        super().__init__()
        self.layers = torch.nn.ModuleDict(
            {self.name(key): torch.nn.Linear(flat_size(part), 2) for key, part in space.items()}
        )
        self.keys, self.features = list(space), 2 * len(space)

    def name(self, key):
        return key.replace(".", "_")

    def forward(self, x):
        return torch.cat([self.layers[self.name(key)](x[key]) for key in self.keys], 1)


class LayersByKeyAsItIs(LayersByKey):
    def name(self, key):
        return key


def encoding(encoder: type) -> type:
    class Made(Hidden):
        def encoder(self, observation_space):
            return encoder(observation_space)

    return Made


POLICY = Component(name="hidden", factory=Hidden, summary="one layer for each head")
COPIES = "test_copies_of_a_trunk_are_independent_and_computed_in_one_call"


@pytest.mark.parametrize(
    ("layer", "check"),
    [
        (LiesAboutFeatures, "test_encoder_and_trunk_say_how_many_features_they_put_out"),
        (HasAnIdleLayer, "test_gradients_reach_every_parameter"),
        (NormalisesTheBatch, "test_rows_of_a_batch_do_not_influence_each_other"),
        (IsBoundToTheOriginal, "test_a_copy_has_parameters_of_its_own"),
        (SeedsItself, "test_the_same_stream_gives_the_same_initial_parameters"),
        (DrawsFromNumpy, "test_it_draws_from_no_generator_but_the_one_that_is_set_for_it"),
        (CountsRows, "test_rlk_export_can_write_it_as_a_program_for_any_batch"),
        (HasAConstantOnTheCpu, "test_it_computes_on_the_device_that_it_was_moved_to"),
        (ScalesItsInput, "test_an_observation_stays_as_it_was"),
        (TakesInputsAsTheyAre, "test_a_trunk_takes_extra_inputs"),
        (HiddenLayer, COPIES),
        (MixesCopies, COPIES),
        (
            EvaluatesAllCopies,
            "test_the_first_copies_of_a_trunk_are_evaluated_alone_where_that_is_asked",
        ),
    ],
    ids=lambda value: getattr(value, "__name__", None),
)
def test_a_broken_policy_fails(rlk_fails, layer, check):
    broken = attrs.evolve(POLICY, factory=hidden(layer))
    error = "RlkError: torch.export cannot trace the policy" if layer is CountsRows else ""
    rlk_fails(PolicyContract, POLICY, broken, check, error)


class NormalisesWhileItLearns(HiddenLayer):
    def __init__(self, inputs):
        super().__init__(inputs)
        self.norm = torch.nn.BatchNorm1d(self.features)

    def forward(self, x):
        return self.norm(super().forward(x))


def test_a_policy_may_normalise_the_batches_that_it_learns_from(rlk_verdict):
    component = attrs.evolve(POLICY, factory=hidden(NormalisesWhileItLearns))
    suite = type("Suite", (PolicyContract,), {"component": component})
    assert rlk_verdict(suite, "test_rows_of_a_batch_do_not_influence_each_other") == "passed"


def test_a_policy_whose_values_depend_on_the_batch_fails(rlk_fails):
    broken = attrs.evolve(POLICY, factory=NormalisesValues)
    rlk_fails(PolicyContract, POLICY, broken, "test_rows_of_a_batch_do_not_influence_each_other")


def test_a_constant_may_be_a_buffer(rlk_verdict):
    good = attrs.evolve(POLICY, factory=hidden(MovesItsConstantAlong))
    suite = type("Suite", (PolicyContract,), {"component": good})
    check = "test_it_computes_on_the_device_that_it_was_moved_to"
    assert rlk_verdict(suite, check) == "passed"


def test_a_policy_whose_hidden_layers_cannot_be_reached_fails(rlk_fails):
    broken = attrs.evolve(POLICY, factory=HidesItsLayers)
    check = "test_the_output_of_a_heads_hidden_layers_can_be_had"
    error = "RlkError: a head of the policy is a Sequential"
    rlk_fails(PolicyContract, POLICY, broken, check, error)


def test_the_failure_names_what_torch_cannot_trace(rlk_verdict):
    broken = attrs.evolve(POLICY, factory=hidden(CountsRows))
    check = "test_rlk_export_can_write_it_as_a_program_for_any_batch"
    suite = type("Suite", (PolicyContract,), {"component": broken})
    assert "x.shape[0], not len(x)" in rlk_verdict(suite, check)
    refuses = type("Suite", (PolicyContract,), {"component": broken, "exports": False})
    assert rlk_verdict(refuses, check) == "does not apply"


def test_a_policy_may_refuse_copies_and_the_suite_says_so(rlk_verdict):
    class RefusesCopies(Hidden):
        def trunk(self, role, features, *, extra=0, n_copies=1):
            if n_copies > 1:
                raise ValueError("one is enough")
            return super().trunk(role, features, extra=extra)

    refuses = attrs.evolve(POLICY, factory=RefusesCopies)
    suite = type("Suite", (PolicyContract,), {"component": refuses})
    assert rlk_verdict(suite, COPIES) == "skipped"


def test_a_policy_that_ignores_a_key_fails(rlk_fails):
    good = attrs.evolve(POLICY, factory=EncodesKeys, observation_spaces=("Dict",))
    broken = attrs.evolve(good, factory=EncodesOneKey)
    rlk_fails(PolicyContract, good, broken, "test_every_key_of_a_dict_makes_a_difference")


def test_a_policy_that_names_modules_after_keys_of_nested_dicts_fails(rlk_fails):
    good = attrs.evolve(POLICY, factory=encoding(LayersByKey), observation_spaces=("Dict",))
    broken = attrs.evolve(good, factory=encoding(LayersByKeyAsItIs))
    check = "test_heads_get_what_they_ask_for_in_every_observation_space"
    rlk_fails(PolicyContract, good, broken, check, "KeyError: 'module name can")
