"""Conditions under which a check applies to a component, evaluated when tests are collected.

    @applies(lambda suite: suite.record().config is not None)
    def test_every_setting_has_a_help_text(self) -> None: ...

A check that does not apply is deselected. A skipped test means that this machine lacks something,
or that only the check itself could find out that it does not apply; it says which. If a condition
raises an exception, the check is kept and fails by itself.
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
        asked: conditions on an instance of the suite, which must all hold. They are evaluated
            when tests are collected, so they may look at records and classes but build nothing.
    """

    def decorate(decorated: Decorated) -> Decorated:
        checks = [decorated] if not isinstance(decorated, type) else _own_checks(decorated)
        for check in checks:
            setattr(check, _QUESTIONS, (*questions(check), *asked))
        return decorated

    return decorate


def questions(check: object) -> tuple[Question, ...]:
    """The conditions of a check; empty if it always applies."""
    return getattr(check, _QUESTIONS, ())


def is_applicable(suite: Any, check: object) -> bool:
    """Whether a check applies to this suite; it does if a condition raises an exception."""
    try:
        return all(question(suite) for question in questions(check))
    except Exception:  # the check meets the same fault and reports it
        return True


def _own_checks(suite: type) -> list[Any]:
    return [value for name, value in vars(suite).items() if name.startswith("test_")]
