"""sample, 1e6 draws from one distribution."""
import torch
from torch.distributions import Exponential, Normal, Uniform

N = 1000000


def draws(cls, *parameters):
    def prepare(dtype):
        d = cls(*(torch.tensor(x, dtype=dtype) for x in parameters))
        return lambda: d.sample((N,))
    return prepare


workloads = {
    "Normal": draws(Normal, 0.3, 1.2),
    "Uniform": draws(Uniform, 0.3, 1.2),
    "Exponential": draws(Exponential, 1.2),
}
