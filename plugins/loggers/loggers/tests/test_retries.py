"""When a failed write is tried again."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from rlk_loggers import retries
from rlk_loggers.retries import Retries


def test_a_write_rests_for_some_seconds_after_it_has_failed(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    clock = SimpleNamespace(now=100.0, monotonic=lambda: clock.now)
    monkeypatch.setattr(retries, "time", clock)
    one = Retries()
    assert one.are_due()
    with pytest.raises(OSError, match="full"), one.attempt():
        clock.now = 130.0  # an attempt may take long
        raise OSError("full")
    assert not one.are_due()
    clock.now = 130.0 + retries.SECONDS
    assert one.are_due()
    with one.attempt():
        pass
    clock.now = 0.0
    assert one.are_due()
