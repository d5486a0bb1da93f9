"""F.kl_div with reduction "batchmean"."""
import torch
import torch.nn.functional as F


def operands(dtype, rows, outcomes):
    return (torch.randn(rows, outcomes, dtype=dtype).log_softmax(-1),
            torch.randn(rows, outcomes, dtype=dtype).softmax(-1))


def loss(rows, outcomes):
    def workload(dtype):
        x, t = operands(dtype, rows, outcomes)
        return lambda: F.kl_div(x, t, reduction="batchmean")
    return workload


def loss_and_gradient(rows, outcomes, read=False):
    def workload(dtype):
        x, t = operands(dtype, rows, outcomes)
        x.requires_grad_()

        def run():
            x.grad = None
            value = F.kl_div(x, t, reduction="batchmean")
            value.backward()
            if read:
                value.item()
            return x.grad
        return run
    return workload


def with_softmax(rows, outcomes):
    def workload(dtype):
        x = torch.randn(rows, outcomes, dtype=dtype, requires_grad=True)
        t = torch.randn(rows, outcomes, dtype=dtype).softmax(-1)

        def run():
            x.grad = None
            F.kl_div(x.log_softmax(-1), t, reduction="batchmean").backward()
            return x.grad
        return run
    return workload


workloads = {
    "128 x 1000": loss(128, 1000),
    "4096 x 1000": loss(4096, 1000),
    "128 x 1000 with gradient": loss_and_gradient(128, 1000),
    "4096 x 1000 with gradient": loss_and_gradient(4096, 1000),
    "128 x 1000 with gradient, loss read": loss_and_gradient(128, 1000, True),
    "4096 x 1000 with gradient, loss read": loss_and_gradient(4096, 1000, True),
    "log_softmax, 4096 x 1000 with gradient": with_softmax(4096, 1000),
}
