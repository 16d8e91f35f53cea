"""What Stable Baselines had here makes layers of TensorFlow's graph; torch has its own."""

from __future__ import annotations

from typing import Any

from rlk_baselines.refusals import belongs_to_tensorflow

#: Its names, and what to write instead.
_INSTEAD = {
    "conv": "torch.nn.Conv2d",
    "conv_to_fc": "torch.nn.Flatten",
    "linear": "torch.nn.Linear",
    "lnlstm": "the policy MlpLnLstmPolicy",
    "lstm": "torch.nn.LSTM",
    "mlp": "torch.nn.Sequential of torch.nn.Linear, or net_arch=[…] of a policy",
    "ortho_init": "torch.nn.init.orthogonal_",
}


def __getattr__(name: str) -> Any:
    raise belongs_to_tensorflow(__name__, name, _INSTEAD)
