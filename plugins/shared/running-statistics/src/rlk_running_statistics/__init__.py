"""Running moments, and observations that are normalised with them."""

from rlk_running_statistics.from_data import begin_statistics
from rlk_running_statistics.moments import Fresh, Moments
from rlk_running_statistics.observations import ObservationStatistics

__all__ = ["Fresh", "Moments", "ObservationStatistics", "begin_statistics"]
