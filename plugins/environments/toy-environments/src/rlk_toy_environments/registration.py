"""Registers the ids of these environments with Gymnasium when this module is imported."""

from __future__ import annotations

import gymnasium as gym

MASKED = "rlk_toy_environments.masked_identity:MaskedIdentityEnv"
#: id -> class.
IDS = {
    "rlk/BitFlipping-v0": "rlk_toy_environments.bit_flipping:BitFlippingEnv",
    "rlk/Identity-v0": "rlk_toy_environments.identity:IdentityEnv",
    "rlk/IdentityBox-v0": "rlk_toy_environments.identity:IdentityEnvBox",
    "rlk/IdentityMultiDiscrete-v0": "rlk_toy_environments.identity:IdentityEnvMultiDiscrete",
    "rlk/IdentityMultiBinary-v0": "rlk_toy_environments.identity:IdentityEnvMultiBinary",
    "rlk/Doors-v0": "rlk_toy_environments.doors:DoorsEnv",
    "rlk/MaskedIdentity-v0": f"{MASKED}",
    "rlk/MaskedIdentityMultiDiscrete-v0": f"{MASKED}MultiDiscrete",
    "rlk/MaskedIdentityMultiBinary-v0": f"{MASKED}MultiBinary",
}

for _id, _entry_point in IDS.items():
    gym.register(_id, entry_point=_entry_point)
