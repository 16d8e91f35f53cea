"""What planning knows of the wrappers in this distribution."""

from __future__ import annotations

from rlk.component import Component
from rlk_wrappers.checks import can_normalize, can_write_videos
from rlk_wrappers.config import MonitorConfig, NormalizeConfig
from rlk_wrappers.config_observations import (
    FrameStackConfig,
    HistoryConfig,
    TimeFeatureConfig,
    TransposeImageConfig,
)
from rlk_wrappers.config_steps import (
    ActionRepeatConfig,
    CheckNanConfig,
    RewardClipConfig,
    VideoRecorderConfig,
)

monitor = Component(
    name="monitor",
    factory="rlk_wrappers.vector_monitor:VectorMonitor",
    summary="records the return, length and time of every episode in monitor.csv",
    known_as=("Monitor", "VecMonitor"),
    config=MonitorConfig,
    wraps="vector",
    autostart="run",
    only_trains=True,
)
normalize = Component(
    name="normalize",
    factory="rlk_wrappers.normalize:normalize",
    summary="normalises observations and rewards by running statistics, as VecNormalize",
    known_as=("VecNormalize",),
    config=NormalizeConfig,
    check=can_normalize,
    wraps="vector",
)

# ---- observations --------------------------------------------------------------------------------

frame_stack = Component(
    name="frame-stack",
    factory="rlk_wrappers.frame_stack:FrameStack",
    summary="observations are the latest n_stack frames, as with VecFrameStack",
    known_as=("VecFrameStack",),
    config=FrameStackConfig,
    instead_of={"frame_stack": "n_stack={value}"},
    wraps="vector",
)
transpose_image = Component(
    name="transpose-image",
    factory="rlk_wrappers.transpose_image:TransposeImage",
    summary="images [height, width, channels] become [channels, height, width]",
    known_as=("VecTransposeImage",),
    config=TransposeImageConfig,
    observation_spaces=("Image", "Dict"),
    wraps="vector",
)
time_feature = Component(
    name="time-feature",
    factory="rlk_wrappers.time_feature:TimeFeature",
    summary="appends the remaining part of the episode to observations",
    known_as=("TimeFeatureWrapper",),
    config=TimeFeatureConfig,
    observation_spaces=("Box", "Dict"),
    wraps="vector",
)
history = Component(
    name="history",
    factory="rlk_wrappers.history:History",
    summary="observations are the latest observations and the actions that led there",
    known_as=("HistoryWrapper", "HistoryWrapperObsDict"),
    config=HistoryConfig,
    observation_spaces=("Box", "Dict"),
    wraps="vector",
)

# ---- steps ---------------------------------------------------------------------------------------

action_repeat = Component(
    name="action-repeat",
    factory="rlk_wrappers.action_repeat:ActionRepeat",
    summary="takes every action several times and adds up the rewards",
    known_as=("FrameSkip",),
    config=ActionRepeatConfig,
    instead_of={"skip": "repeat={value}"},
    keeps_returns=True,
)
reward_clip = Component(
    name="reward-clip",
    factory="rlk_wrappers.reward_clip:reward_clip",
    summary="clips the rewards that are learnt from; reported returns stay the environment's",
    config=RewardClipConfig,
    wraps="vector",
    only_trains=True,
)
check_nan = Component(
    name="check-nan",
    factory="rlk_wrappers.check_nan:CheckNan",
    summary="says where a NaN or an infinite number came from, as VecCheckNan",
    known_as=("VecCheckNan",),
    config=CheckNanConfig,
    wraps="vector",
    only_trains=True,
)
video_recorder = Component(
    name="video-recorder",
    factory="rlk_wrappers.video_recorder:VideoRecorder",
    summary="records films of the training environments, as VecVideoRecorder",
    known_as=("VecVideoRecorder",),
    config=VideoRecorderConfig,
    check=can_write_videos,
    wraps="vector",
    only_trains=True,
)
