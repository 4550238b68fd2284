"""Means over distributions that have no closed form, to near rounding error."""

import numpy as np
from scipy.special import betaincinv, gammainccinv, gammaincinv, ndtr

from outperform.stats.checks import FloatArray


def normal_nodes(n_nodes: int = 401) -> tuple[FloatArray, FloatArray]:
    """Nodes and weights of a mean over a standard normal variable, by the trapezoidal rule."""
    score = np.linspace(-8.5, 8.5, n_nodes)
    weight = np.exp(-(score**2) / 2)
    return score, weight / weight.sum()


def chi_square_nodes(df: float) -> tuple[FloatArray, FloatArray]:
    """Nodes and weights of a mean over a chi-square variable, through its normal score."""
    score, weight = normal_nodes()
    half = np.where(score < 0, gammaincinv(df / 2, ndtr(score)), gammainccinv(df / 2, ndtr(-score)))
    return 2 * half, weight


def symmetric_beta_nodes(shape: float) -> tuple[FloatArray, FloatArray]:
    """Nodes and weights of a mean over a Beta(shape, shape) variable, through its normal score."""
    score, weight = normal_nodes(101)
    lower = betaincinv(shape, shape, ndtr(-np.abs(score)))
    return np.where(score < 0, lower, 1 - lower), weight
