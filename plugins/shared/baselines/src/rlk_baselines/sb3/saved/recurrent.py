"""The LSTMs in files of sb3-contrib's RecurrentPPO.

torch.nn.LSTM adds two biases in every layer, of which only the sum matters; rlk's LSTM has one. The
layout of weights and the order of gates are the same. Shapes: H units.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import attrs

from rlk.program_warnings import warn_program
from rlk.records import Array
from rlk_baselines.foreign_files.parameters import Rule, Saved
from rlk_baselines.foreign_files.saved_there import SavedThere
from rlk_baselines.refusals import Refused
from rlk_baselines.sb3.extractors import CLASS, has_extractor
from rlk_on_policy.checks import whole_sequences

ACTOR, CRITIC = "lstm_actor", "lstm_critic"
#: The linear layer of a value function without an LSTM.
LINEAR = "critic"
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
    is_beside = any(name.startswith((f"{CRITIC}.", f"{LINEAR}.")) for name in saved)
    if is_beside and not numbers:
        raise Refused(
            "the value function in the file has an LSTM or a layer of its own, and in the model it "
            "shares the policy's LSTM. Make the model with the policy_kwargs of the file."
        )
    module = (ACTOR, CRITIC)[int(numbers.pop(0))] if is_beside else ACTOR
    return module, numbers[0] if numbers else "0"


def _linear(match: re.Match[str], saved: Saved) -> Array:
    return saved[f"{LINEAR}.{match[1]}"].T


RULES: list[tuple[str, Rule]] = [
    (r"model/shared/lstm/(?P<parts>(?:parts/\d+/)*)(?P<part>wx|wh|b)", _lstm),
    (r"model/shared/lstm/parts/1/linear/(weight|bias)", _linear),
]


# ---- settings ------------------------------------------------------------------------------------


def refuse_other_networks(path: Path, kwargs: Mapping[str, Any], parameters: Saved) -> None:
    """Raise Refused if the recurrent policies here do not have the networks of a file.

    Args:
        path: the file.
        kwargs: its `policy_kwargs`.
        parameters: by their names in the file.
    """
    other = None
    if has_extractor(kwargs):
        other = f"a {CLASS}"
    elif any(name.startswith("mlp_extractor.shared_net.") for name in parameters):
        other = "layers after the LSTM that policy and value function share"
    if other is not None:
        raise Refused(
            f"{path} has {other}, which the recurrent policies here do not have, so it is not "
            "loaded. Train it without, or write a policy of your own: docs/custom-policies.md."
        )


def without_dropout(saved: SavedThere) -> SavedThere:
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


def with_fitting_batch(saved: SavedThere, n_steps: int, n_envs: int) -> SavedThere:
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
