"""One step of an optimiser on 1e6 parameters, gradients given. With `foreach` or without: one
parameter is one tensor either way."""
import torch

N = 1000000


def steps(name, **options):
    def prepare(dtype):
        w = torch.randn(N, dtype=dtype, requires_grad=True)
        w.grad = torch.randn(N, dtype=dtype)
        return getattr(torch.optim, name)([w], **options).step
    return prepare


workloads = {
    "SGD": steps("SGD", lr=1e-3),
    "SGD with momentum": steps("SGD", lr=1e-3, momentum=0.9),
    "Adam": steps("Adam", lr=1e-3),
    "RMSprop": steps("RMSprop", lr=1e-3),
    "Adagrad": steps("Adagrad", lr=1e-3),
}
