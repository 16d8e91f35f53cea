"""A state is complete or refused: nothing is left out that a new environment cannot know."""

from __future__ import annotations

import enum

import gymnasium as gym
import numpy as np
import pytest

from rlk.documents import MAX_DEPTH, parse_json
from rlk_vector_environments import how_made, making
from rlk_vector_environments.env_state import Unsupported, capture, restore
from rlk_zip.serializer import ZipSerializer


class Phase(enum.IntEnum):
    BUY = 0
    SELL = 1


class Flags(enum.Flag):
    A = 1
    B = 2


class Env(gym.Env):
    """Holds what a test gives it."""

    def __init__(self, **held):
        self.observation_space = gym.spaces.Discrete(2)
        self.action_space = gym.spaces.Discrete(100)
        vars(self).update(held)

    def one(self):
        return 1

    def two(self):
        return 2


def made(**held):
    return next(making.make_environments([lambda: Env(**held)]))


def through_a_file(state, path):
    serializer = ZipSerializer()
    serializer.write(path, {"manifest": {}, "environments": [state]})
    return serializer.read(path)["environments"][0]


def test_members_of_an_enum_come_back_as_themselves(tmp_path):
    env, other = made(phase=Phase.BUY, board=[]), made(phase=Phase.BUY, board=[])
    env.phase, env.board = Phase.SELL, [Phase.BUY, {"x": Phase.SELL}]
    restore(other, through_a_file(capture(env), tmp_path / "state.zip"))
    assert other.phase is Phase.SELL
    assert other.board == [Phase.BUY, {"x": Phase.SELL}] and other.board[0] is Phase.BUY


def test_a_file_names_no_class_and_no_member_that_the_environment_does_not_have():
    env = made(phase=Phase.BUY)
    for change in ({"name": "mro"}, {"class": "Command"}):
        state = capture(env)
        state["layers"][0]["attributes"]["phase"].update(change)
        with pytest.raises(Unsupported, match="which this environment does not have"):
            restore(env, state)


def test_a_member_whose_class_a_new_environment_may_not_know_is_refused():
    class Local(enum.Enum):
        X = 0

    env = made(kind=None)
    env.kind = Local.X
    with pytest.raises(Unsupported, match=r"Env\.kind holds .*Local\.X.* would not know its class"):
        capture(env)
    with pytest.raises(Unsupported, match=r"Env\.kind holds"):
        capture(made(kind=Flags.A | Flags.B))


def test_an_environment_held_by_another_that_is_no_wrapper_is_refused():
    with pytest.raises(Unsupported, match=r"Env\.env holds a gymnasium\..*TimeLimit"):
        capture(made(env=gym.make("CartPole-v1", disable_env_checker=True)))


def test_a_function_is_refused_unless_the_constructor_set_it():
    env, other = made(now=None, rule=len), made(now=None, rule=len)
    env.now = env.one
    other.now = other.one
    with pytest.raises(Unsupported, match=r"Env\.now holds <bound method Env\.one"):
        capture(env)
    env.now, env.rule = None, max
    with pytest.raises(Unsupported, match=r"Env\.rule holds <built-in function max"):
        capture(env)
    env.rule = len
    restore(other, capture(env))
    assert other.now is None and other.rule is len


def test_another_function_of_the_same_line_or_of_another_object_is_refused():
    def times(number):
        return lambda: number

    env = made(rule=times(2), act=Env().one, ready=True)
    assert capture(env)["layers"][0]["attributes"].keys() >= {"ready"}
    env.rule = times(3)
    with pytest.raises(Unsupported, match=r"Env\.rule holds"):
        capture(env)
    env = made(act=(first := Env()).one)
    env.act = first.one
    capture(env)
    env.act = Env().one
    with pytest.raises(Unsupported, match=r"Env\.act holds"):
        capture(env)


def test_a_module_that_is_imported_later_is_no_state():
    env = made(math=None)
    env.math = np
    assert "math" not in capture(env)["layers"][0]["attributes"]


def test_a_container_that_holds_itself_comes_back_as_one():
    tree = {}
    tree["children"] = [{"parent": tree}]
    env, other = made(tree=tree), made(tree=None)
    env.tree = [tree]
    restore(other, capture(env))
    (found,) = other.tree
    assert found["children"][0]["parent"] is found


def test_large_arrays_are_state_whatever_made_them():
    env, other = (made(table=np.zeros(200_000), small=np.zeros(2)) for _ in range(2))
    other.table[7] = 1.0
    note = how_made.of(env)
    assert "table" in note.digests and note.digests["table"] != how_made.of(other).digests["table"]
    assert note.digests["small"] == how_made.of(other).digests["small"]
    restore(other, capture(env))
    assert not other.table.any()


def test_a_factory_may_have_settings_of_its_own():
    class Own(Env):
        settings = {"reward": object()}

    assert isinstance(next(making.make_environments([Own])), Own)


def test_a_method_of_its_own_is_refused_if_nobody_noted_the_constructors():
    env = Env()
    env.now = [env.one]
    with pytest.raises(Unsupported, match=r"Env\.now holds"):
        capture(env)


def test_a_method_that_the_constructor_chose_stays_the_new_ones():
    class Choosing(Env):
        def __init__(self):
            super().__init__()
            self.now = self.one

    env, other = (next(making.make_environments([Choosing])) for _ in range(2))
    restore(other, capture(env))
    assert other.now.__self__ is other and other.now() == 1
    env.now = env.two
    with pytest.raises(Unsupported, match=r"Choosing\.now"):
        capture(env)


def test_the_vectors_of_a_renderers_package_are_state_and_its_surfaces_are_not():
    pygame = pytest.importorskip("pygame")
    for value in (pygame.Vector2(1, 2), pygame.Rect(0, 0, 1, 1), [pygame.Vector2(1, 2)]):
        with pytest.raises(Unsupported, match=r"Env\.place holds"):
            capture(Env(place=value))
    shown = {"screen": pygame.Surface((2, 2)), "clock": pygame.time.Clock()}
    assert capture(Env(**shown))["layers"][0]["attributes"] == {}


@pytest.mark.parametrize(
    "space",
    [
        gym.spaces.Box(-1.0, 1.0, (2,)),
        gym.spaces.Dict(a=gym.spaces.Discrete(9), b=gym.spaces.Tuple([gym.spaces.Discrete(9)])),
    ],
)
def test_the_generators_of_its_spaces_go_on(space, tmp_path):
    import copy

    envs = [made(action_space=copy.deepcopy(space), others=[gym.spaces.Discrete(99)]) for _ in "ab"]
    env, other = envs
    env.action_space.seed(3)
    env.action_space.sample()
    env.others[0].seed(4)
    restore(other, through_a_file(capture(env), tmp_path / "state.zip"))
    for _ in range(5):
        assert repr(env.action_space.sample()) == repr(other.action_space.sample())
        assert env.others[0].sample() == other.others[0].sample()


def test_a_generator_that_nobody_seeded_or_used_since_the_constructor_is_not_saved():
    def make():
        env = Env()
        assert env.action_space.np_random is not None  # from the system's entropy
        return env

    env, other = (next(making.make_environments([make])) for _ in range(2))
    state = capture(env)
    assert state["layers"][0]["generators"] == {}
    restore(other, state)
    env.action_space.sample()
    assert list(capture(env)["layers"][0]["generators"]) == ["action_space"]


def test_a_vector_leaves_the_generators_of_its_environments_alone():
    env = made()
    making.describe_vector(gym.vector.VectorEnv(), [making.describe(env)] * 2)
    assert capture(env)["layers"][0]["generators"] == {}


def test_a_space_that_draws_from_the_generator_of_its_environment_still_does():
    env, other = made(), made()
    env.np_random = np.random.default_rng(1)
    env.action_space._np_random = env.np_random
    restore(other, capture(env))
    assert other.action_space.np_random is other.np_random


# ---- what a file can hold ------------------------------------------------------------------------

NUMBERS = {
    "floats": [i / 7 for i in range(200_000)] + [float("nan"), float("inf"), -0.0],
    "integers": list(range(-100, 100)),
    "bools": [True, False] * 50,
    "large integers": [2**70] * 100,
    "mixed": [1, 2.0] * 50,
    "tuple": tuple(range(100)),
}


@pytest.mark.parametrize("name", NUMBERS)
def test_long_lists_of_numbers_come_back_with_their_types(name, tmp_path):
    env, other = made(held=None), made(held=None)
    env.held = NUMBERS[name]
    state = capture(env)
    restore(other, through_a_file(state, tmp_path / "state.zip"))
    assert type(other.held) is type(env.held)
    assert repr(other.held) == repr(env.held)
    assert list(map(type, other.held)) == list(map(type, env.held))


def test_numbers_of_the_other_byte_order_come_back(tmp_path):
    env, other = made(held=None), made(held=None)
    env.held = np.arange(6).astype(np.dtype(np.float64).newbyteorder()).reshape(2, 3)
    restore(other, through_a_file(capture(env), tmp_path / "state.zip"))
    assert other.held.dtype == env.held.dtype and other.held.tolist() == env.held.tolist()


@pytest.mark.parametrize(
    "value", [np.longdouble(1), np.zeros(2, np.longdouble), 10**4500], ids="abc"
)
def test_numbers_that_no_file_holds_are_refused(value):
    if isinstance(value, np.generic | np.ndarray) and value.dtype.itemsize <= 8:
        pytest.skip("long double is double on this machine")
    with pytest.raises(Unsupported, match=r"Env\.held holds a"):
        capture(made(held=value))


@pytest.mark.parametrize("around", [lambda value: [value], lambda value: {"a": value}])
def test_a_value_as_deep_as_is_accepted_fits_a_file(around, tmp_path):
    deepest = 0
    for _ in range(MAX_DEPTH):
        deepest = around(deepest)
        env = made(held=deepest)
        try:
            state = capture(env)
        except Unsupported as error:
            assert "within 35 other containers" in str(error)
            break
        through_a_file({"env": {"env": state}}, tmp_path / "state.zip")
    else:
        pytest.fail("no depth was refused")
    with pytest.raises(ValueError, match="nested too deep"):
        parse_json(b"[" * (MAX_DEPTH + 1) + b"]" * (MAX_DEPTH + 1))
