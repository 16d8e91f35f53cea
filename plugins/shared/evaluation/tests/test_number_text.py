"""Returns as texts."""

from __future__ import annotations

from rlk_evaluation.number_text import significant


def test_a_large_return_keeps_its_digits_and_has_no_exponent() -> None:
    assert significant(1_234_567.8) == "1234568" and significant(-123_456.7) == "-123457"
    assert significant(99_999.97) == "100000" and significant(99_999.4) == "99999.4"
    assert significant(1e20) == "1e+20" and significant(float("nan")) == "nan"
