"""`VecVideoRecorder`: records a vector's frames as mp4 files."""

from rlk_baselines.common.vec_env.vec_video_recorder import VecVideoRecorder

__all__ = ["VecVideoRecorder"]
