"""TensorFlow's RMSProp, which is not here; the error names the model that uses it in rlk."""

from typing import Any

from rlk_baselines.sb3.elsewhere import not_here


def __getattr__(name: str) -> Any:
    raise not_here(__name__, name)
