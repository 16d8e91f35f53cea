"""`nature_cnn`: the default feature extractor of policies for images."""

from __future__ import annotations

from typing import Any

from rlk_cnn.config import CnnConfig
from rlk_cnn.network import Cnn


def nature_cnn(observation_space: Any, **settings: Any) -> Any:
    """The CNN of Mnih et al. 2015, doi:10.1038/nature14236, as a torch module.

    Args:
        observation_space: a space of images. (In Stable Baselines, a TensorFlow tensor.)
        settings: `features` and `channels`, as in `CnnConfig`.
    """
    return Cnn(CnnConfig(**settings)).cnn(observation_space)
