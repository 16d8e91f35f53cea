"""`VecEnv` and `VecEnvWrapper`: the interface of vector environments of Stable Baselines 2.10.

`reset` returns only observations, `step` returns observations, rewards, dones and a list of infos.
Where `dones[i]` is true, the observation is the first of the next episode; the last one of the
ended episode is `infos[i]["terminal_observation"]`. Shapes: N environments.
"""

from __future__ import annotations

import inspect
import secrets
from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import cloudpickle

from rlk.errors import PlanError, RlkError
from rlk.program_warnings import warn_program
from rlk.records import Array
from rlk_baselines.environments.window import show
from rlk_films import tiled

Indices = int | Iterable[int] | None
Stepped = tuple[Any, Array, Array, list[dict[str, Any]]]


#: The methods that every class of vectors defines.
_OF_EVERY = (
    *("reset", "step_async", "step_wait", "close"),
    *("get_attr", "set_attr", "env_method", "seed", "env_is_wrapped"),
)


class AlreadySteppingError(RlkError):
    """`step_async` was called while a step was under way."""

    def __init__(self) -> None:
        super().__init__("already running an async step: call step_wait() first")


class NotSteppingError(RlkError):
    """`step_wait` was called without a step under way."""

    def __init__(self) -> None:
        super().__init__("not running an async step: call step_async(actions) first")


class VecEnv(ABC):
    """A vector of environments that are stepped together.

    A vector of Stable-Baselines3 itself, as other libraries make them, counts as one, too.

    Args:
        num_envs: N.
        observation_space: of one environment.
        action_space: of one environment.
    """

    metadata: Mapping[str, Any] = {"render.modes": ["human", "rgb_array"]}
    _seeds: list[int] | None = None  #: for the next reset: see `seed`

    @classmethod
    def __subclasshook__(cls, kind: type) -> Any:
        """Whether a class has the methods of Stable-Baselines3's `VecEnv`."""
        is_one = all(hasattr(kind, name) for name in (*_OF_EVERY, "getattr_depth_check"))
        return True if cls is VecEnv and is_one else NotImplemented

    def __init__(self, num_envs: int, observation_space: Any, action_space: Any) -> None:
        self.num_envs = num_envs
        self.observation_space = observation_space
        self.action_space = action_space

    @abstractmethod
    def reset(self) -> Any:
        """Start new episodes, and return observations [N, …]; a step in progress is discarded."""

    @abstractmethod
    def step_async(self, actions: Any) -> None:
        """Start a step with actions [N, …]; `step_wait` returns its results."""

    @abstractmethod
    def step_wait(self) -> Stepped:
        """Observations [N, …], rewards float [N], dones bool [N], and N infos."""

    @abstractmethod
    def close(self) -> None:
        """Close the environments."""

    @abstractmethod
    def get_attr(self, attr_name: str, indices: Indices = None) -> list[Any]:
        """The attribute of every environment, or of those with these indices."""

    @abstractmethod
    def set_attr(self, attr_name: str, value: Any, indices: Indices = None) -> None:
        """Set the attribute of every environment, or of those with these indices."""

    @abstractmethod
    def env_method(
        self, method_name: str, *method_args: Any, indices: Indices = None, **method_kwargs: Any
    ) -> list[Any]:
        """Call the method of every environment, or of those with these indices; the results."""

    def seed(self, seed: int | None = None) -> list[Any]:
        """Seed environment i by `seed + i` at the next reset; returns the N seeds.

        This method only notes them as `_seeds`, for `reset` of a class that does not override it.

        Args:
            seed: of the first environment; None draws one from the operating system.
        """
        first = secrets.randbits(31) if seed is None else seed
        self._seeds = [first + i for i in range(self.num_envs)]
        return list(self._seeds)

    def has_attr(self, attr_name: str) -> bool:
        """Whether every environment has the attribute."""
        try:
            self.get_attr(attr_name)
        except AttributeError:
            return False
        return True

    def env_is_wrapped(self, wrapper_class: Any, indices: Indices = None) -> list[bool]:
        """Whether each environment is in a wrapper of a class, or of one of a tuple of classes."""
        return self.env_method("is_wrapped", wrapper_class, indices=indices)

    def step(self, actions: Any) -> Stepped:
        """Step every environment: see `step_wait`."""
        self.step_async(actions)
        return self.step_wait()

    def get_images(self) -> Sequence[Array]:
        """A frame of every environment, uint8 [H, W, 3]."""
        raise NotImplementedError(f"{type(self).__name__} gives no images: define get_images().")

    def render(self, mode: str | None = None) -> Any:
        """Show the frames of all environments in one image, or return it for `rgb_array`.

        A vector that gives no images causes a warning, and the result is None.

        Args:
            mode: `human` or `rgb_array`. None means `human`, or `rgb_array` if the environments
                have Gymnasium's interface and were made with `render_mode="rgb_array"`.

        Raises:
            NotImplementedError: if `mode` is another one.
        """
        mode = mode or self._usual_mode()
        try:
            images = self.get_images()
        except NotImplementedError as error:
            warn_program(f"nothing is rendered: {error}")
            return None
        image = tiled(images)
        if mode == "rgb_array":
            return image
        if mode == "human":
            return show(image)
        raise NotImplementedError(f"render has the modes 'human' and 'rgb_array', got {mode!r}")

    def _usual_mode(self) -> str:
        """The mode that `render` uses if it is given none."""
        return "human"

    @property
    def unwrapped(self) -> VecEnv:
        """The innermost vector, without wrappers."""
        return self.venv.unwrapped if isinstance(self, VecEnvWrapper) else self

    def getattr_depth_check(self, name: str, already_found: bool) -> str | None:
        """The class of a vector whose attribute `name` is shadowed by an outer one's, or None."""
        if hasattr(self, name) and already_found:
            return f"{type(self).__module__}.{type(self).__name__}"
        return None

    def _get_indices(self, indices: Indices) -> list[int]:
        if indices is None:
            return list(range(self.num_envs))
        return [indices] if isinstance(indices, int) else list(indices)


class VecEnvWrapper(VecEnv):
    """A vector that wraps another one. Attributes that it lacks are looked up in the inner vector.

    Args:
        venv: the inner vector.
        observation_space: of one environment; None means that of the inner vector.
        action_space: likewise.

    Raises:
        PlanError: for an environment that is no vector.
    """

    def __init__(
        self, venv: VecEnv, observation_space: Any = None, action_space: Any = None
    ) -> None:
        refuse_single(venv, type(self))
        self.venv = venv
        super().__init__(
            venv.num_envs,
            observation_space or venv.observation_space,
            action_space or venv.action_space,
        )
        self.class_attributes = dict(inspect.getmembers(type(self)))

    def step_async(self, actions: Any) -> None:
        self.venv.step_async(actions)

    @abstractmethod
    def reset(self) -> Any:
        """As in `VecEnv`."""

    @abstractmethod
    def step_wait(self) -> Stepped:
        """As in `VecEnv`."""

    def close(self) -> None:
        self.venv.close()

    def render(self, mode: str | None = None) -> Any:
        return self.venv.render() if mode is None else self.venv.render(mode=mode)

    def get_images(self) -> Sequence[Array]:
        return self.venv.get_images()

    def seed(self, seed: int | None = None) -> list[Any]:
        return self.venv.seed(seed)

    def has_attr(self, attr_name: str) -> bool:
        return self.venv.has_attr(attr_name)

    def env_is_wrapped(self, wrapper_class: Any, indices: Indices = None) -> list[bool]:
        return self.venv.env_is_wrapped(wrapper_class, indices=indices)

    def get_attr(self, attr_name: str, indices: Indices = None) -> list[Any]:
        return self.venv.get_attr(attr_name, indices)

    def set_attr(self, attr_name: str, value: Any, indices: Indices = None) -> None:
        self.venv.set_attr(attr_name, value, indices)

    def env_method(
        self, method_name: str, *method_args: Any, indices: Indices = None, **method_kwargs: Any
    ) -> list[Any]:
        return self.venv.env_method(method_name, *method_args, indices=indices, **method_kwargs)

    def __getattr__(self, name: str) -> Any:
        """The attribute of an inner vector.

        Raises:
            AttributeError: if no inner vector has it, or several do, which would be ambiguous.
        """
        if name == "venv":  # before __init__, for example during unpickling
            raise AttributeError(name)
        hidden = self.getattr_depth_check(name, already_found=False)
        if hidden is not None:
            own = f"{type(self).__module__}.{type(self).__name__}"
            raise AttributeError(
                f"{own} has no {name!r}, and several of the vectors inside have one, {hidden} "
                "among them: reach for it by venv"
            )
        return getattr(self.venv, name)

    def getattr_depth_check(self, name: str, already_found: bool) -> str | None:
        has_it = name in vars(self) or name in dir(type(self))
        if has_it and already_found:
            return f"{type(self).__module__}.{type(self).__name__}"
        return self.venv.getattr_depth_check(name, already_found or has_it)


def refuse_single(venv: Any, wrapper: type[VecEnvWrapper]) -> None:
    """Refuse what is no vector; called first by wrappers that read a space before they wrap.

    Args:
        venv: what a wrapper was given.
        wrapper: its class.

    Raises:
        PlanError: for an environment, or anything else that is no `VecEnv`.
    """
    if not isinstance(venv, VecEnv):
        raise PlanError(
            f"{wrapper.__name__} wraps a vector of environments (VecEnv), got "
            f"{type(venv).__name__}. Write {wrapper.__name__}(DummyVecEnv([lambda: env]))."
        )


class CloudpickleWrapper:
    """Makes a function picklable by cloudpickle, even one that is defined in a notebook.

    Args:
        var: the function.
    """

    def __init__(self, var: Any) -> None:
        self.var = var

    def __getstate__(self) -> Any:
        return cloudpickle.dumps(self.var)

    def __setstate__(self, obj: Any) -> None:
        self.var = cloudpickle.loads(obj)
