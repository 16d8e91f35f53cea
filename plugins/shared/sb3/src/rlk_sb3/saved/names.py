"""Maps parameters of Stable-Baselines3 and sb3-contrib to rlk's names.

Weights of its linear layers are transposed, [outputs, inputs]. In its `nn.Sequential`s, every
second module is an activation, so hidden layer i has the index 2i.
"""

from __future__ import annotations

import re
from typing import Any

import numpy as np
from gymnasium import spaces

from rlk.records import Array
from rlk_baselines.foreign_files.parameters import Rule, Saved

_ROLES = {"pi": "policy", "vf": "value"}
_OUTPUTS = {"pi": "action_net", "vf": "value_net"}
_NETWORKS = {"model": "", "target": "_target"}
_CONVOLUTIONS = {"1": 0, "2": 2, "3": 4}
#: Where the encoder is that heads share, and the one that a head has for itself.
_SHARED, _OWN = "/shared/(?:encoder/|before/0/)?", "/trunk/encoder/"
#: Where the hidden layers of a head are, which come after its own encoder if it has one.
_TRUNK = "trunk/(?:trunk/)?"


def _turned(array: Array) -> Array:
    return array.T if array.ndim == 2 else array


def _number(saved: Saved, sequence: str) -> int:
    """The index of the last layer of an `nn.Sequential`."""
    found = [re.fullmatch(rf"{re.escape(sequence)}\.(\d+)\.weight", name) for name in saved]
    return max((int(match[1]) for match in found if match), default=0)


def with_numbered_images(saved: Saved, space: Any) -> Saved:
    """The same, with extractors of a Dict's keys called `image0`, … in their alphabetical order."""
    if not isinstance(space, spaces.Dict):
        return saved
    numbers = {key: number for number, key in enumerate(sorted(space.spaces))}

    def numbered(match: re.Match[str]) -> str:
        return f".extractors.image{numbers[match[1]]}." if match[1] in numbers else match[0]

    return {re.sub(r"\.extractors\.([^.]+)\.", numbered, k): v for k, v in saved.items()}


def with_one_logit(saved: Saved, n_switches: int) -> Saved:
    """The same, with one logit for each switch of an actor-critic instead of MaskablePPO's two.

    They are for off and on, with equal probabilities: softmax([off, on])[1] = sigmoid(on - off).
    """
    logits = {name: one for name, one in saved.items() if name.startswith("action_net.")}
    if any(one.shape[:1] != (2 * n_switches,) for one in logits.values()):
        return saved
    return {**saved, **{name: one[1::2] - one[::2] for name, one in logits.items()}}


def _encoder(place: str, scope: str) -> list[tuple[str, Rule]]:
    """The rules for the encoder at a place: the Nature CNN, or a custom extractor."""
    return [*_cnn(place, scope), _extractor(place, scope)]


def _cnn(place: str, scope: str) -> list[tuple[str, Rule]]:
    """The rules for the CNN at a place, or for those of the keys of a Dict.

    Their weights have the same layout in both libraries.
    """

    def module(match: re.Match[str]) -> str:
        return scope if match["image"] is None else f"{scope}.extractors.{match['image']}"

    def convolution(match: re.Match[str], saved: Saved) -> Array:
        return saved[f"{module(match)}.cnn.{_CONVOLUTIONS[match['number']]}.{match['part']}"]

    def full(match: re.Match[str], saved: Saved) -> Array:
        return saved[f"{module(match)}.linear.0.{match['part']}"]

    before = place + r"(?:cnns/(?P<image>image\d+)/)?"
    return [
        (before + r"conv(?P<number>\d)/(?P<part>weight|bias)", convolution),
        (before + r"full/(?P<part>weight|bias)", full),
    ]


def _extractor(place: str, scope: str) -> tuple[str, Rule]:
    """The rule for a custom extractor: its parameters keep their names."""

    def own(match: re.Match[str], saved: Saved) -> Array:
        return saved[f"{scope}.{match[1].replace('/', '.')}"]

    return (place + r"extractor/(.+)", own)


# ---- actor-critics -------------------------------------------------------------------------------


def _layer(match: re.Match[str], saved: Saved) -> Array:
    role, number, part = match.groups()
    return _turned(saved[f"mlp_extractor.{_ROLES[role]}_net.{2 * int(number)}.{part}"])


def _shared_layer(match: re.Match[str], saved: Saved) -> Array:
    return _turned(saved[f"mlp_extractor.shared_net.{2 * int(match[1])}.{match[2]}"])


def _output(match: re.Match[str], saved: Saved) -> Array:
    return _turned(saved[f"{_OUTPUTS[match[1]]}.{match[2]}"])


ACTOR_CRITIC: list[tuple[str, Rule]] = [
    (r"model/(pi|vf)/(?:head/)?(?:trunk/)?trunk/layers/(\d+)/(weight|bias)", _layer),
    (r"model/shared/(?:layers/)?layers/(\d+)/(weight|bias)", _shared_layer),
    (r"model/(pi|vf)/(?:head/)?out/(?:mean/)?(weight|bias)", _output),
    (r"model/pi/out/log_std", lambda _, saved: saved["log_std"]),
    *_encoder(f"model{_SHARED}", "features_extractor"),
    *_encoder(f"model/pi{_OWN}", "pi_features_extractor"),
    *_encoder(f"model/vf{_OWN}", "vf_features_extractor"),
]

# ---- DQN -----------------------------------------------------------------------------------------


def _q_layer(match: re.Match[str], saved: Saved) -> Array:
    network, number, part = match.groups()
    return _turned(saved[f"q_net{_NETWORKS[network]}.q_net.{2 * int(number)}.{part}"])


def _q_output(match: re.Match[str], saved: Saved) -> Array:
    sequence = f"q_net{_NETWORKS[match[1]]}.q_net"
    return _turned(saved[f"{sequence}.{_number(saved, sequence)}.{match[2]}"])


DQN: list[tuple[str, Rule]] = [
    (r"(model|target)/qf/trunk/layers/(\d+)/(weight|bias)", _q_layer),
    (r"(model|target)/qf/out/(weight|bias)", _q_output),
    *_encoder(f"model{_SHARED}", "q_net.features_extractor"),
    *_encoder(f"target{_SHARED}", "q_net_target.features_extractor"),
]

# ---- DDPG, SAC, TD3 ------------------------------------------------------------------------------


def _actor_layer(match: re.Match[str], saved: Saved) -> Array:
    """A hidden layer: SAC's are in `latent_pi`, those of DDPG and TD3 in `mu` with the output."""
    network, number, part = match.groups()
    actor, place = f"actor{_NETWORKS[network]}", f"{2 * int(number)}.{part}"
    latent = f"{actor}.latent_pi.{place}"
    return _turned(saved[latent] if latent in saved else saved[f"{actor}.mu.{place}"])


def _actor_output(match: re.Match[str], saved: Saved) -> Array:
    """The output layer; SAC's layers for means and log standard deviations are concatenated.

    With gSDE and no `clip_mean`, the layer for means is the only one.
    """
    network, part = match.groups()
    actor = f"actor{_NETWORKS[network]}"
    if f"{actor}.log_std.{part}" in saved:
        both = [_turned(saved[f"{actor}.{layer}.{part}"]) for layer in ("mu", "log_std")]
        return np.concatenate(both, -1)
    if f"{actor}.mu.{part}" in saved:
        return _turned(saved[f"{actor}.mu.{part}"])
    return _turned(saved[f"{actor}.mu.{_number(saved, f'{actor}.mu')}.{part}"])


def number_of_critics(saved: Saved) -> int:
    """How many critics DDPG (one by default), SAC and TD3 (two) have; 0 for other algorithms."""
    return len({match[1] for name in saved if (match := re.match(r"critic\.(qf\d+)\.", name))})


def _critics(saved: Saved, network: str, place: str) -> Array:
    """A parameter of all critics, stacked."""
    critic = f"critic{_NETWORKS[network]}"
    return np.stack(
        [_turned(saved[f"{critic}.qf{c}.{place}"]) for c in range(number_of_critics(saved))]
    )


def _critic_layer(match: re.Match[str], saved: Saved) -> Array:
    network, part, number = match.groups()
    if part == "weights":
        return _critics(saved, network, f"{2 * int(number)}.weight")
    return _critics(saved, network, f"{2 * int(number)}.bias")[:, None]


def _only_critic_layer(match: re.Match[str], saved: Saved) -> Array:
    """A hidden layer of a critic that is the only one: it has no axis of critics here."""
    network, number, part = match.groups()
    return _turned(saved[f"critic{_NETWORKS[network]}.qf0.{2 * int(number)}.{part}"])


def _critic_output(match: re.Match[str], saved: Saved) -> Array:
    network, part = match.groups()
    last = _number(saved, f"critic{_NETWORKS[network]}.qf0")
    found = _critics(saved, network, f"{last}.{part}")
    return found.swapaxes(1, 2) if part == "weight" else found


CONTINUOUS: list[tuple[str, Rule]] = [
    (rf"(model|target)/pi/{_TRUNK}layers/(\d+)/(weight|bias)", _actor_layer),
    (r"(model|target)/pi/out/(?:mean/)?(weight|bias)", _actor_output),
    (r"model/pi/out/log_std", lambda _, saved: saved["actor.log_std"]),
    (rf"(model|target)/qf/{_TRUNK}(weights|biases)/(\d+)", _critic_layer),
    (rf"(model|target)/qf/{_TRUNK}layers/(\d+)/(weight|bias)", _only_critic_layer),
    (r"(model|target)/qf/(weight|bias)", _critic_output),
    *(
        rule
        for network, suffix in _NETWORKS.items()
        for place, name in ((_SHARED, "critic"), (f"/pi{_OWN}", "actor"), (f"/qf{_OWN}", "critic"))
        for rule in _encoder(network + place, f"{name}{suffix}.features_extractor")
    ),
    (r"log_ent_coef", lambda _, saved: saved["log_ent_coef"].reshape(1)),
]
