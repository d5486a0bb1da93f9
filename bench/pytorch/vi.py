"""A step of mean-field VI: with torch.distributions, and in raw operations."""
import math

import torch
from torch.distributions import Bernoulli, HalfCauchy, Normal, kl_divergence
from torch.nn.functional import logsigmoid

FEATURES, LR = 10, 0.01


def steps(size, dtype, elbo):
    """The call that takes a step: elbo(loc, log_scale) of a guide of `size` numbers."""
    loc = torch.zeros(size, dtype=dtype, requires_grad=True)
    log_scale = torch.full((size,), -1.0, dtype=dtype, requires_grad=True)
    opt = torch.optim.Adam([loc, log_scale], lr=LR)

    def step():
        loss = -elbo(loc, log_scale)
        opt.zero_grad(set_to_none=True)
        loss.backward()
        opt.step()
    return step


def data(n, dtype):
    """Features, one a column, which is the faster way here; labels."""
    row = torch.arange(n, dtype=torch.float64)
    column = torch.arange(1, FEATURES + 1, dtype=torch.float64)
    x = torch.sin(row[:, None] * column)
    return x.to(dtype), (x[:, 0] + x[:, 1] > 0).to(dtype)


def logistic(n):
    def prepare(dtype):
        x, y = data(n, dtype)
        prior = Normal(torch.tensor(0.0, dtype=dtype), torch.tensor(1.0, dtype=dtype))

        def elbo(loc, log_scale):
            guide = Normal(loc, log_scale.exp())
            logits = x @ guide.rsample()
            return Bernoulli(logits=logits).log_prob(y).sum() - kl_divergence(guide, prior).sum()
        return steps(FEATURES, dtype, elbo)
    return prepare


def logistic_raw(dtype):
    x, y = data(1000, dtype)
    sign = 2 * y - 1

    def elbo(loc, log_scale):
        scale = log_scale.exp()
        w = torch.addcmul(loc, scale, torch.randn(FEATURES, dtype=dtype))
        kl = 0.5 * (scale * scale + loc * loc - 1).sum() - log_scale.sum()
        return logsigmoid(sign * (x @ w)).sum() - kl
    return steps(FEATURES, dtype, elbo)


def schools_data(dtype):
    return (torch.tensor([28, 8, -3, 7, -1, 1, 18, 12], dtype=dtype),
            torch.tensor([15, 10, 16, 11, 9, 11, 10, 18], dtype=dtype))


def schools(dtype):
    effect, error = schools_data(dtype)
    number = lambda x: torch.tensor(x, dtype=dtype)
    mu_prior, tau_prior = Normal(number(0.0), number(5.0)), HalfCauchy(number(5.0))
    eta_prior = Normal(number(0.0), number(1.0))

    def elbo(loc, log_scale):
        guide = Normal(loc, log_scale.exp())
        u = guide.rsample()
        mu, log_tau, eta = u[0], u[1], u[2:]
        tau = log_tau.exp()
        return (mu_prior.log_prob(mu) + tau_prior.log_prob(tau) + eta_prior.log_prob(eta).sum()
                + Normal(mu + tau * eta, error).log_prob(effect).sum()
                + log_tau + guide.entropy().sum())
    return steps(10, dtype, elbo)


def schools_raw(dtype):
    effect, error = schools_data(dtype)
    # of 17 normal densities, a half-Cauchy one, and the entropy of ten numbers
    constant = (-8.5 * math.log(2 * math.pi) - math.log(5) - error.log().sum().item()
                + math.log(2 / (math.pi * 5)) + 5 * (1 + math.log(2 * math.pi)))

    def elbo(loc, log_scale):
        u = torch.addcmul(loc, log_scale.exp(), torch.randn(10, dtype=dtype))
        mu, log_tau, eta = u[0], u[1], u[2:]
        tau = log_tau.exp()
        z, m, t = (effect - mu - tau * eta) / error, mu / 5, tau / 5
        return (log_tau - torch.log1p(t * t) - 0.5 * (m * m + eta.dot(eta) + z.dot(z))
                + log_scale.sum() + constant)
    return steps(10, dtype, elbo)


workloads = {
    "eight schools": schools,
    "eight schools, raw operations": schools_raw,
    "eight schools, peri.vi": schools,
    "eight schools, traced": schools,
    "eight schools, traced, raw operations": schools_raw,
    "eight schools, peri.vi, traced": schools,
    "logistic regression, N = 1e3, raw operations": logistic_raw,
    "logistic regression, N = 1e3, peri.vi": logistic(1000),
    "logistic regression, N = 1e3, traced": logistic(1000),
    "logistic regression, N = 1e2": logistic(100),
    "logistic regression, N = 1e3": logistic(1000),
    "logistic regression, N = 1e4": logistic(10000),
    "logistic regression, N = 1e5": logistic(100000),
    "logistic regression, N = 1e6": logistic(1000000),
}
