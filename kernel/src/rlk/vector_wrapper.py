"""The base of wrappers around vector environments: it passes on what they do not change."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

from gymnasium.vector import VectorWrapper

if TYPE_CHECKING:
    _Wrapper = VectorWrapper[Any, Any, Any, Any, Any]
else:  # it takes type arguments from Gymnasium 1.4 on
    _Wrapper = VectorWrapper


class TransparentVector(_Wrapper):
    """Gymnasium's VectorWrapper that also passes on `call`, `get_attr`, `get_state` and the rest.

    A wrapper that changes results and does not define `step_async` and `step_wait` names them in
    `withheld`, because stepping through them would bypass it.
    """

    withheld: ClassVar[tuple[str, ...]] = ()

    def __getattr__(self, name: str) -> Any:
        """What the environment offers besides Gymnasium's interface."""
        if name.startswith("_") or name == "env" or name in self.withheld:
            raise AttributeError(f"{type(self).__name__} has no attribute {name!r}")
        return getattr(self.env, name)
