"""The contract of a policy component: an encoder and hidden layers on flat parameters."""

from __future__ import annotations

from copy import deepcopy
from typing import Any

import gymnasium as gym
import pytest
import torch
from torch import Tensor, nn

from rlk.errors import PlanError
from rlk.running.seeding import Streams
from rlk_networks.observations import preprocess
from rlk_testing.contracts.policy.meta_device import explained, on_meta
from rlk_testing.contracts.policy.observations import observations, row
from rlk_testing.contracts.policy.recurrent import RecurrentPolicyChecks
from rlk_testing.contracts.policy.suite import SIZE
from rlk_testing.contracts.shared.applies import applies
from rlk_testing.tools.global_generators import global_generators_untouched
from rlk_testing.tools.states import same
from rlk_testing.tools.torch_threads import one_thread

#: Marks checks that do not apply to recurrent policies, whose outputs also depend on their state.
feedforward = applies(lambda suite: not suite.record().recurrent)


class PolicyContract(RecurrentPolicyChecks):
    """What every policy component must do.

    Attributes:
        observation_spaces: for the checks; empty means one for each kind that it declares.
        exports: False for a policy that torch.export cannot trace, which `rlk export` refuses.
    """

    # ---- shapes ----------------------------------------------------------------------------------

    @feedforward
    def test_heads_get_what_they_ask_for_in_every_observation_space(self) -> None:
        for space in self.tried():
            policy = self.policy(space)
            for batch in (1, 7):
                pi, vf = policy(observations(space, batch), "pi", "vf")
                assert pi.shape == (batch, 4) and vf.shape == (batch, 1), f"in {space}"
                assert pi.dtype == torch.float32 and bool(torch.isfinite(pi).all())

    @feedforward
    def test_encoder_and_trunk_say_how_many_features_they_put_out(self) -> None:
        architecture = self.made()
        for space in self.tried():
            encoder = architecture.encoder(space)
            features = encoder(preprocess(space)(observations(space, 3)))
            assert features.shape == (3, encoder.features), f"in {space}"
            trunk = architecture.trunk("pi", encoder.features)
            assert trunk(features).shape == (3, trunk.features)

    def test_a_trunk_takes_extra_inputs(self) -> None:
        trunk = self.made().trunk("qf", 6, extra=2)
        x = torch.randn(3, 8, generator=torch.Generator().manual_seed(0)).requires_grad_()
        found = trunk(x)
        assert found.shape == (3, trunk.features)
        (gradient,) = torch.autograd.grad(found.sum(), x, allow_unused=True)
        assert gradient is not None and bool(gradient[:, 6:].any()), (
            "no gradient reaches the extra inputs, which are actions: critics tell actors by it "
            "which action is better"
        )

    def test_copies_of_a_trunk_are_independent_and_computed_in_one_call(self) -> None:
        """A policy may also refuse copies with a ValueError or PlanError."""
        architecture = self.made()
        try:
            with Streams(0).globally("init"):
                trunk = architecture.trunk("qf", 6, n_copies=2)
        except (ValueError, PlanError) as error:
            pytest.skip(f"it makes no copies: {error}")
        x = torch.randn(3, 6, generator=torch.Generator().manual_seed(0))
        both = trunk(x)
        assert both.shape == (2, 3, trunk.features)
        if sum(p.numel() for p in trunk.parameters()):
            assert not torch.allclose(both[0], both[1]), "the copies are the same function"
            assert not bool((_used_by(both[0], trunk) & _used_by(both[1], trunk)).any()), (
                "both copies depend on the same parameter"
            )

    def test_the_first_copies_of_a_trunk_are_evaluated_alone_where_that_is_asked(self) -> None:
        architecture = self.made()
        try:
            trunk = architecture.trunk("qf", 6, n_copies=3)
        except (ValueError, PlanError) as error:
            pytest.skip(f"it makes no copies: {error}")
        x = torch.randn(4, 6, generator=torch.Generator().manual_seed(0))
        assert torch.equal(trunk(x, None), trunk(x)), "None is all copies"
        for n in (1, 2, 3):
            found = trunk(x, n)
            assert found.shape == (n, 4, trunk.features), f"the first {n} of 3 copies"
            assert torch.allclose(found, trunk(x)[:n], atol=1e-6), f"the first {n} of 3 copies"

    def test_the_output_of_a_heads_hidden_layers_can_be_had(self) -> None:
        """It is what the output layer of that head is computed from."""
        for space in self.tried():
            policy = self.policy(space)
            size: Any = policy.shared.features
            features = torch.randn(3, size, generator=torch.Generator().manual_seed(0))
            for name in SIZE:
                head: Any = policy.get_submodule(name)
                hidden = policy.hidden_from(features, name)
                assert torch.equal(head.out(hidden), head(features)), f"{name} in {space}"

    @feedforward
    def test_rows_of_a_batch_do_not_influence_each_other(self) -> None:
        for space in self.tried():
            policy, batch = self.policy(space).eval(), observations(space, 5)  # as it acts
            together = policy(batch, "pi", "vf")
            alone = policy(row(batch, 2), "pi", "vf")
            for name, one, other in zip(SIZE, together, alone, strict=True):
                assert torch.allclose(one[2:3], other, atol=1e-5), (
                    f"{name} in {space} is {one[2].tolist()} for row 2 of a batch, and "
                    f"{other[0].tolist()} for that row by itself: a policy that acts "
                    "normalises no batch"
                )

    @feedforward
    def test_it_computes_on_the_device_that_it_was_moved_to(self) -> None:
        """Tried with the device "meta", where tensors have no numbers."""
        for space in self.tried():
            policy = on_meta(self.policy(space))
            with explained(f"the policy in {space}"):
                found = policy(on_meta(observations(space, 3)), "pi", "vf")
            assert {part.device.type for part in found} == {"meta"}, f"in {space}"

    def dicts(self) -> list[gym.spaces.Dict]:
        """The Dict spaces of these checks."""
        return [space for space in self.tried() if isinstance(space, gym.spaces.Dict)]

    @applies(lambda suite: bool(suite.dicts()) and not suite.record().recurrent)
    def test_every_key_of_a_dict_makes_a_difference(self) -> None:
        for space in self.dicts():
            policy, batch, other = self.policy(space), *(observations(space, 8, i) for i in (0, 1))
            (before,) = policy(batch, "pi")
            for key in batch:
                (after,) = policy({**batch, key: other[key]}, "pi")
                assert not torch.allclose(after, before, atol=1e-7), (
                    f"the key {key!r} of {space} makes no difference: encode it too"
                )

    # ---- parameters ------------------------------------------------------------------------------

    def test_all_parameters_fit_one_flat_tensor(self) -> None:
        for space in self.tried():
            policy = self.policy(space)
            flat = self.made().flatten(policy)
            flat.check()
            assert flat.flat.dtype == torch.float32
            names = {name.split(".")[0] for name in flat.names}
            assert names <= {"shared", "pi", "vf"}, f"parameters are named {names}"

    @feedforward
    def test_an_observation_stays_as_it_was(self) -> None:
        """It may be the environment's own, and the storage's."""
        for space in self.tried():
            policy, batch = self.policy(space), observations(space, 3)
            kept = deepcopy(batch)
            policy(batch, "pi", "vf")
            assert same(batch, kept), (
                f"in {space} the policy writes into its observation: use no operation in place "
                "(mul_, clamp_, …) on the input of an encoder"
            )

    def test_gradients_reach_every_parameter(self) -> None:
        for space in self.tried():
            policy = self.policy(space)
            flat = self.made().flatten(policy)
            pi, vf = self.outputs(policy, space)
            loss = pi.square().mean() + vf.square().mean()
            found = torch.autograd.grad(loss, flat.select()[0], allow_unused=True)
            pairs = zip(flat.names, found, strict=True)
            idle = [name for name, one in pairs if one is None or not bool(one.any())]
            assert not idle, f"in {space} no gradient reaches {idle}"

    def test_a_copy_has_parameters_of_its_own(self) -> None:
        for space in self.tried():
            policy = self.policy(space)
            flat = self.made().flatten(policy)
            copy, kept = flat.clone(), [one.clone() for one in self.outputs(policy, space)]
            copy.check()
            given = self.outputs(copy.module, space)
            assert all(map(torch.equal, given, kept)), "a copy gives something else"
            with torch.no_grad():
                flat.flat.mul_(0.5)
            assert all(map(torch.equal, self.outputs(copy.module, space), kept)), (
                "the copy computes with the original's parameters: does it hold a function of them?"
            )

    def test_values_written_to_the_flat_tensor_are_used_at_once(self) -> None:
        for space in self.tried():
            policy = self.policy(space)
            flat = self.made().flatten(policy)
            before = self.outputs(policy, space)[1].clone()
            with torch.no_grad():
                flat.flat.mul_(0.5)
            assert not torch.allclose(self.outputs(policy, space)[1], before), f"in {space}"

    def test_the_same_stream_gives_the_same_initial_parameters(self) -> None:
        space = self.tried()[0]
        one, two, other = (self.made().flatten(self.policy(space, seed)).flat for seed in (1, 1, 2))
        assert one.equal(two) and not one.equal(other)

    def test_it_draws_from_no_generator_but_the_one_that_is_set_for_it(self) -> None:
        space = self.tried()[0]
        self.policy(space)
        with global_generators_untouched():
            self.policy(space)

    # ---- export ----------------------------------------------------------------------------------

    @applies(lambda suite: suite.exports)
    def test_rlk_export_can_write_it_as_a_program_for_any_batch(self) -> None:
        program_of = pytest.importorskip("rlk_export.program", reason="rlk-export is not installed")
        tracing = pytest.importorskip("rlk_export.tracing")
        kind = program_of.ActsAndRemembers if self.record().recurrent else program_of.Acts
        for space in self.tried():
            with one_thread(), torch.no_grad():
                copy = program_of.acting_copy(self.policy(space))
                module = kind(copy, "pi", lambda found: found)
                size = getattr(module, "state_size", None)
                example = tracing.example_of(space, size)
                program = tracing.traced(module, example, f"the policy in {space}").module()
                for rows in (1, 5):
                    given = tracing.example_of(space, size, rows)
                    for name, expected in module(*given).items():
                        assert torch.allclose(program(*given)[name], expected, atol=1e-5), (
                            f"in {space} the program gives another {name} for {rows} observations"
                        )


def _used_by(output: Tensor, trunk: nn.Module) -> Tensor:
    """Which of a trunk's numbers an output depends on, bool [P]: its gradient by them is not 0."""
    gradients = torch.autograd.grad(
        output.sum(),
        list(trunk.parameters()),
        retain_graph=True,
        allow_unused=True,
        materialize_grads=True,
    )
    return torch.cat([gradient.flatten() != 0 for gradient in gradients])
