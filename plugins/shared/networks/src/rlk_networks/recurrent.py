"""What a recurrent policy has in place of a plain encoder.

Shapes: T steps, N environments, F features, S numbers of state per environment.
"""

from __future__ import annotations

from typing import Protocol

from torch import Tensor

from rlk_networks.policy import Policy


class RecurrentEncoder(Protocol):
    """The encoder of a recurrent policy (`policy.shared`): state goes in and out, zeros at first.

    Both calls reset the state of an environment to zeros where its episode starts. The contract
    suite of policies (`rlk_testing.PolicyContract`) checks this for each component that declares
    `recurrent=True`.
    """

    features: int
    state_size: int

    def step(self, x: Tensor, state: Tensor, episode_start: Tensor) -> tuple[Tensor, Tensor]:
        """([N, F], state [N, S]) of one step: x [N, ...], state [N, S], bool [N]."""
        ...

    def __call__(self, x: Tensor, state: Tensor, episode_start: Tensor) -> Tensor:
        """[T * N, F] of sequences, time first: x [T * N, ...], state [N, S] before, bool [T, N]."""
        ...


def encoder_of(policy: Policy) -> RecurrentEncoder:
    """The encoder of a recurrent policy."""
    return policy.shared  # type: ignore[return-value]


def is_recurrent(policy: Policy) -> bool:
    """Whether the outputs of this policy depend on earlier observations."""
    return hasattr(policy.shared, "state_size")
