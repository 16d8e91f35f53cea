"""HER with DQN: a point to a place, four goals a transition, an update of 32 every step, 64x64."""

from __future__ import annotations

from cases._reach import discrete
from cases._training import HINDSIGHT, Subject, agent_of, hindsight, is_rlk, model_of, peer
from cases.dqn import SAME, TARGET

LIBRARIES = ("rlk", "rlk+compile", "sb3")
WARM_UP, TIMED = 1_500, 5_000


def subject(library: str) -> Subject:
    if is_rlk(library):
        return agent_of(
            library,
            "her",
            model="dqn",
            env=discrete,
            target_network_update_freq=TARGET,
            double_q=False,
            dueling=False,
            policy={"layers": [64, 64]},
            **HINDSIGHT,
            **SAME,
        )
    model = peer(library, "DQN")(
        "MultiInputPolicy",
        discrete(),
        seed=0,
        target_update_interval=TARGET,
        gradient_steps=1,
        device="cpu",
        policy_kwargs={"net_arch": [64, 64]},
        **hindsight(),
        **SAME,
    )
    return model_of(model)
