"""KL of n elements each."""
import torch
from torch.distributions import Gamma, Normal, kl_divergence


def kl(family, n):
    def prepare(dtype):
        positive = lambda: torch.rand(n, dtype=dtype) + 0.5
        p, q = family(positive(), positive()), family(positive(), positive())
        return lambda: kl_divergence(p, q)
    return prepare


workloads = {f"{family.__name__}, n = 1e{power}": kl(family, 10 ** power)
             for family in (Normal, Gamma) for power in range(8)}
