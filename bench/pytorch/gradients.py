"""Forward and back."""
import torch
from torch.distributions import Gamma, Normal, kl_divergence

CHAIN = 200


def positive(n, dtype):
    return (torch.rand(n, dtype=dtype) + 0.5).requires_grad_()


def reset(params):
    for w in params:
        w.grad = None


def kl(family, n, read=False):
    def prepare(dtype):
        a, b, c, d = params = [positive(n, dtype) for _ in range(4)]
        p, q = family(a, b), family(c, d)

        def run():
            reset(params)
            value = kl_divergence(p, q).sum()
            value.backward()
            if read:
                value.item()
        return run
    return prepare


def likelihood(n, read=False):
    def prepare(dtype):
        x = torch.randn(n, dtype=dtype)
        params = [torch.tensor(v, dtype=dtype, requires_grad=True) for v in (0.1, 1.2)]
        d = Normal(*params)

        def run():
            reset(params)
            value = d.log_prob(x).sum()
            value.backward()
            if read:
                value.item()
        return run
    return prepare


def chain(n):
    def prepare(dtype):
        w = torch.full((n,), 0.5, dtype=dtype, requires_grad=True)
        x = torch.full((n,), 1.01, dtype=dtype)

        def run():
            w.grad = None
            y = w
            for _ in range(CHAIN // 2):
                y = y * x + x
            y.sum().backward()
        return run
    return prepare


def garch(n):
    def prepare(dtype):
        y = torch.randn(n, dtype=dtype)
        params = [torch.tensor(v, dtype=dtype, requires_grad=True) for v in (0.1, 0.5, 0.3, 0.4)]
        mu, a0, a1, b1 = params

        def run():
            reset(params)
            s2, all_s2 = torch.ones((), dtype=dtype), []
            for t in range(n):
                all_s2.append(s2)
                s2 = a0 + a1 * (y[t] - mu) ** 2 + b1 * s2
            Normal(mu, torch.stack(all_s2).sqrt()).log_prob(y).sum().backward()
        return run
    return prepare


workloads = {
    "kl Normal, n = 1e3": kl(Normal, 1000),
    "kl Normal, n = 1e6": kl(Normal, 1000000),
    "kl Gamma, n = 1e6": kl(Gamma, 1000000),
    "Normal likelihood, two numbers, n = 1e6": likelihood(1000000),
    "kl Normal, n = 1e3, loss read": kl(Normal, 1000, True),
    "kl Normal, n = 1e6, loss read": kl(Normal, 1000000, True),
    "kl Gamma, n = 1e6, loss read": kl(Gamma, 1000000, True),
    "Normal likelihood, two numbers, n = 1e6, loss read": likelihood(1000000, True),
    "200 operations, n = 1": chain(1),
    "200 operations, n = 20": chain(20),
    "200 operations, n = 1, replayed": chain(1),
    "200 operations, n = 20, replayed": chain(20),
    "garch(1, 1), T = 200, replayed": garch(200),
}
