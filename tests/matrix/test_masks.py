"""Masks of actions with every algorithm, policy and backend, or refused while planning.

The game refuses what its mask forbids: a run without an error has only chosen allowed actions.
"""

from __future__ import annotations

import pytest
from matrix.product import ALGORITHMS, covering, everything, keywords, run_settings
from matrix.rules import COUNTABLE, actions, conflicts, masks
from matrix.trial import trial

from rlk.errors import PlanError
from rlk.planning.resolve import resolve
from rlk.planning.spec import make_spec
from rlk.registry.kernel import default_kernel
from rlk_testing.environments.masked_game import OBSERVATIONS

GAME = "rlk_testing.environments:MaskedGame"
#: That masks can be traced is tested with rlk-compile.
ALLOWED = {
    one.parts(): one
    for one in everything()
    if one.extension == "none"
    and one.observation in OBSERVATIONS
    and masks(one.algorithm, one.action)
    and not conflicts(one)
}
COVERING = set(covering(ALLOWED))
CASES = [
    pytest.param(one, id=str(one), marks=[] if parts in COVERING else pytest.mark.matrix_full)
    for parts, one in ALLOWED.items()
]
REFUSED = [
    (algorithm, action)
    for algorithm in ALGORITHMS
    for action in (*COUNTABLE, "Box")
    if action in actions(algorithm) and not masks(algorithm, action)
]


@pytest.mark.combinations("one", CASES)
def test_a_masked_policy_tries_nothing_that_is_forbidden(one, tmp_path, counted):
    settings = {**keywords(one), "env": GAME}
    settings["plugins"] = [*settings["plugins"], "action-masking"]
    trial(one.algorithm, settings, tmp_path)
    counted("masked: trained, saved, loaded, acted the same")


@pytest.mark.parametrize(("algorithm", "action"), REFUSED)
def test_what_cannot_be_masked_is_refused_saying_what_to_type(algorithm, action, counted):
    game = {"env": GAME, "env.action": action, "plugins": ["action-masking"]}
    with pytest.raises(PlanError) as caught:
        resolve(default_kernel(), make_spec(algorithm, {**run_settings(algorithm), **game}))
    message = str(caught.value)
    whose = "the environment's are Box" if action == "Box" else f"algorithm {algorithm!r}"
    assert "plugin 'action-masking' (rlk-action-masking)" in message and whose in message
    assert "--plugin action-masking" in message or "--collects on-policy" in message
    counted("masks: refused while planning")
