"""Every allowed combination trains, is saved, and acts the same after it is loaded."""

from __future__ import annotations

import pytest
from matrix.product import covering, everything, keywords
from matrix.rules import conflicts, eager, graphs
from matrix.trial import trial

ALLOWED = [one for one in everything() if not conflicts(one)]
COVERING = set(covering(one.parts() for one in ALLOWED))
CASES = [
    pytest.param(one, id=str(one), marks=[] if one.parts() in COVERING else pytest.mark.matrix_full)
    for one in ALLOWED
]


@pytest.mark.combinations("one", CASES)
def test_it_trains_saves_loads_and_acts_the_same(one, tmp_path, capfd, counted):
    compiled = one.extension == "compile"

    def look(agent):
        if compiled:
            check_compiled(one, agent, capfd.readouterr().err)

    settings = {**keywords(one), "verbose": int(compiled)}
    # Tracing anew takes long; the tests of rlk-compile go on compiled.
    trial(one.algorithm, settings, tmp_path, goes_on=not compiled, look=look)
    counted("allowed: trained, saved, loaded, acted the same")


def check_compiled(one, agent, printed):
    """Updates are graphs where they should be; for others, a reason is printed."""
    update, expected = agent.run.hooks.get("compile").update, graphs(one)
    assert {key for key, _ in getattr(update, "reports", ())} == expected, printed
    assert set(getattr(update, "reasons", ())) == eager(one)
    assert ("is one graph" in printed) == bool(expected)
    assert ("runs eagerly" in printed) == (not expected or bool(eager(one)))
