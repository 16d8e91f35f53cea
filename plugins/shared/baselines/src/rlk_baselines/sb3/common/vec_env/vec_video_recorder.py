"""`VecVideoRecorder`: films of a vector."""

from rlk_baselines.common.vec_env.vec_video_recorder import VecVideoRecorder

__all__ = ["VecVideoRecorder"]
