"""KL divergences of one family."""
import torch
from torch.distributions import (Beta, Categorical, Dirichlet, Gamma, Laplace, MultivariateNormal, Normal,
                                 kl_divergence)

N = 1000000


def spread(dtype, n=N):
    return torch.rand(n, dtype=dtype) + 0.5


def pair(make):
    def workload(dtype):
        p, q = make(dtype), make(dtype)
        return lambda: kl_divergence(p, q)
    return workload


class RawCategorical:
    """Logits as they are, normalised within the measured time, as perilune does it."""

    def __init__(self, dtype, rows, outcomes):
        self.p = torch.randn(rows, outcomes, dtype=dtype)
        self.q = torch.randn(rows, outcomes, dtype=dtype)

    def __call__(self):
        return kl_divergence(Categorical(logits=self.p, validate_args=False),
                             Categorical(logits=self.q, validate_args=False))


def multivariate(rows, d):
    def make(dtype):
        triangle = torch.tril(0.1 * torch.randn(rows, d, d, dtype=dtype), -1) + torch.eye(d, dtype=dtype)
        return MultivariateNormal(torch.randn(rows, d, dtype=dtype), scale_tril=triangle, validate_args=False)
    return pair(make)


normal = pair(lambda t: Normal(torch.randn(N, dtype=t), spread(t), validate_args=False))

workloads = {
    "Laplace, 1e6": pair(lambda t: Laplace(torch.randn(N, dtype=t), spread(t), validate_args=False)),
    "Gamma, 1e6": pair(lambda t: Gamma(spread(t), spread(t), validate_args=False)),
    "Beta, 1e6": pair(lambda t: Beta(spread(t), spread(t), validate_args=False)),
    "Categorical, 1e5 x 10": lambda t: RawCategorical(t, 100000, 10),
    "Categorical, 4096 x 1000": lambda t: RawCategorical(t, 4096, 1000),
    "Dirichlet, 1e5 x 10": pair(lambda t: Dirichlet(spread(t).reshape(100000, 10), validate_args=False)),
    "MultivariateNormal, 1e5 x 8": multivariate(100000, 8),
    "MultivariateNormal, 2000 x 64": multivariate(2000, 64),
    "Normal by a formula in Lua, 1e6": normal,
}
