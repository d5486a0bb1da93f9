"""sample, 1e6 draws (1e5 rows of 10 shares)."""
import torch
from torch.distributions import (Beta, Categorical, Dirichlet, Exponential, Gamma, Normal, Poisson,
                                 Uniform)

N, SHARES = 1000000, 10


def draws(cls, *parameters):
    def prepare(dtype):
        d = cls(*(torch.tensor(x, dtype=dtype) for x in parameters))
        return lambda: d.sample((N,))
    return prepare


def shapes(dtype):
    d = Gamma(4 * torch.rand(N, dtype=dtype) + 0.5, torch.tensor(1, dtype=dtype))
    return lambda: d.sample()


def dirichlet(dtype):
    d = Dirichlet(4 * torch.rand(SHARES, dtype=dtype) + 0.5)
    return lambda: d.sample((N // SHARES,))


def categorical(k):
    def prepare(dtype):
        d = Categorical(torch.rand(k, dtype=dtype))
        return lambda: d.sample((N,))
    return prepare


workloads = {
    "Normal": draws(Normal, 0.3, 1.2),
    "Uniform": draws(Uniform, 0.3, 1.2),
    "Exponential": draws(Exponential, 1.2),
    "Gamma(2.5)": draws(Gamma, 2.5, 1.0),
    "Gamma, a shape each": shapes,
    "Beta": draws(Beta, 2.5, 1.5),
    "Dirichlet": dirichlet,
    "Poisson(4)": draws(Poisson, 4.0),
    "Categorical of 10": categorical(10),
    "Categorical of 1000": categorical(1000),
}
