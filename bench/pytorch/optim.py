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


def steps_with_gradients(name, **options):
    def prepare(dtype):
        w = torch.randn(N, dtype=dtype, requires_grad=True)
        opt = getattr(torch.optim, name)([w], **options)

        def step():
            opt.zero_grad()
            (w * w).sum().backward()
            opt.step()
        return step
    return prepare


workloads = {
    "SGD": steps("SGD", lr=1e-3),
    "SGD with momentum": steps("SGD", lr=1e-3, momentum=0.9),
    "Adam": steps("Adam", lr=1e-3),
    "Adam with amsgrad": steps("Adam", lr=1e-3, amsgrad=True),
    "NAdam": steps("NAdam", lr=1e-3),
    "RAdam": steps("RAdam", lr=1e-3),
    "Adamax": steps("Adamax", lr=1e-3),
    "RMSprop": steps("RMSprop", lr=1e-3),
    "Adagrad": steps("Adagrad", lr=1e-3),
    "Adadelta": steps("Adadelta", lr=1e-3),
    "Rprop": steps("Rprop", lr=1e-3),
    "SGD and gradients of a sum of squares": steps_with_gradients("SGD", lr=1e-3),
}
