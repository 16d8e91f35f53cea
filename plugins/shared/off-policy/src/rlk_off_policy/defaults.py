"""The default components of every off-policy algorithm of this repository.

An algorithm's `Component.defaults` begins with one of these records. Imports no torch.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

#: Two layers of 64 with ReLU and Xavier's uniform weights for every head, as in Stable Baselines.
OFF_POLICY: Mapping[str, Any] = {
    "policy": "mlp",
    "policy.act_fun": "relu",
    "policy.init": "xavier",
    "vec_env": "dummy",
    "storage": "replay",
    "collector": "steps",
    "optimiser": "adam",
    "serializer": "zip",
}
#: Likewise for continuous actions. Heads have these layers after a CNN too.
CONTINUOUS: Mapping[str, Any] = {
    **OFF_POLICY,
    "env": "Pendulum-v1",
    "log_interval": 4,
    "policy.layers": [64, 64],
}
#: Settings for `gsde` if it is chosen, as in Stable-Baselines3's SAC.
SQUASHED_GSDE: Mapping[str, Any] = {
    "distribution.squash_output": True,
    "distribution.learn_features": True,
    "distribution.log_std_init": -3.0,
    "distribution.clip_mean": 2.0,
}
#: Likewise for stochastic policies of continuous actions, which are squashed into -1 to 1.
STOCHASTIC: Mapping[str, Any] = {
    **CONTINUOUS,
    "distribution": {"Box": "squashed-gaussian"},
    **SQUASHED_GSDE,
}
