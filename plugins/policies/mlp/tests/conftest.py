"""The stack of layers that several tests look at."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from rlk_mlp.layers import Layers


@pytest.fixture
def layers() -> Callable[..., Layers]:
    """Makes layers of these sizes, with settings as keywords, from one seed."""
    import torch

    from rlk_mlp.config import MlpConfig
    from rlk_mlp.layers import Layers

    def made(inputs: int, sizes: list[int], **settings: Any) -> Layers:
        torch.manual_seed(0)
        return Layers(inputs, sizes, MlpConfig(**settings))

    return made
