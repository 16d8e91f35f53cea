"""The contract suite of policies, and what tests of networks need.

from rlk_networks.testing import PolicyContract

class TestMlp(PolicyContract):
component = "mlp"
"""

import pytest

# Failing checks then show values, wherever the package is installed.
pytest.register_assert_rewrite("rlk_networks.testing.policy", "rlk_networks.testing.recurrent")

from rlk_networks.testing.no_layers import NoLayers  # noqa: E402
from rlk_networks.testing.policy import PolicyContract  # noqa: E402
from rlk_networks.testing.samples import BY_NAME, observations  # noqa: E402

__all__ = ["BY_NAME", "NoLayers", "PolicyContract", "observations"]
