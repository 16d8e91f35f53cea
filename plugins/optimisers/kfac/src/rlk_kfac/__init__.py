"""K-FAC for rlk: `KfacConfig` has its settings."""

from rlk_kfac.config import KfacConfig

__all__ = ["KfacConfig"]
