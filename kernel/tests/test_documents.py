"""Documents from elsewhere, whose size is known before anything is made of them."""

from __future__ import annotations

import numpy as np
import pytest

from rlk import documents
from rlk.documents import MAX_DEPTH, MAX_VALUES, check_size, parse_json, parse_toml, read_npz
from rlk.errors import BadFile


@pytest.mark.parametrize("part", [b"1,", b"[", b"{", b'""""'])
def test_a_text_of_more_values_than_are_allowed_is_refused_whatever_they_are(part):
    with pytest.raises(ValueError, match=f"has up to .* values .at most {MAX_VALUES:,}"):
        check_size(part * (MAX_VALUES + 1))


@pytest.mark.parametrize("depth", [MAX_DEPTH + 1, 100_000])
def test_a_document_that_is_nested_too_deep_is_refused(depth):
    parse_json("[" * MAX_DEPTH + "]" * MAX_DEPTH)
    with pytest.raises(ValueError, match="it is nested too deep"):
        parse_json("[" * depth + "]" * depth)
    parse_toml("a = " + "[" * (MAX_DEPTH - 1) + "]" * (MAX_DEPTH - 1))
    with pytest.raises(ValueError, match="it is nested too deep"):
        parse_toml("a = " + "[" * depth + "]" * depth)


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
