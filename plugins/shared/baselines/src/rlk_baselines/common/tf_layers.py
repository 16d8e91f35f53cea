"""Refuses Stable Baselines' functions that build TensorFlow layers, and names torch's instead."""

from __future__ import annotations

from typing import Any

from rlk_baselines.refusals import not_here

#: The names of Stable Baselines' functions, and what to use instead.
_INSTEAD = {
    "_ln": "torch.nn.LayerNorm",
    "conv": "torch.nn.Conv2d",
    "conv_to_fc": "torch.nn.Flatten",
    "linear": "torch.nn.Linear",
    "ln_lstm": "the policy MlpLnLstmPolicy",
    "lstm": "torch.nn.LSTM",
    "mlp": "torch.nn.Sequential of torch.nn.Linear, or net_arch=[…] of a policy",
    "ortho_init": "torch.nn.init.orthogonal_",
}


def __getattr__(name: str) -> Any:
    raise not_here(__name__, name, _INSTEAD)
