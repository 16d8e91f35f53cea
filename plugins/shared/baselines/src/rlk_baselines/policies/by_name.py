"""The policies that Stable Baselines documents, as classes; each stands for a policy of rlk."""

from __future__ import annotations

from typing import Any

from rlk_baselines.policies.classes import FeedForwardPolicy, LstmPolicy


class MlpPolicy(FeedForwardPolicy):
    """A multilayer perceptron; by default two hidden layers of 64 units."""

    stands_for = "MlpPolicy"

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **{"feature_extraction": "mlp", **kwargs})


class CnnPolicy(FeedForwardPolicy):
    """The Nature CNN, for image observations."""

    stands_for = "CnnPolicy"

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **{"feature_extraction": "cnn", **kwargs})


class MultiInputPolicy(FeedForwardPolicy):
    """For Dict observations: a CNN for every image, and hidden layers over all features."""

    stands_for = "MultiInputPolicy"


class LnMlpPolicy(FeedForwardPolicy):
    """A multilayer perceptron with layer normalisation."""

    stands_for = "LnMlpPolicy"

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **{"feature_extraction": "mlp", "layer_norm": True, **kwargs})


class LnCnnPolicy(FeedForwardPolicy):
    """The Nature CNN, for image observations, followed by layer normalisation."""

    stands_for = "LnCnnPolicy"

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **{"feature_extraction": "cnn", "layer_norm": True, **kwargs})


class MlpLstmPolicy(LstmPolicy):
    """A multilayer perceptron and an LSTM."""

    stands_for = "MlpLstmPolicy"

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **{"feature_extraction": "mlp", **kwargs})


class MlpLnLstmPolicy(LstmPolicy):
    """A multilayer perceptron and a layer-normalised LSTM."""

    stands_for = "MlpLnLstmPolicy"

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **{"feature_extraction": "mlp", "layer_norm": True, **kwargs})


class CnnLstmPolicy(LstmPolicy):
    """The Nature CNN, for image observations, and an LSTM."""

    stands_for = "CnnLstmPolicy"

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **{"feature_extraction": "cnn", **kwargs})


class CnnLnLstmPolicy(LstmPolicy):
    """The Nature CNN, for image observations, and a layer-normalised LSTM."""

    stands_for = "CnnLnLstmPolicy"

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **{"feature_extraction": "cnn", "layer_norm": True, **kwargs})


class MultiInputLstmPolicy(LstmPolicy):
    """For Dict observations, with an LSTM, as in sb3-contrib."""

    stands_for = "MultiInputLstmPolicy"
