"""PPO with an LSTM of 256 against RecurrentPPO: 8 CartPoles, 128 steps, 10 epochs, minibatches of
128, 64x64 tanh for each head. `sb3` as it comes, with a second LSTM for the value; `sb3-shared`
with one for both, as rlk has it.
"""

from __future__ import annotations

from typing import Any

from cases import recurrent_ppo2 as same
from cases._training import Subject, agent_of, is_rlk

LIBRARIES = same.LIBRARIES
WARM_UP, TIMED = same.WARM_UP, same.TIMED


def subject(library: str) -> Subject:
    if is_rlk(library):
        return agent(library)
    return same.recurrent_peer(library)


def agent(library: str, **lstm: Any) -> Subject:
    """PPO with these settings of the LSTM besides."""
    heads = {"pi": [64, 64], "vf": [64, 64]}
    return agent_of(
        library,
        "ppo",
        env=same.ENV,
        n_envs=same.N_ENVS,
        n_steps=same.N_STEPS,
        n_epochs=same.EPOCHS,
        batch_size=same.MINIBATCH,
        learning_rate=same.RATE,
        policy="lstm",
        lstm={"n_lstm": same.UNITS, "net_arch": ["lstm", heads], **lstm},
    )
