"""log_prob, 1e6 elements, every parameter a tensor."""
import torch
from torch.distributions import Beta, Gamma, MultivariateNormal, Normal, Poisson, StudentT

N = 1000000
ROWS, D = 10000, 8


def spread(dtype):
    return torch.rand(N, dtype=dtype) + 0.5


def normal(dtype):
    d = Normal(torch.randn(N, dtype=dtype), spread(dtype))
    x = torch.randn(N, dtype=dtype)
    return lambda: d.log_prob(x)


def gamma(dtype):
    d, x = Gamma(spread(dtype), spread(dtype)), spread(dtype)
    return lambda: d.log_prob(x)


def beta(dtype):
    d, x = Beta(spread(dtype), spread(dtype)), torch.rand(N, dtype=dtype)
    return lambda: d.log_prob(x)


def student(dtype):
    d = StudentT(spread(dtype), torch.randn(N, dtype=dtype), spread(dtype))
    x = torch.randn(N, dtype=dtype)
    return lambda: d.log_prob(x)


def poisson(dtype):
    d = Poisson(4 * spread(dtype))
    x = d.sample()
    return lambda: d.log_prob(x)


def multivariate(dtype):
    a = torch.randn(D, D, dtype=dtype)
    d = MultivariateNormal(torch.randn(D, dtype=dtype), a @ a.T + D * torch.eye(D, dtype=dtype))
    x = torch.randn(ROWS, D, dtype=dtype)
    return lambda: d.log_prob(x)


workloads = {
    "Normal": normal,
    "Gamma": gamma,
    "Beta": beta,
    "StudentT": student,
    "Poisson": poisson,
    "MultivariateNormal, 1e4 vectors of 8": multivariate,
}
