"""The policies that Stable Baselines documents, as classes; each stands for a name of rlk's."""

from __future__ import annotations

from typing import Any

from rlk_baselines.policies.classes import FeedForwardPolicy, LstmPolicy


class MlpPolicy(FeedForwardPolicy):
    """Hidden layers, two of 64 unless told otherwise."""

    stands_for = "MlpPolicy"

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **{"feature_extraction": "mlp", **kwargs})


class CnnPolicy(FeedForwardPolicy):
    """The Nature CNN, for images."""

    stands_for = "CnnPolicy"

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **{"feature_extraction": "cnn", **kwargs})


class MultiInputPolicy(FeedForwardPolicy):
    """Observations of several parts, in a Dict: a CNN for images, and hidden layers."""

    stands_for = "MultiInputPolicy"


class LnMlpPolicy(FeedForwardPolicy):
    """Hidden layers with layer normalisation."""

    stands_for = "LnMlpPolicy"

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **{"feature_extraction": "mlp", "layer_norm": True, **kwargs})


class LnCnnPolicy(FeedForwardPolicy):
    """The Nature CNN, for images, and layer normalisation behind it."""

    stands_for = "LnCnnPolicy"

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **{"feature_extraction": "cnn", "layer_norm": True, **kwargs})


class MlpLstmPolicy(LstmPolicy):
    """Hidden layers and an LSTM."""

    stands_for = "MlpLstmPolicy"

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **{"feature_extraction": "mlp", **kwargs})


class MlpLnLstmPolicy(LstmPolicy):
    """Hidden layers and a layer-normalised LSTM."""

    stands_for = "MlpLnLstmPolicy"

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **{"feature_extraction": "mlp", "layer_norm": True, **kwargs})


class CnnLstmPolicy(LstmPolicy):
    """The Nature CNN, for images, and an LSTM."""

    stands_for = "CnnLstmPolicy"

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **{"feature_extraction": "cnn", **kwargs})


class CnnLnLstmPolicy(LstmPolicy):
    """The Nature CNN, for images, and a layer-normalised LSTM."""

    stands_for = "CnnLnLstmPolicy"

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **{"feature_extraction": "cnn", "layer_norm": True, **kwargs})


class MultiInputLstmPolicy(LstmPolicy):
    """Observations of several parts, in a Dict, and an LSTM (sb3-contrib)."""

    stands_for = "MultiInputLstmPolicy"
