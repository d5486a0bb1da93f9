"""KL(Normal || Normal), n elements each."""
import torch
from torch.distributions import Normal, kl_divergence


def kl(n):
    def prepare(dtype):
        loc = lambda: torch.randn(n, dtype=dtype)
        scale = lambda: torch.rand(n, dtype=dtype) + 0.5
        p, q = Normal(loc(), scale()), Normal(loc(), scale())
        return lambda: kl_divergence(p, q)
    return prepare


workloads = {
    "n = 1e3": kl(1000),
    "n = 1e5": kl(100000),
    "n = 1e6": kl(1000000),
    "n = 1e7": kl(10000000),
}
