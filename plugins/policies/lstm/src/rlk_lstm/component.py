"""What this distribution offers.

`lstm` and `ln-lstm`, also as `MlpLstmPolicy` and `MlpLnLstmPolicy`, both after the Nature CNN, and
`multi-input-lstm`, also as `MultiInputLstmPolicy`.
"""

from __future__ import annotations

import attrs

from rlk.component import Component
from rlk_lstm.config import LstmConfig, check
from rlk_mlp.words import INSTEAD_OF, OF_CNN

#: Of sb3-contrib, whose hidden layers come after the LSTM. In 2.10 a list says where it is.
_OF_LSTM = {
    "lstm_hidden_size": "n_lstm={value}",
    "shared_lstm=True": "value_lstm=shared",
    "enable_critic_lstm=True": "value_lstm=own",
    "enable_critic_lstm=False": "value_lstm=none",
    "net_arch=[…lstm…]": "net_arch={value}",
    "net_arch=[…{…}…]": 'say where the LSTM is: policy.net_arch=["lstm", {{pi = […], vf = […]}}], '
    "with the layers before it, if there are any, at the start.",
    "net_arch={…}": 'net_arch=["lstm", {value}]',
    "net_arch": 'net_arch=["lstm", {{pi = {value}, vf = {value}}}]',
}
lstm = Component(
    name="lstm",
    factory="rlk_lstm.network:Lstm",
    summary="hidden layers and an LSTM that all heads share: a policy with a memory",
    config=LstmConfig,
    instead_of={**INSTEAD_OF, **OF_CNN, **_OF_LSTM},
    observation_spaces=("Box", "Discrete", "MultiDiscrete", "MultiBinary", "Image"),
    recurrent=True,
    check=check,
)
ln_lstm = attrs.evolve(
    lstm,
    name="ln-lstm",
    summary="hidden layers and a layer-normalised LSTM that all heads share",
    own_defaults={"layer_norm": True},
)
cnn_lstm = attrs.evolve(
    lstm, own_defaults={"feature_extraction": "cnn"}, observation_spaces=("Image",)
)
cnn_ln_lstm = attrs.evolve(
    ln_lstm,
    own_defaults={"feature_extraction": "cnn", "layer_norm": True},
    observation_spaces=("Image",),
)
multi_input_lstm = attrs.evolve(
    lstm,
    name="multi-input-lstm",
    summary="Dict observations as for multi-input, and an LSTM that all heads share",
    own_defaults={"feature_extraction": "multi-input"},
    observation_spaces=("Dict",),
)
