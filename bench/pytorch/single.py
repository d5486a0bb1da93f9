"""One KL(Normal || Normal) of single numbers."""
import torch
from torch.distributions import Normal, kl_divergence


def numbers(dtype):
    return [torch.tensor(x, dtype=dtype) for x in (0.1, 1.1, 0.3, 1.2)]


def kl(dtype):
    m1, s1, m2, s2 = numbers(dtype)
    p, q = Normal(m1, s1), Normal(m2, s2)
    return lambda: kl_divergence(p, q)


def construct_and_kl(dtype):
    m1, s1, m2, s2 = numbers(dtype)
    return lambda: kl_divergence(Normal(m1, s1, validate_args=True),
                                 Normal(m2, s2, validate_args=True))


workloads = {
    "kl": kl,
    "construct p, q and kl": construct_and_kl,
}
