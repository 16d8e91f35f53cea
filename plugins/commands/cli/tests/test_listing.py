"""The options by which `rlk plugins list` selects components."""

from __future__ import annotations

import pytest

from rlk_testing.tools.command_line import ended


@pytest.mark.parametrize(
    ("option", "word", "says"),
    [
        ("--collects", "onpolicy", "Did you mean 'on-policy'"),
        ("--action-space", "discrete", "Did you mean 'Discrete'"),
        ("--observation-space", "image", "Did you mean 'Image'"),
        ("--reports", "td_eror", "Did you mean 'td_error'"),
        ("--action-space", "Nonesuch", "Known: Box, Discrete, Multi"),
    ],
)
def test_a_word_that_no_component_declares_is_refused_with_the_nearest(
    option: str, word: str, says: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert ended("plugins", "list", option, word) == 2
    printed = capsys.readouterr()
    assert not printed.out
    assert f"unknown value of {option}: {word!r}." in printed.err
    assert says in " ".join(printed.err.split())


def test_words_that_select_nothing_together_say_so(capsys: pytest.CaptureFixture[str]) -> None:
    nothing = ["plugins", "list", "--kind", "noises", "--collects", "offline"]
    assert ended(*nothing) == 0
    assert capsys.readouterr() == ("", "no component matches all of these options\n")
    assert ended(*nothing, "--json") == 0
    assert capsys.readouterr() == ("[]\n", "")
