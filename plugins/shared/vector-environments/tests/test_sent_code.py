"""What a script defines arrives in another process as it was, and with the name of its file."""

from __future__ import annotations

import pickle
import sys
import traceback
import types

import pytest

from rlk_vector_environments import sent_code

SCRIPT = """
class Maze:
    size = 3

    def step(self, action):
        def inner():
            return 1 / action
        return inner()

make = lambda: Maze()
"""


@pytest.fixture
def script():
    """A module that no other process can import, as a main script is for them."""
    module = types.ModuleType("__main__")
    exec(compile(SCRIPT, "/home/me/script.py", "exec"), module.__dict__)
    return module


def test_a_class_and_the_functions_in_it_keep_their_file(script):
    made = pickle.loads(sent_code.dumps([script.make]))[0]()
    assert made.size == 3 and made.step(2) == 0.5
    with pytest.raises(ZeroDivisionError) as failed:
        made.step(0)
    frames = traceback.extract_tb(failed.tb)[1:]
    assert [(f.filename, f.lineno, f.name) for f in frames] == [
        ("/home/me/script.py", 8, "step"),
        ("/home/me/script.py", 7, "inner"),
    ]


def test_what_can_be_imported_is_sent_by_its_name():
    assert pickle.loads(sent_code.dumps({"at": sent_code.dumps}))["at"] is sent_code.dumps


def test_what_cannot_be_pickled_is_refused(script):
    script.make.held = (number for number in [1])
    with pytest.raises(TypeError, match="generator"):
        sent_code.dumps(script.make)


@pytest.fixture
def found_nowhere(script, monkeypatch):
    """The script as a module that is loaded again: by `len` of a name, to see which one is sent."""
    script.__name__ = script.Maze.__module__ = script.make.__module__ = "found_nowhere"
    script.__load_again__ = len
    monkeypatch.setitem(sys.modules, "found_nowhere", script)
    return script


def test_what_a_module_loads_again_is_sent_by_its_name_there(found_nowhere):
    sent = sent_code.dumps([found_nowhere.Maze, found_nowhere])
    assert pickle.loads(sent) == [len("Maze"), len("")]


def test_what_has_no_name_of_its_own_in_such_a_module_is_sent_by_value(found_nowhere):
    first = found_nowhere.Maze
    found_nowhere.Maze = type("Maze", (first,), {"__module__": "found_nowhere", "size": 4})
    assert [one.size for one in pickle.loads(sent_code.dumps([first]))] == [3]
    assert callable(pickle.loads(sent_code.dumps(found_nowhere.make)))
