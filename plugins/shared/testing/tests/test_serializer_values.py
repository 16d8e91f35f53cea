"""The contract of serializers fails where values come back as others."""

from __future__ import annotations

import math

import attrs
import numpy as np
import pytest
import torch

import rlk_testing as testing
from rlk_testing.stand_ins import COMPONENTS, StandInSerializer


def each(change, value):
    """`value`, with what `change` makes of each part that is neither a dict nor a list."""
    if isinstance(value, dict):
        return {key: each(change, part) for key, part in value.items()}
    if isinstance(value, list):
        return [each(change, part) for part in value]
    return change(value)


class HasNoDotInItsSuffix(StandInSerializer):
    suffix = "standin"


class ReadsWholeNumbersAsInt(StandInSerializer):
    def read(self, path):
        return each(self.read_as, super().read(path))

    def read_as(self, value):
        return int(value) if isinstance(value, float) and value.is_integer() else value


class ReadsFlagsAsNumbers(ReadsWholeNumbersAsInt):
    def read_as(self, value):
        return int(value) if isinstance(value, bool) else value


class ReadsNanAsZero(ReadsWholeNumbersAsInt):
    def read_as(self, value):
        return 0.0 if isinstance(value, float) and math.isnan(value) else value


class GivesOutReadOnlyArrays(ReadsWholeNumbersAsInt):
    def read_as(self, value):
        if isinstance(value, np.ndarray):
            value.flags.writeable = False
        return value


class WidensBfloat16(StandInSerializer):
    def write(self, path, state):
        super().write(path, each(self.written_as, state))

    def written_as(self, value):
        is_short = isinstance(value, torch.Tensor) and value.dtype == torch.bfloat16
        return value.float() if is_short else value


class RoundsLargeNumbers(WidensBfloat16):
    """As JSON readers do that know no number but float64."""

    def written_as(self, value):
        is_large = type(value) is int and abs(value) > 2**53
        return int(float(value)) if is_large else value


class KeepsTensorsAsViews(StandInSerializer):
    """Of one flat tensor, if they were such views."""

    def read(self, path):
        state = super().read(path)
        if {"flat", "part"} <= state.keys():
            state |= {"part": state["flat"][2:4], "again": state["flat"]}
        return state


SERIALIZER = COMPONENTS["serializers"]


@pytest.mark.parametrize(
    ("factory", "check"),
    [
        (HasNoDotInItsSuffix, "test_its_suffix_begins_with_a_dot"),
        (ReadsWholeNumbersAsInt, "test_numbers_keep_their_type"),
        (ReadsFlagsAsNumbers, "test_numbers_keep_their_type"),
        (RoundsLargeNumbers, "test_json_values_come_back_as_they_were"),
        (RoundsLargeNumbers, "test_the_state_of_every_random_stream_comes_back"),
        (ReadsNanAsZero, "test_infinite_numbers_and_nan_come_back"),
        (WidensBfloat16, "test_a_type_that_numpy_lacks_comes_back_or_is_refused"),
        (KeepsTensorsAsViews, "test_tensors_that_share_memory_come_back_each_for_itself"),
    ],
    ids=lambda value: getattr(value, "__name__", None),
)
def test_a_serializer_that_changes_values_fails(rlk_fails, factory, check):
    broken = attrs.evolve(SERIALIZER, factory=factory)
    rlk_fails(testing.SerializerContract, SERIALIZER, broken, check)


def test_a_serializer_whose_arrays_cannot_be_written_to_fails(rlk_fails):
    broken = attrs.evolve(SERIALIZER, factory=GivesOutReadOnlyArrays)
    check = "test_what_comes_back_can_be_written_to"
    error = "ValueError: assignment destination is read-only"
    rlk_fails(testing.SerializerContract, SERIALIZER, broken, check, error)
