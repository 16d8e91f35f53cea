"""Reads the files of sb3-contrib's RecurrentPPO, whose LSTMs differ from those here.

torch.nn.LSTM adds two biases in every layer, of which only the sum matters; rlk's LSTM has one. The
layout of weights and the order of gates are the same. Shapes: H units.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import attrs

from rlk.program_warnings import warn_program
from rlk.records import Array
from rlk_baselines.arguments import is_finite
from rlk_baselines.foreign_files.parameters import Rule, Saved
from rlk_baselines.foreign_files.saved_there import SavedThere
from rlk_baselines.refusals import Refused
from rlk_on_policy.checks import whole_sequences
from rlk_sb3.extractors import CLASS, has_extractor
from rlk_sb3.saved.loading import FilesOfSB3
from rlk_sb3.saved.names import ACTOR_CRITIC

if TYPE_CHECKING:
    from rlk_baselines.common.base_class import BaseRLModel

_ACTOR, _CRITIC = "lstm_actor", "lstm_critic"
#: The linear layer of a value function without an LSTM.
_LINEAR = "critic"
#: Steps of a collection that no memory holds; it is refused later.
_MOST = 10**12
_WEIGHTS = {"wx": "weight_ih", "wh": "weight_hh"}


# ---- parameters ----------------------------------------------------------------------------------


def _lstm(match: re.Match[str], saved: Saved) -> Array:
    """A parameter of a layer: [4H, inputs], [4H, H], or the bias [4H]."""
    module, layer = _place(match["parts"], saved)
    if match["part"] == "b":
        return saved[f"{module}.bias_ih_l{layer}"] + saved[f"{module}.bias_hh_l{layer}"]
    return saved[f"{module}.{_WEIGHTS[match['part']]}_l{layer}"]


def _place(parts: str, saved: Saved) -> tuple[str, str]:
    """The LSTM and the number of its layer in a file, for a place among rlk's `parts`.

    In rlk, the value function's own LSTM, or linear layer, is beside the policy's; then its number
    (0 or 1) is before that of the layer. A single layer has no number.
    """
    numbers = re.findall(r"\d+", parts)
    is_beside = any(name.startswith((f"{_CRITIC}.", f"{_LINEAR}.")) for name in saved)
    if is_beside and not numbers:
        raise Refused(
            "the value function in the file has an LSTM or a layer of its own, and in the model it "
            "shares the policy's LSTM. Make the model with the policy_kwargs of the file."
        )
    module = (_ACTOR, _CRITIC)[int(numbers.pop(0))] if is_beside else _ACTOR
    return module, numbers[0] if numbers else "0"


def _linear(match: re.Match[str], saved: Saved) -> Array:
    return saved[f"{_LINEAR}.{match[1]}"].T


_RULES: list[tuple[str, Rule]] = [
    (r"model/shared/lstm/(?P<parts>(?:parts/\d+/)*)(?P<part>wx|wh|b)", _lstm),
    (r"model/shared/lstm/parts/1/linear/(weight|bias)", _linear),
]


# ---- settings ------------------------------------------------------------------------------------


class FilesOfRecurrentPPO(FilesOfSB3):
    """The files of RecurrentPPO."""

    def __init__(self) -> None:
        super().__init__([*ACTOR_CRITIC, *_RULES])

    def as_here(self, saved: SavedThere, given: Mapping[str, Any], n_envs: int) -> SavedThere:
        """As in `FilesOfSB3`: without dropout, and with minibatches of whole sequences."""
        _refuse_other_networks(saved)
        if "policy_kwargs" not in given:
            saved = _without_dropout(saved)
        n_steps = given.get("n_steps", saved.settings.get("n_steps"))
        sizes = (saved.settings["batch_size"], n_steps)
        if "batch_size" in given or not all(map(is_finite, sizes)):
            return saved
        return _with_fitting_batch(saved, int(n_steps), n_envs)

    def parameters(self, saved: SavedThere, model: BaseRLModel) -> dict[str, Array]:
        """As in `FilesOfSB3`; also refused without a new model, as by `set_parameters`."""
        _refuse_other_networks(saved)
        return super().parameters(saved, model)


def _refuse_other_networks(saved: SavedThere) -> None:
    """Raise Refused if the recurrent policies here do not have the networks of a saved model."""
    other = None
    if has_extractor(saved.policy_kwargs):
        other = f"a {CLASS}"
    elif any(name.startswith("mlp_extractor.shared_net.") for name in saved.parameters):
        other = "layers after the LSTM that policy and value function share"
    if other is not None:
        raise Refused(
            f"{saved.path} has {other}, which the recurrent policies here do not have, so it is "
            "not loaded. Train it without, or write a policy of your own: docs/custom-policies.md."
        )


def _without_dropout(saved: SavedThere) -> SavedThere:
    """A saved model without the dropout of its LSTMs, which matters only in training; warns."""
    of_lstm = dict(saved.policy_kwargs.get("lstm_kwargs") or {})
    dropout = of_lstm.pop("dropout", 0.0)
    if dropout:
        warn_program(
            f"{saved.path}: its LSTMs had a dropout of {dropout} in training, which those here do "
            "not have. It acts as before, and learns on without dropout."
        )
    kwargs = {key: value for key, value in saved.policy_kwargs.items() if key != "lstm_kwargs"}
    kwargs |= {"lstm_kwargs": of_lstm} if of_lstm else {}
    return attrs.evolve(saved, policy_kwargs=kwargs)


def _with_fitting_batch(saved: SavedThere, n_steps: int, n_envs: int) -> SavedThere:
    """A saved model with minibatches of whole sequences, as rlk's PPO takes them.

    `batch_size` must divide `n_steps`, or be k times `n_steps` where k divides `n_envs`. If that of
    the file does not, the nearest that does is taken, with a warning.
    """
    if not 0 < n_steps <= _MOST:
        return saved
    size, fitting = int(saved.settings["batch_size"]), whole_sequences(n_steps, n_envs)
    if size in fitting or size > n_steps * n_envs:  # the latter: PPO itself reduces it
        return saved
    nearest = min((one for one in fitting if one > 1), key=lambda one: abs(one - size), default=1)
    warn_program(
        f"{saved.path}: batch_size is {size} in the file, and {nearest} in the loaded model: it "
        f"must divide n_steps ({n_steps}), or be k times n_steps where k divides n_envs ({n_envs})."
    )
    return attrs.evolve(saved, settings={**saved.settings, "batch_size": nearest})
