"""Documents from elsewhere, whose size is known before anything is made of them."""

from __future__ import annotations

import pytest

from rlk.documents import MAX_VALUES, check_json


@pytest.mark.parametrize("part", [b"1,", b"[", b"{", b'""""'])
def test_a_text_of_more_values_than_are_allowed_is_refused_whatever_they_are(part):
    with pytest.raises(ValueError, match=f"has up to .* values .at most {MAX_VALUES:,}"):
        check_json(part * (MAX_VALUES + 1))
