"""What the checks of a vector-environment backend share: how they make one."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Sequence
from typing import Any, ClassVar

from rlk_testing.contracts.shared.contract import Contract
from rlk_testing.contracts.vec_env.plain_loop import makers

_KINDS: tuple[dict[str, Any], ...] = (
    {"length": 3},
    {"continuous": True, "length": 4},
    {"observation": "dict", "infos": True},
    {"observation": "image"},
)


class VecEnvSuite(Contract):
    """Makes the backend; `VecEnvContract` describes the class attributes."""

    kind = "vec_envs"
    n_envs: ClassVar[int] = 3
    n_steps: ClassVar[int] = 40
    n_scripts: ClassVar[int] = 8
    kinds: ClassVar[tuple[dict[str, Any], ...]] = _KINDS
    takes_functions: ClassVar[bool] = True
    takes_options: ClassVar[bool] = True
    resets_some: ClassVar[bool] = True
    counts_steps: ClassVar[str] = "steps"

    @contextlib.contextmanager
    def made_of(self, env_fns: Sequence[Any], **keywords: Any) -> Iterator[Any]:
        """The backend with these environments, closed afterwards."""
        config = self.config()
        made = {} if config is None else {"config": config}
        env = self.record().load()(list(env_fns), **made, **keywords)
        try:
            yield env
        finally:
            env.close()

    def env(
        self,
        n_envs: int | None = None,
        info_keys: tuple[str, ...] | None = (),
        **keywords: Any,
    ) -> contextlib.AbstractContextManager[Any]:
        """The backend with `Walk` environments of these keywords, closed afterwards."""
        kept = {} if info_keys == () else {"info_keys": info_keys}
        return self.made_of(makers(n_envs or self.n_envs, **keywords), **kept)

    def seeds(self) -> list[int]:
        return [100 + 7 * i for i in range(self.n_envs)]
