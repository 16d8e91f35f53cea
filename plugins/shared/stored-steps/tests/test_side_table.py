"""The table of observations outside the order of steps: rows that are taken, freed and kept."""

from __future__ import annotations

import numpy as np
import pytest

from rlk.errors import RlkError
from rlk_stored_steps.checks import check_layout
from rlk_stored_steps.leaves import Leaf
from rlk_stored_steps.side_table import SideTable

NUMBER = (Leaf(None, (), np.dtype(np.float32)),)


def table(n_latest: int = 2) -> SideTable:
    return SideTable(NUMBER, n_latest)


def keep(made: SideTable, *times: int) -> list[int]:
    """Keeps ten times the number of every time."""
    return [made.keep(time, (10.0 * time,)) for time in times]


def test_rows_follow_the_latest_ones_and_are_freed_up_to_a_time() -> None:
    made = table()
    assert keep(made, 1, 1, 2, 3) == [2, 3, 4, 5]
    made.release(2)
    assert keep(made, 4, 5, 6) == [4, 3, 2], "those of the times 1 and 2"
    assert made.stores[0][[5, 4, 3, 2]].tolist() == [30.0, 40.0, 50.0, 60.0]
    assert keep(made, 7) == [6], "nothing of time 3 was freed"


def test_a_full_table_doubles_and_keeps_what_it_holds() -> None:
    made = table()
    rows = keep(made, *range(16))
    made.latest[0][:] = [-1.0, -2.0]
    before = made.stores[0]
    assert not made.reserve(0) and made.reserve(1) and made.stores[0] is not before
    assert len(made.stores[0]) == 36
    assert made.stores[0][rows].tolist() == [10.0 * time for time in range(16)]
    assert made.latest[0].tolist() == [-1.0, -2.0]
    assert np.shares_memory(made.latest[0], made.stores[0])
    assert not set(keep(made, *range(16, 34))) & {0, 1, *rows}


def test_room_is_made_for_all_observations_at_once() -> None:
    made = table()
    assert made.reserve(100) and len(made.stores[0]) == 18 * 8
    assert not made.reserve(100)


@pytest.mark.parametrize(("here", "there"), [(40, 3), (3, 40)])
def test_a_saved_table_is_taken_over_whatever_was_kept_before(here: int, there: int) -> None:
    made, saved = table(), table()
    keep(made, *range(5, 5 + here))
    rows = keep(saved, *range(there))
    saved.latest[0][:] = [-1.0, -2.0]
    made.load_state_dict(saved.state_dict())
    assert made.stores[0][rows].tolist() == [10.0 * time for time in range(there)]
    assert made.latest[0].tolist() == [-1.0, -2.0]
    for one in (made, saved):
        one.release(1)
    assert keep(made, 90, 91, 92) == keep(saved, 90, 91, 92)
    assert made.stores[0].tolist() == saved.stores[0].tolist()


def test_a_layout_that_has_more_or_less_or_something_else_is_refused() -> None:
    check_layout("replay", {"n": 2, "shape": (3,)}, {"shape": (3,), "n": 2}, "n_envs")
    for saved in ({"n": 2}, {"n": 2, "shape": (4,)}, {"n": 2, "shape": (3,), "keys": ["a"]}):
        with pytest.raises(RlkError, match=r"does not fit the run: .* Use the same n_envs"):
            check_layout("replay", saved, {"n": 2, "shape": (3,)}, "n_envs")
