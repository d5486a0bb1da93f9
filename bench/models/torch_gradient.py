"""PyTorch's side: microseconds of CPU for a log density of free numbers with its gradient, the least of ROUNDS.

    python3 bench/models/torch_gradient.py FOLDER

FOLDER has the data of each model as R reads them (perilune.lua data). The densities are those of bench/stan, in float64
on one thread, written with tensors where that is possible; free numbers are one leaf, as perilune has it.
"""
import math
import os
import re
import sys
import time

import torch

torch.set_default_dtype(torch.float64)
torch.set_num_threads(1)

ROUNDS = int(os.environ.get("ROUNDS", 5))
ROUND = 0.2                                        # seconds
LOG_2PI = math.log(2 * math.pi)


def read(path):
    data = {}
    for line in open(path):
        name, value = line.strip().split(" <- ")
        dims = re.search(r"\.Dim = c\((\d+), (\d+)\)", value)
        text = re.search(r"c\((.*?)\)", value)
        numbers = [float(x) for x in (text.group(1) if text else value).split(",")]
        t = torch.tensor(numbers)
        if dims:                                   # columns first
            t = t.reshape(int(dims.group(2)), int(dims.group(1))).T.contiguous()
        data[name] = t if text else t[0]
    return data


def normal(x, loc, scale):
    z = (x - loc) / scale
    return (-0.5 * z * z - torch.log(torch.as_tensor(scale)) - 0.5 * LOG_2PI).sum()


def eight_schools(d):
    def f(u):
        tau = u[1].exp()
        half_cauchy = math.log(2 / (5 * math.pi)) - torch.log1p((tau / 5) ** 2)
        return (normal(u[0], 0, 5) + half_cauchy + u[1] + normal(u[2:], 0, 1)
                + normal(d["y"], u[0] + tau * u[2:], d["sigma"]))
    return f, 10


def radon(d):
    county, J = d["county_idx"].long() - 1, int(d["J"])

    def f(u):
        sigma_alpha, sigma_y = u[1].exp(), u[4].exp()
        alpha = u[0] + sigma_alpha * u[5:]
        mean = alpha[county] + u[2] * d["log_uppm"] + u[3] * d["floor_measure"]
        return (normal(u[0], 0, 10) + normal(sigma_alpha, 0, 1) + u[1] + normal(u[2:4], 0, 10) + normal(sigma_y, 0, 1)
                + u[4] + normal(u[5:], 0, 1) + normal(d["log_radon"], mean, sigma_y))
    return f, 5 + J


def groups(d):
    group, J = d["group"].long() - 1, int(d["J"])

    def f(u):
        tau, sigma = u[1].exp(), u[2].exp()
        return (normal(u[0], 0, 5) + normal(tau, 0, 2) + u[1] + normal(sigma, 0, 2) + u[2] + normal(u[3:], u[0], tau)
                + normal(d["y"], u[3:][group], sigma))
    return f, 3 + J


def logistic(d):
    x, y = d["x"], d["y"]

    def f(u):
        return normal(u, 0, 1) - torch.nn.functional.binary_cross_entropy_with_logits(x @ u, y, reduction="sum")
    return f, x.shape[1]


def mixture(d):
    y = d["y"]

    def f(u):
        mu = torch.stack([u[0], u[0] + u[1].exp()])
        sigma, log_theta = u[2:4].exp(), torch.nn.functional.logsigmoid(torch.stack([u[4], -u[4]]))
        z = (y[:, None] - mu) / sigma
        each = log_theta - 0.5 * z * z - sigma.log() - 0.5 * LOG_2PI
        return (torch.logsumexp(each, 1).sum() + normal(mu, 0, 2) + normal(sigma, 0, 2) + 4 * log_theta.sum()
                + u[1] + u[2] + u[3] + log_theta.sum())
    return f, 5


def gp(d):
    square = (d["x"][:, None] - d["x"]) ** 2
    eye, y, n = torch.eye(len(d["x"])), d["y"], len(d["x"])

    def f(u):
        rho, alpha, sigma = u.exp()
        factor = torch.linalg.cholesky(alpha ** 2 * torch.exp(-square / (2 * rho ** 2)) + sigma * eye)
        z = torch.linalg.solve_triangular(factor, y[:, None], upper=False)
        return (24 * u[0] - 4 * rho + normal(alpha, 0, 2) + normal(sigma, 0, 1) + u.sum()
                - 0.5 * (z * z).sum() - factor.diagonal().log().sum() - 0.5 * n * LOG_2PI)
    return f, 3


def garch(d):
    y = d["y"]

    def f(u):
        mu, alpha0, alpha1 = u[0], u[1].exp(), torch.sigmoid(u[2])
        beta1 = (1 - alpha1) * torch.sigmoid(u[3])
        new = alpha0 + alpha1 * (y[:-1] - mu) ** 2
        v, all_v = d["sigma1"] ** 2, []
        for step in new.unbind():
            all_v.append(v)
            v = step + beta1 * v
        sigma = torch.sqrt(torch.stack(all_v + [v]))
        log_sigmoid = torch.nn.functional.logsigmoid
        return (normal(y, mu, sigma) + u[1] + log_sigmoid(u[2]) + log_sigmoid(-u[2]) + torch.log(1 - alpha1)
                + log_sigmoid(u[3]) + log_sigmoid(-u[3]))
    return f, 4


def microseconds(f, size):
    u = (0.1 * torch.randn(size, generator=torch.Generator().manual_seed(1))).requires_grad_()

    def run(n):
        begin = time.process_time()
        for _ in range(n):
            torch.autograd.grad(f(u), u)
        return (time.process_time() - begin) / n
    n = max(1, int(ROUND / max(run(3), 1e-7)))
    return 1e6 * min(run(n) for _ in range(ROUNDS))


if __name__ == "__main__":
    for make in (eight_schools, radon, groups, logistic, mixture, gp, garch):
        f, size = make(read(os.path.join(sys.argv[1], make.__name__ + ".R")))
        print(make.__name__, microseconds(f, size), sep="\t", flush=True)
