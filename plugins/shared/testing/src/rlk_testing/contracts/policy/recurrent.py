"""The part of the contract of policies that is about recurrent state.

The encoder of a component with `recurrent=True` has a `state_size` S besides its `features` F. The
state is an argument and a result. It is zero at first and is reset to zero where an episode starts:

    encoder.step(x [N, ...], state [N, S], episode_start bool [N]) -> [N, F], state [N, S]
    encoder(x [T * N, ...], state [N, S], episode_start bool [T, N]) -> [T * N, F], time first
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import gymnasium as gym
import torch
from torch import Tensor

from rlk.spaces import map_observation
from rlk_networks.observations import preprocess
from rlk_testing.contracts.policy.meta_device import explained, on_meta
from rlk_testing.contracts.policy.observations import observations
from rlk_testing.contracts.policy.suite import SIZE, PolicySuite
from rlk_testing.contracts.shared.applies import applies
from rlk_testing.tools.torch_threads import one_thread

T, N = 9, 4
recurrent = applies(lambda suite: suite.record().recurrent)


def patterns() -> Iterator[Tensor]:
    """Where episodes start, bool [T, N]: nowhere, everywhere, at one end, at random."""
    nowhere = torch.zeros(T, N, dtype=torch.bool)
    yield nowhere
    yield ~nowhere
    for t in (0, T - 1):
        one = nowhere.clone()
        one[t] = True
        yield one
    generator = torch.Generator().manual_seed(0)
    for chance in (0.1, 0.3, 0.6):
        yield torch.rand(T, N, generator=generator) < chance


class RecurrentPolicyChecks(PolicySuite):
    """Checks that `PolicyContract` inherits, for components with `recurrent=True`."""

    def encoders(self) -> Iterator[tuple[Any, Any, gym.Space[Any]]]:
        """(encoder, policy, observation space) for every space."""
        for space in self.tried():
            policy = self.policy(space)
            with one_thread():
                yield policy.shared, policy, space

    def outputs(self, policy: Any, space: gym.Space[Any]) -> list[Tensor]:
        """Those of both heads; of a recurrent policy in the middle of episodes."""
        if not self.record().recurrent:
            return list(policy(observations(space, 16 * N), *SIZE))
        encoder, starts = policy.get_submodule("shared"), torch.zeros(16, N, dtype=torch.bool)
        with one_thread():
            features = encoder(inputs(policy, space, 16 * N), random_state(encoder, N), starts)
        return [policy.get_submodule(name)(features) for name in SIZE]

    def test_only_what_says_that_it_is_recurrent_has_a_state(self) -> None:
        for space in self.tried():
            has = hasattr(self.policy(space).shared, "state_size")
            assert has == self.record().recurrent, (
                f"Component(recurrent={self.record().recurrent}), but its encoder "
                f"{'has' if has else 'lacks'} a state_size"
            )

    @recurrent
    def test_its_state_goes_in_and_out_for_any_number_of_environments(self) -> None:
        for encoder, policy, space in self.encoders():
            for n in (1, 2, 7):
                state, start = torch.zeros(n, encoder.state_size), torch.ones(n, dtype=torch.bool)
                for t in range(2):
                    features, state = encoder.step(inputs(policy, space, n, t), state, start)
                    assert features.shape == (n, encoder.features), f"in {space}"
                    assert state.shape == (n, encoder.state_size), f"in {space}"
                    assert state.dtype == torch.float32 and bool(torch.isfinite(state).all())

    @recurrent
    def test_sequences_in_one_call_are_what_step_by_step_gives(self) -> None:
        for encoder, policy, space in self.encoders():
            x, state = inputs(policy, space, T * N), random_state(encoder, N)
            for starts in patterns():
                expected = step_by_step(encoder, x, state, starts)
                found = encoder(x, state, starts)
                assert found.shape == (T * N, encoder.features)
                assert torch.allclose(found, expected, atol=1e-5), (
                    f"in {space}, with episodes that start at {starts.nonzero().tolist()}"
                )

    @recurrent
    def test_sequences_in_one_call_have_the_gradients_of_step_by_step(self) -> None:
        for encoder, policy, space in self.encoders():
            x, state = inputs(policy, space, T * N), random_state(encoder, N)
            weight = torch.randn(
                T * N, encoder.features, generator=torch.Generator().manual_seed(1)
            )
            parameters = list(encoder.parameters())
            for starts in patterns():
                both = [
                    torch.autograd.grad((output * weight).sum(), parameters)
                    for output in (
                        encoder(x, state, starts), step_by_step(encoder, x, state, starts)
                    )
                ]  # fmt: skip
                for one, other in zip(*both, strict=True):
                    limit = 1e-4 * float(other.abs().max()) + 1e-5
                    assert float((one - other).abs().max()) <= limit, f"in {space}"

    @recurrent
    def test_where_an_episode_starts_the_state_is_forgotten(self) -> None:
        for encoder, policy, space in self.encoders():
            x, state = inputs(policy, space, N), random_state(encoder, N)
            start = torch.tensor([True, False, True, False])
            features, after = encoder.step(x, state, start)
            fresh, fresh_after = encoder.step(x, torch.zeros_like(state), start)
            for one, other in ((features, fresh), (after, fresh_after)):
                assert torch.allclose(one[start], other[start], atol=1e-6), "it is remembered"
                assert not torch.allclose(one[~start], other[~start]), (
                    "the state makes no difference where no episode starts"
                )

    @recurrent
    def test_environments_do_not_see_each_others_state(self) -> None:
        for encoder, policy, space in self.encoders():
            x, state = inputs(policy, space, T * N), random_state(encoder, N)
            for starts in patterns():
                alone = encoder(rows_of(x, slice(2, None, N)), state[2:3], starts[:, 2:3])
                together = encoder(x, state, starts)[2::N]
                assert torch.allclose(alone, together, atol=1e-5), f"in {space}"

    @recurrent
    def test_what_it_is_given_stays_as_it_was(self) -> None:
        for encoder, policy, space in self.encoders():
            x, state = inputs(policy, space, T * N), random_state(encoder, N)
            for starts in patterns():
                given = [*(x.values() if isinstance(x, dict) else [x]), state, starts]
                kept = [part.clone() for part in given]
                encoder(x, state, starts)
                encoder.step(rows_of(x, slice(N)), state, starts[0])
                assert all(torch.equal(a, b) for a, b in zip(given, kept, strict=True))

    @recurrent
    def test_a_step_is_computed_on_the_device_that_it_was_moved_to(self) -> None:
        """Tried with the device "meta", where tensors have no numbers."""
        for encoder, policy, space in self.encoders():
            x, state = inputs(policy, space, N), random_state(encoder, N)
            given = map(on_meta, (x, state, torch.ones(N, dtype=torch.bool)))
            with explained(f"a step of the policy in {space}"):
                found = on_meta(encoder).step(*given)
            assert {part.device.type for part in found} == {"meta"}, f"in {space}"


def inputs(policy: Any, space: gym.Space[Any], rows: int, seed: int = 0) -> Any:
    """Preprocessed random observations [rows, ...], as the encoder takes them."""
    return preprocess(space)(observations(space, rows, seed))


def rows_of(x: Any, chosen: slice) -> Any:
    """Some rows of the inputs, of each part if they are a dict."""
    return map_observation(lambda part: part[chosen], x)


def random_state(encoder: Any, n: int) -> Tensor:
    """A random recurrent state, float [n, S]."""
    generator = torch.Generator().manual_seed(3)
    return 0.5 * torch.randn(n, encoder.state_size, generator=generator)


def step_by_step(encoder: Any, x: Any, state: Tensor, starts: Tensor) -> Tensor:
    """Features [T * N, F], computed with one call of `encoder.step` per time step."""
    found, n = [], starts.shape[1]
    for t, start in enumerate(starts):
        at_once = slice(t * n, (t + 1) * n)
        features, state = encoder.step(rows_of(x, at_once), state, start)
        found.append(features)
    return torch.cat(found)
