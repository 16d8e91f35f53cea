"""Which checks of a suite apply to a component: asked when tests are collected.

    @applies(lambda suite: suite.record().config is not None)
    def test_every_setting_has_a_help_text(self) -> None: ...

A check that does not apply is deselected, so what a test run reports as skipped is what could not
be tested on this machine. A question that fails leaves the check where it is, to fail for itself.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

Question = Callable[[Any], bool]
Decorated = TypeVar("Decorated", bound=Callable[..., Any])
_QUESTIONS = "_rlk_applies"


def applies(*asked: Question) -> Callable[[Decorated], Decorated]:
    """Decorator of a check, or of a class for all the checks that it defines itself.

    Args:
        asked: whether the check applies to an instance of the suite; all must say so. They are
            asked when tests are collected, so they may look at records and classes, and must build
            nothing.
    """

    def decorate(decorated: Decorated) -> Decorated:
        checks = [decorated] if not isinstance(decorated, type) else _own_checks(decorated)
        for check in checks:
            setattr(check, _QUESTIONS, (*questions(check), *asked))
        return decorated

    return decorate


def questions(check: object) -> tuple[Question, ...]:
    """Those that decide whether this check applies; none where it always does."""
    found: tuple[Question, ...] = getattr(check, _QUESTIONS, ())
    return found


def is_applicable(suite: Any, check: object) -> bool:
    """Whether a check applies to this suite; a question that fails is no reason to leave it out."""
    try:
        return all(question(suite) for question in questions(check))
    except Exception:  # the check finds the same fault and reports it
        return True


def _own_checks(suite: type) -> list[Any]:
    return [value for name, value in vars(suite).items() if name.startswith("test_")]
