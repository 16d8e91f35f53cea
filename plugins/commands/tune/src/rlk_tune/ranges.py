"""Ranges of settings in the grammar of `--search`: `LOW:HIGH`, `log:LOW:HIGH` or `A,B,C`.

Whole bounds give whole numbers (`1:20`), others any number between them (`0.0:0.1`); `log:` makes
each power of ten as likely as the next. Commas inside brackets and quotes do not separate.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any

import attrs

from rlk.errors import PlanError
from rlk.planning.parse import parse_value, split_at_commas

FORMS = "NAME=LOW:HIGH, NAME=log:LOW:HIGH or NAME=A,B,C"


@attrs.frozen
class Interval:
    """All numbers from `low` to `high`, both included; whole numbers if both bounds are."""

    low: int | float
    high: int | float
    is_log: bool = False

    @property
    def is_whole(self) -> bool:
        return isinstance(self.low, int) and isinstance(self.high, int)

    def probes(self) -> tuple[Any, ...]:
        """The values that planning must accept to accept all values between.

        These are the bounds and, because 1000.0 is accepted for a whole number, one with decimals.
        """
        between = () if self.is_whole else (self.low + (self.high - self.low) / math.pi,)
        return self.low, self.high, *between

    def value(self, drawn: Any) -> Any:
        """The setting for a drawn value."""
        return drawn

    def of_whole_numbers(self) -> Interval | None:
        """The whole numbers between the same bounds, if only the way they are written is not."""
        if self.is_whole or not (float(self.low).is_integer() and float(self.high).is_integer()):
            return None
        return Interval(int(self.low), int(self.high), self.is_log)

    def __str__(self) -> str:
        return f"{'log:' if self.is_log else ''}{self.low}:{self.high}"


@attrs.frozen
class Choice:
    """Values to choose from, each kept as typed, because storages do not support lists."""

    texts: tuple[str, ...]

    def probes(self) -> tuple[Any, ...]:
        return self.texts

    def value(self, drawn: Any) -> Any:
        return parse_value(drawn)

    def __str__(self) -> str:
        return ",".join(self.texts)


Range = Interval | Choice


def parse_search(pair: str) -> tuple[str, Range]:
    """`NAME=RANGE` as a name and a range.

    Raises:
        PlanError: if the text has another form; the message says what to type.
    """
    name, found, text = (part.strip() for part in pair.partition("="))
    if not found or not name or not text:
        raise PlanError(f"a search is {FORMS}, as in --search gamma=0.9,0.99; got {pair!r}.")
    return name, parse_range(name, text)


def parse_searches(pairs: Iterable[str]) -> dict[str, Range]:
    """The ranges of several `--search`; PlanError as in `parse_search`, and for a repeated name."""
    found: dict[str, Range] = {}
    for name, range_ in map(parse_search, pairs):
        if name in found:
            raise PlanError(f"--search {name} is given twice: {found[name]} and {range_}.")
        found[name] = range_
    return found


def parse_range(name: str, text: str) -> Range:
    """The range of a setting; PlanError as in `parse_search`."""
    texts = tuple(part.strip() for part in split_at_commas(text))
    if len(texts) > 1:
        return _choice(name, texts)
    kind, *bounds = text.split(":")
    is_log = kind.strip() == "log"
    low_high = bounds if is_log else [kind, *bounds]
    numbers = [parse_value(part.strip()) for part in low_high]
    if len(numbers) == 1 and not is_log:
        raise _single(name, text, text)
    if len(numbers) != 2 or not all(_is_finite(number) for number in numbers):
        raise PlanError(f"--search {name}={text}: {text!r} is not a range. Type {FORMS}.")
    low, high = numbers
    return _interval(name, text, low, high, is_log=is_log)


def _single(name: str, text: str, value: Any) -> PlanError:
    """The error for a range of one value."""
    return PlanError(
        f"--search {name}={text}: a single value is not a range. To fix it, type --set "
        f"{name}={value}; else {FORMS}."
    )


def _interval(name: str, text: str, low: Any, high: Any, *, is_log: bool) -> Interval:
    if low == high:
        raise _single(name, text, low)
    if low > high:
        raise PlanError(
            f"--search {name}={text}: LOW must be below HIGH, got {low} and {high}. Type --search "
            f"{name}={'log:' if is_log else ''}{high}:{low}."
        )
    if is_log and low <= 0:
        raise PlanError(
            f"--search {name}={text}: log: needs bounds above 0, got {low}. Type --search "
            f"{name}={low}:{high}, or a LOW above 0."
        )
    return Interval(low, high, is_log)


def _choice(name: str, texts: tuple[str, ...]) -> Choice:
    if "" in texts or len(set(texts)) < len(texts):
        what = "a value is missing" if "" in texts else "a value occurs twice"
        typed, several = ",".join(texts), tuple(dict.fromkeys(text for text in texts if text))
        if len(several) == 1:
            raise _single(name, typed, several[0])
        advice = f"--search {name}={','.join(several)}" if several else FORMS
        raise PlanError(f"--search {name}={typed}: {what} between the commas. Type {advice}.")
    return Choice(texts)


def _is_finite(value: Any) -> bool:
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    return is_number and math.isfinite(value)
