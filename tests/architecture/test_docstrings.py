"""The summary of every docstring is a whole sentence, or announces what follows it.

A summary is the first paragraph. One that was cut in two ends with an abbreviation (`et al.`,
`eq.`), leaves a bracket open, or goes on with a year in the next paragraph. A line that was broken
anew by hand is much shorter than those around it, in the middle of a sentence.
"""

from __future__ import annotations

import ast
import inspect
import re
from collections.abc import Iterator
from pathlib import Path

import attrs
import pytest

from rlk.registry.kernel import Kernel

ROOT = Path(__file__).parents[2]
SOURCES = [
    *sorted((ROOT / "kernel" / "src").rglob("*.py")),
    *sorted(ROOT.glob("plugins/*/*/src/**/*.py")),
]
ENDS = (".", ":", "?")
ABBREVIATION = re.compile(r"\b(et al|eqs?|figs?|sec|pp?|vol|no|cf|e\.g|i\.e)\.$")
#: Characters of a line that is too short to be one.
SHORT = 25
#: A pair of brackets with none inside; `[0, 1)` is one.
PAIR = re.compile(r"[\[(][^\[\]()]*[\])]")


def summaries(file: Path) -> Iterator[tuple[str, str]]:
    """Where a docstring is, and the docstring, for all in a file."""
    for node in ast.walk(ast.parse(file.read_text())):
        kinds = ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef
        if isinstance(node, kinds) and (text := ast.get_docstring(node)):
            name = getattr(node, "name", "module")
            yield f"{file.relative_to(ROOT)}:{getattr(node, 'lineno', 1)} {name}", text


def fault(docstring: str) -> str:
    """What is wrong with its summary; empty if nothing is."""
    summary, _, rest = docstring.partition("\n\n")
    if not summary.endswith(ENDS):
        return f"ends without a full stop: {summary!r}"
    if ABBREVIATION.search(summary):
        return f"is cut after an abbreviation: {summary!r}"
    if re.match(r"(19|20)\d\d\b", rest):
        return f"goes on in the next paragraph: {summary!r}"
    if "(" in brackets_left(summary) or ")" in brackets_left(summary):
        return f"leaves a bracket open: {summary!r}"
    return ""


def stub(docstring: str) -> str:
    """A line of a few words in the middle of a sentence, where the next word would have fitted."""
    lines = inspect.cleandoc(docstring).splitlines()
    for before, line, after in zip(lines, lines[1:], lines[2:], strict=False):
        runs_on = re.fullmatch(r"[a-z][\w ,']*[\w,]", line) and re.match(r"[a-z]", after)
        if len(line) < SHORT and runs_on and len(before) > 2 * SHORT:
            return line
    return ""


def brackets_left(text: str) -> str:
    """The text without code and without pairs of brackets."""
    text = re.sub(r"`[^`]*`", "", text)
    while (shorter := PAIR.sub("", text)) != text:
        text = shorter
    return text


def test_every_docstring_begins_with_a_whole_sentence_and_no_line_stops_short_in_one() -> None:
    found = [one for file in SOURCES for one in summaries(file)]
    assert len(found) > 1000
    wrong = [f"{place}: {why}" for place, text in found if (why := fault(text))]
    short = [f"{place} stops short: {line!r}" for place, text in found if (line := stub(text))]
    assert not [*wrong, *short], "\n".join([*wrong, *short])


def test_a_line_that_stops_short_is_found() -> None:
    long = "A gradient that is not finite, or a loss that is not accepted, leaves everything"
    assert stub(f"{long}\nwithout a\nbranch of its own.") == "without a"
    assert stub(f"{long}\nwithout a branch.\nAnother sentence.") == ""


def test_the_docstring_of_every_config_explains_its_settings(rlk_kernel: Kernel) -> None:
    configs = {
        entry.component().config
        for entry in rlk_kernel.registries.every_entry()
        if entry.dist.startswith("rlk-")
    } - {None}
    assert len(configs) > 50
    for config in configs:
        explained = " ".join(str(config.__doc__).split())
        for field in attrs.fields(config):
            assert f" {field.name}: {field.metadata['help']}" in explained, config


@pytest.mark.parametrize(
    "docstring",
    [
        "PPO2: Schulman et al.\n\n2017, arXiv 1707.06347.",
        "The update of Mnih et al.",
        "The loss, eq.\n\n7 of the paper.",
        "A summary without an end",
        "Clipped (as in the paper.\n\nOr not).",
        "The loss of the first version.\n\n2017, arXiv 1707.06347, has another.",
    ],
)
def test_a_summary_that_is_cut_is_found(docstring: str) -> None:
    assert fault(docstring)


@pytest.mark.parametrize(
    "docstring",
    [
        "PPO2: Schulman et al. 2017, arXiv 1707.06347.\n\nClipped.",
        "A number in [0, 1), which `f(` shows.",
        "What a plugin may ask:\n\n    rlk plugins list",
        "Is it installed?",
    ],
)
def test_a_whole_summary_is_not(docstring: str) -> None:
    assert fault(docstring) == ""
