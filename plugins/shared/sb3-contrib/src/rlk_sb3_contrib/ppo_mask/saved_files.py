"""Reads the files of sb3-contrib's MaskablePPO."""

from __future__ import annotations

from typing import TYPE_CHECKING

import attrs
from gymnasium import spaces

from rlk.records import Array
from rlk_baselines.foreign_files.saved_there import SavedThere
from rlk_sb3.saved.loading import FilesOfSB3
from rlk_sb3.saved.names import ACTOR_CRITIC

if TYPE_CHECKING:
    from rlk_baselines.common.base_class import BaseRLModel


class FilesOfMaskablePPO(FilesOfSB3):
    """The files of MaskablePPO."""

    def __init__(self) -> None:
        super().__init__(ACTOR_CRITIC)

    def parameters(self, saved: SavedThere, model: BaseRLModel) -> dict[str, Array]:
        """As in `FilesOfSB3`; switches have one logit here, and in the file two, for off and on.

        The probabilities are equal: softmax([off, on])[1] = sigmoid(on - off).
        """
        if isinstance(model.action_space, spaces.MultiBinary):
            logits = {name: saved.parameters[f"action_net.{name}"] for name in ("weight", "bias")}
            single = {f"action_net.{name}": one[1::2] - one[::2] for name, one in logits.items()}
            saved = attrs.evolve(saved, parameters={**saved.parameters, **single})
        return super().parameters(saved, model)
