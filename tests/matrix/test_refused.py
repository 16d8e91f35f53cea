"""Every combination that is not allowed is refused, and the error names both sides."""

from __future__ import annotations

import itertools

import pytest
from matrix.product import FACTORS, Combination, Parts, covering, everything, keywords
from matrix.rules import conflicts

from rlk.errors import PlanError
from rlk.planning.resolve import resolve
from rlk.planning.spec import make_spec
from rlk.registry.kernel import default_kernel

KERNEL = default_kernel()
#: What a message about components is made of; observations and actions are tried within each group.
PARTS = ("algorithm", "policy", "storage")
#: PARTS -> (observation, action) -> with each backend and extension.
GROUPS: dict[Parts, dict[tuple[str, str], list[Combination]]] = {}
for each in everything():
    group = GROUPS.setdefault(each.parts(*PARTS), {})
    group.setdefault((each.observation, each.action), []).append(each)


def in_turn(group, turn):
    """A part of a group in which every observation and every action is, and the others.

    No refusal is about more than two of algorithm, policy, storage, observation and action, and
    none about backend or extension. So a test run tries groups in which every pair of the first
    three is, every observation with one action, backend and extension, others in every group, and
    the rest with -m matrix_full.
    """
    n_actions = len(FACTORS["action"])
    tried, others = [], []
    for index, variants in enumerate(group.values()):
        observation, action = divmod(index, n_actions)
        chosen = (observation + turn // n_actions) % len(variants)
        if (observation + turn) % n_actions == action:
            tried.append(variants[chosen])
            others += variants[:chosen] + variants[chosen + 1 :]
        else:
            others += variants
    return tried, others


CASES = []
COVERING = set(covering(GROUPS))
for turn, (parts, group) in enumerate(GROUPS.items()):
    tried, others = in_turn(group, turn)
    assert {one.observation for one in tried} == set(FACTORS["observation"])
    assert {one.action for one in tried} == set(FACTORS["action"])
    name = "-".join(value for _, value in parts)
    marks = [] if parts in COVERING else [pytest.mark.matrix_full]
    CASES += [
        pytest.param(tried, id=name, marks=marks),
        pytest.param(others, id=f"{name}-rest", marks=pytest.mark.matrix_full),
    ]


def refusal(one):
    """The message that the plan is refused with, or None."""
    try:
        resolve(KERNEL, make_spec(one.algorithm, keywords(one)))
    except PlanError as error:
        return str(error)
    return None


def faults(one, message):
    """What is wrong with an answer, by the tables in rules.py."""
    found = conflicts(one)
    if not found or message is None:
        return [] if not found and message is None else [f"answered {message!r}, knows {found}"]
    lines = [line for line in message.splitlines() if ", but " in line or "cannot" in line]
    wrong = [f"untrue: {line}" for line in lines if not any(c.is_told(line) for c in found)]
    for part, about in itertools.groupby(found, key=lambda each: each.part):
        about = list(about)
        if not any(each.is_told(line) for each in about for line in lines):
            wrong.append(f"{part}: no line names {[each.other for each in about]}")
    if "rlk plugins list" not in message and "--plugin no:" not in message:
        wrong.append("says nothing of what to type")
    return wrong


@pytest.mark.combinations("group", CASES)
def test_the_plan_refuses_what_the_tables_refuse_and_nothing_else(group, counted):
    wrong = {}
    for one in group:
        message = refusal(one)
        if found := faults(one, message):
            wrong[str(one)] = (found, message)
        elif message is not None:
            counted("refused while planning, naming both sides")
    assert not wrong
