"""Documents from elsewhere, whose size is known before anything is made of them."""

from __future__ import annotations

import numpy as np
import pytest

from rlk import documents
from rlk.documents import MAX_VALUES, check_json, read_npz
from rlk.errors import BadFile


@pytest.mark.parametrize("part", [b"1,", b"[", b"{", b'""""'])
def test_a_text_of_more_values_than_are_allowed_is_refused_whatever_they_are(part):
    with pytest.raises(ValueError, match=f"has up to .* values .at most {MAX_VALUES:,}"):
        check_json(part * (MAX_VALUES + 1))


def test_only_a_compressed_file_of_arrays_may_be_too_large(tmp_path, monkeypatch):
    monkeypatch.setattr(documents, "MAX_NPZ_BYTES", 1000)
    path, values = tmp_path / "arrays.npz", np.zeros(500)
    np.savez(path, values=values)
    assert read_npz(path)["values"].shape == (500,)
    np.savez_compressed(path, values=values)
    with pytest.raises(
        BadFile, match=r"arrays\.npz is too large: .* anew with numpy\.savez, which"
    ):
        read_npz(path)
    np.savez_compressed(path, values=values[:50])
    assert read_npz(path)["values"].shape == (50,)
