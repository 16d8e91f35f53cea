"""As `recurrent-ppo`, with an LSTM of its own for the value in both: the default of sb3-contrib."""

from __future__ import annotations

from cases import recurrent_ppo, recurrent_ppo2
from cases._training import Subject, is_rlk

LIBRARIES = ("rlk", "sb3")
WARM_UP, TIMED = recurrent_ppo2.WARM_UP, recurrent_ppo2.TIMED


def subject(library: str) -> Subject:
    if is_rlk(library):
        return recurrent_ppo.agent(library, value_lstm="own")
    return recurrent_ppo2.recurrent_peer(library)
