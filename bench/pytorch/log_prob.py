"""log_prob, 1e6 elements, every parameter a tensor."""
import torch
from torch.distributions import Normal

N = 1000000


def normal(dtype):
    d = Normal(torch.randn(N, dtype=dtype), torch.rand(N, dtype=dtype) + 0.5)
    x = torch.randn(N, dtype=dtype)
    return lambda: d.log_prob(x)


workloads = {
    "Normal": normal,
}
