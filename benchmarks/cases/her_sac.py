"""HER with SAC: a point to a place, four goals a transition, an update of 256 every step, 256x256.

The entropy's coefficient is learnt.
"""

from __future__ import annotations

from cases._reach import continuous
from cases._training import HINDSIGHT, Subject, agent_of, hindsight, is_rlk, model_of, peer
from cases.sac import LAYERS, SAME

LIBRARIES = ("rlk", "rlk+compile", "sb3")
WARM_UP, TIMED = 400, 1_000


def subject(library: str) -> Subject:
    if is_rlk(library):
        policy = {"layers": LAYERS, "act_fun": "relu"}
        return agent_of(
            library, "her", model="sac", env=continuous, policy=policy, **HINDSIGHT, **SAME
        )
    model = peer(library, "SAC")(
        "MultiInputPolicy",
        continuous(),
        seed=0,
        device="cpu",
        policy_kwargs={"net_arch": LAYERS},
        **hindsight(),
        **SAME,
    )
    return model_of(model)
