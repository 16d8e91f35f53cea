"""Networks of policies: what their components and the heads of algorithms agree on."""

from rlk_networks.architecture import Architecture, Heads, Trunk
from rlk_networks.distribution import Distribution
from rlk_networks.grouped import grouped_product, grouping
from rlk_networks.layers import Head, Linear
from rlk_networks.numpy_twin import NumpyForward, as_float32, chain, twin
from rlk_networks.observations import as_array, as_tensor, flat_size, preprocess
from rlk_networks.policy import Policy

__all__ = [
    "Architecture",
    "Distribution",
    "Head",
    "Heads",
    "Linear",
    "NumpyForward",
    "Policy",
    "Trunk",
    "as_array",
    "as_float32",
    "as_tensor",
    "chain",
    "flat_size",
    "grouped_product",
    "grouping",
    "preprocess",
    "twin",
]
