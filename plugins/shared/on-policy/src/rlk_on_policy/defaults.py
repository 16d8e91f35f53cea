"""The default components of every on-policy algorithm of this repository.

An algorithm's `Component.defaults` begins with this record. Imports no torch.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

#: The distribution of actions for each action space.
DISTRIBUTIONS: Mapping[str, str] = {
    "Discrete": "categorical",
    "Box": "diag-gaussian",
    "MultiDiscrete": "multi-categorical",
    "MultiBinary": "bernoulli",
}
ON_POLICY: Mapping[str, Any] = {
    "env": "CartPole-v1",
    "policy": "mlp",
    "distribution": DISTRIBUTIONS,
    "vec_env": "dummy",
    "storage": "rollout",
    "collector": "steps",
    "optimiser": "adam",
    "serializer": "zip",
}
