"""The distance between a perturbed policy and the policy: Plappert et al. 2018, arXiv 1706.01905.

Shapes: B observations, D numbers of a continuous action, A discrete actions.
"""

from __future__ import annotations

import math

import numpy as np

from rlk.records import Array


def action_distance(action: Array, perturbed: Array) -> float:
    """sqrt(E[(pi(s) - pi~(s))^2]), over observations and the numbers of an action; appendix C.2.

    Args:
        action, perturbed: float [B, D], in -1 to 1.
    """
    return float(np.sqrt(np.square(action - perturbed).mean()))


def policy_divergence(probabilities: Array, perturbed: Array) -> float:
    """E[KL(pi || pi~)] = E[sum_a pi(a) (log pi(a) - log pi~(a))]; appendix C.1.

    Args:
        probabilities, perturbed: float [B, A], softmax(Q) of either policy. A probability that is
            too small for a float counts as the smallest float.
    """
    tiny = np.finfo(probabilities.dtype).tiny
    p, q = np.maximum(probabilities, tiny), np.maximum(perturbed, tiny)
    return float((p * (np.log(p) - np.log(q))).sum(1).mean())


def greedy_divergence(epsilon: float, n_actions: int) -> float:
    """-log(1 - epsilon + epsilon / A): the distance of epsilon-greedy from greedy; appendix C.1.

    Args:
        epsilon: 0 to 1. n_actions: A.
    """
    return -math.log(1.0 - epsilon + epsilon / n_actions)


def adapted(stddev: float, distance: float, desired: float, coefficient: float) -> float:
    """sigma' = alpha sigma if the distance is at most the desired one, else sigma / alpha; eq. 8.

    Args:
        stddev: sigma, above 0. distance, desired: at least 0. coefficient: alpha, above 1.
    """
    return stddev * coefficient if distance <= desired else stddev / coefficient
