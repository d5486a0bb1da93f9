"""KL(Normal || Normal), 1e6 results, with q broadcast in several ways."""
import torch
from torch.distributions import Normal, kl_divergence


def kl(p_shape, q_shape, view=lambda t: t):
    def prepare(dtype):
        def normal(shape):
            return Normal(view(torch.randn(shape, dtype=dtype)),
                          view(torch.rand(shape, dtype=dtype) + 0.5))
        p, q = normal(p_shape), normal(q_shape)
        return lambda: kl_divergence(p, q)
    return prepare


square = (1000, 1000)

workloads = {
    "q scalar": kl((1000000,), ()),
    "q a row of 1000": kl(square, (1000,)),
    "q a column of 1000": kl(square, (1000, 1)),
    "all four transposed": kl(square, square, lambda t: t.t()),
    "q a row of 10": kl((100000, 10), (10,)),
}
