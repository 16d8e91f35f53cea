"""The extractor of features from images that policies have unless told otherwise."""

from __future__ import annotations

from typing import Any

from rlk_cnn.config import CnnConfig
from rlk_cnn.network import Cnn


def nature_cnn(observation_space: Any, **settings: Any) -> Any:
    """The CNN of Mnih et al. 2015 as a torch module.

    Args:
        observation_space: of images. (Stable Baselines' function takes TensorFlow's tensor.)
        settings: `features`, `channels`.
    """
    return Cnn(CnnConfig(**settings)).cnn(observation_space)
