from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest

from rlk.errors import NotFinite
from rlk_step_collector.finite import refuse_non_finite


def test_the_environment_of_a_single_row_is_the_one_that_is_told():
    run = SimpleNamespace(plan=SimpleNamespace(env=SimpleNamespace(name="mine")), timesteps=8)
    with pytest.raises(NotFinite, match=r"environment 3 \(mine\) gave nan in observation\[1\]"):
        refuse_non_finite(run, None, np.array([[0.0, np.nan]]), env=3)
