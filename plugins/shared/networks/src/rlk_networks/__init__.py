"""Networks of policies: what policy components, distributions and the heads of algorithms share."""

from rlk_networks.architecture import Architecture, Heads, Trunk, policy_head
from rlk_networks.custom_encoder import custom_encoder
from rlk_networks.distribution import (
    FORBIDDEN,
    Distribution,
    Maskable,
    Reparameterised,
    own_action,
)
from rlk_networks.flattened import Flattened
from rlk_networks.layers import (
    FeatureSlice,
    Head,
    HiddenLayers,
    InitialisesUniformly,
    Linear,
    fill_uniform,
    own_modules,
    weight_and_bias,
)
from rlk_networks.observations import as_tensor, flat_size, preprocess
from rlk_networks.optimiser_state import load_optimiser_state, optimiser_state
from rlk_networks.packed_parts import CUTS_SEQUENCES, unroll
from rlk_networks.policy import Policy
from rlk_networks.probabilities import HasProbabilities

__all__ = [
    "CUTS_SEQUENCES",
    "FORBIDDEN",
    "Architecture",
    "Distribution",
    "FeatureSlice",
    "Flattened",
    "HasProbabilities",
    "Head",
    "Heads",
    "HiddenLayers",
    "InitialisesUniformly",
    "Linear",
    "Maskable",
    "Policy",
    "Reparameterised",
    "Trunk",
    "as_tensor",
    "custom_encoder",
    "fill_uniform",
    "flat_size",
    "load_optimiser_state",
    "optimiser_state",
    "own_action",
    "own_modules",
    "policy_head",
    "preprocess",
    "unroll",
    "weight_and_bias",
]
