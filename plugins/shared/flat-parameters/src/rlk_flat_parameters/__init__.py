"""The trainable parameters of a module as views of one flat tensor."""

from rlk_flat_parameters.parameters import FlatParameters

__all__ = ["FlatParameters"]
