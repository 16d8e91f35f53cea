"""How the signature of a user's function is told in errors."""

from rlk.signatures import without_suggestion


def test_the_suggestion_that_newer_pythons_add_is_left_out():
    error = TypeError("f() got an unexpected keyword argument 'sise'. Did you mean 'size'?")
    assert without_suggestion(error) == "f() got an unexpected keyword argument 'sise'"
    assert without_suggestion(TypeError("f() takes 1 argument")) == "f() takes 1 argument"
