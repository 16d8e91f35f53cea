from __future__ import annotations

import attrs
import pytest

from rlk_on_policy.settings import CLIP_RANGE


@attrs.frozen
class Clips:
    clip_range: object = attrs.field(**CLIP_RANGE)


@pytest.mark.parametrize("wrong", [-1.0, 0.0, "constant_-1", "constant_0"])
def test_a_clip_range_that_is_not_above_0_is_refused_in_these_words(wrong):
    with pytest.raises(ValueError, match=f"clip_range must be above 0, got {wrong}$"):
        Clips(wrong)


def test_a_schedule_may_end_at_0_but_not_below():
    Clips("lin_0.2")
    with pytest.raises(
        ValueError, match="clip_range must be a finite number of at least 0, and is -1 in"
    ):
        Clips("lin_-1")
