"""Maps TensorFlow's parameters to rlk's names.

Weights of linear layers have the same layout, [inputs, outputs]. Kernels of convolutions are
transposed, and the gates of an LSTM reordered: i, f, o, g in TensorFlow, i, f, g, o in rlk.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping

import numpy as np

from rlk.records import Array
from rlk_baselines.foreign_files.parameters import Rule, Saved

_SHORT = {"weight": "w", "bias": "b"}
_DENSE = {"weight": "kernel", "bias": "bias"}
_FULL = {"weight": "weights", "bias": "biases"}
_NORM = {"weight": "gamma", "bias": "beta", "scales": "gamma", "shifts": "beta"}
#: Stable Baselines' names for the hidden layers and the outputs of rlk's heads.
_LAYERS = {"pi": "pi", "vf": "vf", "qf": "vf"}
_OUTPUTS = {"pi": "pi", "vf": "vf", "qf": "q"}


def _numbered(name: str, number: str | int) -> str:
    """A name with TensorFlow's numbering: `layer`, `layer_1`, `layer_2`."""
    return f"{name}_{number}" if int(number) else name


# ---- actor-critics -------------------------------------------------------------------------------


def _layer(match: re.Match[str], saved: Saved) -> Array:
    role, number, part = match.groups()
    return saved[f"model/{_LAYERS[role]}_fc{number}/{_SHORT[part]}"]


def _shared_layer(match: re.Match[str], saved: Saved) -> Array:
    """A shared layer: of `net_arch`, or of `layers` before an LSTM."""
    number, part = match.groups()
    shared = f"model/shared_fc{number}/{_SHORT[part]}"
    return saved[shared] if shared in saved else saved[f"model/pi_fc{number}/{_SHORT[part]}"]


def _output(match: re.Match[str], saved: Saved) -> Array:
    role, part = match.groups()
    return saved[f"model/{_OUTPUTS[role]}/{_SHORT[part]}"]


def _gates(array: Array) -> Array:
    """Reorder the rows of four gates, from i, f, o, g to i, f, g, o."""
    i, f, o, g = np.split(array, 4)
    return np.concatenate((i, f, g, o))


def _lstm_weight(match: re.Match[str], saved: Saved) -> Array:
    return _gates(saved[f"model/lstm1/{match[1]}"].T)


def _lstm_bias(match: re.Match[str], saved: Saved) -> Array:
    """The bias of the LSTM; with layer normalisation, the sum of three biases."""
    own = [f"model/lstm1/{name}" for name in ("b", "bx", "bh")]
    return _gates(sum((saved[name] for name in own[1:] if name in saved), saved[own[0]]))


_OF_CELLS = {"gain_x": "gx", "gain_h": "gh", "gain_c": "gc", "b_c": "bc"}


def _lstm_norm(match: re.Match[str], saved: Saved) -> Array:
    found = saved[f"model/lstm1/{_OF_CELLS[match[1]]}"]
    return found if match[1].endswith("c") else _gates(found)


# ---- the Nature CNN ------------------------------------------------------------------------------


def _cnn(place: str, scope: str | Callable[[Saved], str]) -> list[tuple[str, Rule]]:
    """The rules for the CNN at a place; its names in the file begin with `scope`."""

    def named(saved: Saved, layer: str, part: str) -> Array:
        return saved[f"{scope if isinstance(scope, str) else scope(saved)}/{layer}/{_SHORT[part]}"]

    def convolution(match: re.Match[str], saved: Saved) -> Array:
        found = named(saved, f"c{match[1]}", match[2])
        return found.transpose(3, 2, 0, 1) if match[2] == "weight" else found.reshape(-1)

    def full(match: re.Match[str], saved: Saved) -> Array:
        found = named(saved, "fc1", match[1])
        if match[1] == "bias":
            return found
        side = math.isqrt(len(found) // 64)  # rows are flattened [height, width, 64], square
        return found.reshape(side, side, 64, -1).transpose(3, 2, 0, 1).reshape(found.shape[::-1])

    return [
        (place + r"conv(\d)/(weight|bias)", convolution),
        (place + r"full/(weight|bias)", full),
    ]


#: Where the CNN of heads that share it is.
_SHARED = "/shared/(?:before/0/|encoder/)?"

_ACTOR_CRITIC: list[tuple[str, Rule]] = [
    (r"(?:model|average)/(pi|vf|qf)/trunk/layers/(\d+)/(weight|bias)", _layer),
    (r"(?:model|average)/(pi|vf|qf)/out/(?:mean/)?(weight|bias)", _output),
    (r"(?:model|average)/pi/out/log_std", lambda _, saved: saved["model/pi/logstd"][0]),
    (r"\w+/shared/(?:before/\d+/|layers/)?layers/(\d+)/(weight|bias)", _shared_layer),
    (r"\w+/shared/lstm/(wx|wh)", _lstm_weight),
    (r"\w+/shared/lstm/b", _lstm_bias),
    (r"\w+/shared/lstm/(gain_x|gain_h|gain_c|b_c)", _lstm_norm),
    *_cnn(f"(?:model|average){_SHARED}", "model"),
]

# ---- DQN -----------------------------------------------------------------------------------------

_NETWORKS = {"model": "deepq/model", "target": "deepq/target_q_func/model"}


def _q_layers(match: re.Match[str]) -> str:
    stream = "state_value" if match["stream"] == "value/" else "action_value"
    return f"{_NETWORKS[match['network']]}/{stream}"


def _q_layer(match: re.Match[str], saved: Saved) -> Array:
    layer = _numbered("fully_connected", match["number"])
    return saved[f"{_q_layers(match)}/{layer}/{_FULL[match['part']]}"]


def _q_norm(match: re.Match[str], saved: Saved) -> Array:
    layer = _numbered("LayerNorm", match["number"])
    return saved[f"{_q_layers(match)}/{layer}/{_NORM[match['part']]}"]


def _q_output(match: re.Match[str], saved: Saved) -> Array:
    scope = f"{_q_layers(match)}/fully_connected"
    last = sum(1 for name in saved if re.fullmatch(rf"{scope}(_\d+)?/weights", name)) - 1
    return saved[f"{_numbered(scope, last)}/{_FULL[match['part']]}"]


_STREAM = r"(?P<network>model|target)/qf/(?P<stream>advantage/|value/)?"
_DQN: list[tuple[str, Rule]] = [
    (_STREAM + r"trunk/layers/(?P<number>\d+)/(?P<part>weight|bias)", _q_layer),
    (_STREAM + r"trunk/norms/(?P<number>\d+)/(?P<part>weight|bias)", _q_norm),
    (_STREAM + r"out/(?P<part>weight|bias)", _q_output),
    *(
        rule
        for name, there in _NETWORKS.items()
        for rule in _cnn(name + _SHARED, f"{there}/action_value")
    ),
]

# ---- SAC and TD3 ---------------------------------------------------------------------------------


def _actor_layer(match: re.Match[str], saved: Saved) -> Array:
    network, number, part = match.groups()
    return saved[f"{network}/pi/fc{number}/{_DENSE[part]}"]


def _actor_norm(match: re.Match[str], saved: Saved) -> Array:
    network, number, part = match.groups()
    return saved[f"{network}/pi/{_numbered('LayerNorm', number)}/{_NORM[part]}"]


def _actor_output(match: re.Match[str], saved: Saved) -> Array:
    """The output layer; SAC's layers for means and log standard deviations are concatenated."""
    network, part = match.groups()
    names = [f"{network}/pi/{layer}/{_DENSE[part]}" for layer in ("dense", "dense_1")]
    return np.concatenate([saved[name] for name in names if name in saved], axis=-1)


def _critics(saved: Saved, network: str, name: str) -> Array:
    """A parameter of both critics, stacked; `{}` in `name` is replaced by a critic's number."""
    found = [saved[f"{network}/values_fn/qf{c}/{name.format(c)}"] for c in (1, 2)]
    return np.stack(found)


def _network_of_critics(network: str, saved: Saved) -> str:
    """The scope of the critics. SAC saves no target critics, so its critics are used for them."""
    there = "target/values_fn/qf1/fc0/kernel" in saved
    return "target" if network != "model" and there else "model"


def _scope_of_target_critics(saved: Saved) -> str:
    return f"{_network_of_critics('target', saved)}/values_fn"


def _critic_layer(match: re.Match[str], saved: Saved) -> Array:
    network, part, number = match.groups()
    part = {"weights": "kernel", "biases": "bias"}[part]
    found = _critics(saved, _network_of_critics(network, saved), f"fc{number}/{part}")
    return found if part == "kernel" else found[:, None]


def _critic_norm(match: re.Match[str], saved: Saved) -> Array:
    network, part, number = match.groups()
    name = f"{_numbered('LayerNorm', number)}/{_NORM[part]}"
    return _critics(saved, _network_of_critics(network, saved), name)[:, None]


def _critic_output(match: re.Match[str], saved: Saved) -> Array:
    network, part = match.groups()
    name = "qf{}/" + _DENSE[part]
    found = _critics(saved, _network_of_critics(network, saved), name)
    return found.swapaxes(1, 2) if part == "weight" else found


#: The hidden layers of a head, which come after its CNN if it has one.
_TRUNK = "trunk/(?:trunk/)?"

_ACTOR: list[tuple[str, Rule]] = [
    (rf"(model|target)/pi/{_TRUNK}layers/(\d+)/(weight|bias)", _actor_layer),
    (rf"(model|target)/pi/{_TRUNK}norms/(\d+)/(weight|bias)", _actor_norm),
    *_cnn("model/pi/trunk/encoder/", "model/pi"),
    *_cnn("target/pi/trunk/encoder/", "target/pi"),
]
_TWIN: list[tuple[str, Rule]] = [
    *_ACTOR,
    (r"(model|target)/pi/out/(weight|bias)", _actor_output),
    (rf"(model|target)/qf/{_TRUNK}(weights|biases)/(\d+)", _critic_layer),
    (rf"(model|target)/qf/{_TRUNK}(scales|shifts)/(\d+)", _critic_norm),
    (r"(model|target)/qf/(weight|bias)", _critic_output),
    *_cnn("model/qf/trunk/encoder/", "model/values_fn"),
    *_cnn("target/qf/trunk/encoder/", _scope_of_target_critics),
    (r"log_ent_coef", lambda _, saved: saved["model/log_ent_coef"].reshape(1)),
]

# ---- DDPG ----------------------------------------------------------------------------------------


def _policy_output(match: re.Match[str], saved: Saved) -> Array:
    network, part = match.groups()
    return saved[f"{network}/pi/pi/{_DENSE[part]}"]


_DDPG: list[tuple[str, Rule]] = [
    *_ACTOR,
    (r"(model|target)/pi/out/(weight|bias)", _policy_output),
]

RULES: Mapping[str, list[tuple[str, Rule]]] = {
    **dict.fromkeys(("a2c", "acer", "acktr", "ppo1", "ppo2", "trpo"), _ACTOR_CRITIC),
    "ddpg": _DDPG,
    "dqn": _DQN,
    **dict.fromkeys(("sac", "td3"), _TWIN),
}
