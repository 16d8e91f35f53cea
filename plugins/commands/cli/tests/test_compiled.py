"""What compiled code shows of a factory, and what it leaves open."""

import importlib

import pytest

from rlk_cli.compiled import is_sound

METHODS = {"step", "state_dict"}
SOUND = "class Made:\n    def step(self): ...\n    def state_dict(self): ...\n"


@pytest.fixture
def settled(tmp_path, monkeypatch):
    """A function of a source: whether `Made` in it is seen to be sound."""
    monkeypatch.syspath_prepend(str(tmp_path))

    def ask(source):
        (tmp_path / "made_to_be_read.py").write_text(source)
        importlib.invalidate_caches()
        return is_sound("made_to_be_read:Made", METHODS)

    return ask


@pytest.mark.parametrize(
    "source",
    [
        SOUND,
        SOUND + "    def rlk_step(self): ...\n",
        "raise ImportError  # it is not run\n" + SOUND,
        "import functools\n@functools.cache\ndef Made(config): ...\n",
    ],
)
def test_what_has_everything_is_settled(settled, source):
    assert settled(source)


@pytest.mark.parametrize(
    "source",
    [
        "class Made:\n    def step(self): ...\n",
        "class Base:\n    def step(self): ...\nclass Made(Base):\n    def state_dict(self): ...\n",
        "class Made:\n    step = state_dict = print\n",
        "from json import loads as Made\n",
        "Made = dict\n",
        "",
        SOUND + "    def rlk_stepp(self): ...\n",
        SOUND + "def rlk_stepp(): ...\n",
    ],
)
def test_what_is_missing_or_defined_otherwise_is_left_open(settled, source):
    assert not settled(source)


def test_a_module_that_is_not_python_is_left_open():
    assert not is_sound("math:sqrt", set())
    assert not is_sound("is_nowhere:Made", set())


def test_a_source_that_does_not_compile_is_an_error(settled):
    with pytest.raises(SyntaxError):
        settled("class Made(:\n")
