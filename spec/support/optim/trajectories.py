"""trajectories.py > trajectories.jsonl: fifty steps of PyTorch's optimisers, for spec/optim_spec.lua.

Gradients are written out in plain numbers, so that both sides have the same bits, and PyTorch runs its
loops without fma (ATEN_CPU_CAPABILITY=default). Made with PyTorch 1.13 (Debian's python3-torch). What that
version lacks is made of what it has:

- decoupled_weight_decay of RAdam: the parameter is multiplied before the step, as torch 2 does;
- maximize of NAdam and RAdam: the negated gradient;
- NAdam: by the formula of torch 2, in plain numbers; 1.13 has one momentum twice in its product.
"""
import json
import math
import os

os.environ["ATEN_CPU_CAPABILITY"] = "default"
import torch  # noqa: E402

torch.set_default_dtype(torch.float64)
STEPS, SHOWN = 50, (1, 2, 3, 5, 10, 20, 35, 50)
PATTERN = (1.0, 0.5, -2.0, 0.0, 3.0, -1.0, -1.0)


def scales(t, x):
    return [s * v for s, v in zip((1e-4, 1.0, 30.0, 1e3), x)]


def rosenbrock(t, x):
    a, b = x
    bend = b - a * a
    return [-2.0 * (1.0 - a) - 400.0 * a * bend, 200.0 * bend]


def zeros(t, x):
    return [0.0, 0.5 * x[1] if t % 3 == 0 else 0.0, x[2] - 1e-9, 1e-170 * x[3]]


def turns(t, x):
    return [x[0] / (abs(x[0]) + 0.01), 1.0 if t % 2 == 0 else -1.0, x[2] * x[2] * x[2], PATTERN[t % 7]]


PROBLEMS = {
    "scales": (scales, [1.0, -2.0, 3.0, -4.0]),
    "rosenbrock": (rosenbrock, [-1.2, 1.0]),
    "zeros": (zeros, [1.0, 2.0, -3.0, 0.5]),
    "turns": (turns, [0.7, 1.0, -1.5, 0.0]),
}

CASES = [
    ("SGD", dict(lr=1e-3)),
    ("SGD", dict(lr=1e-3, weight_decay=0.1, maximize=True)),
    ("SGD", dict(lr=1e-3, momentum=0.9)),
    ("SGD", dict(lr=1e-3, momentum=0.8, dampening=0.3, weight_decay=0.1)),
    ("SGD", dict(lr=5e-4, momentum=0.9, nesterov=True, weight_decay=0.01, maximize=True)),
    ("Adam", dict(lr=0.05)),
    ("Adam", dict(lr=0.05, betas=(0.8, 0.95), eps=1e-3, weight_decay=0.1, maximize=True)),
    ("Adam", dict(lr=0.05, betas=(0.8, 0.9), amsgrad=True, weight_decay=0.1)),
    ("AdamW", dict(lr=0.05)),
    ("AdamW", dict(lr=0.05, weight_decay=0.3, betas=(0.7, 0.8), amsgrad=True, maximize=True)),
    ("NAdam", dict()),
    ("NAdam", dict(lr=0.05, betas=(0.8, 0.95), eps=1e-4, weight_decay=0.1, momentum_decay=0.1, maximize=True)),
    ("NAdam", dict(lr=0.05, weight_decay=0.2, decoupled_weight_decay=True)),
    ("RAdam", dict()),
    ("RAdam", dict(lr=1e-3, betas=(0.8, 0.9), eps=1e-4, weight_decay=0.1, maximize=True)),
    ("RAdam", dict(lr=1e-3, betas=(0.9, 0.5), weight_decay=0.2, decoupled_weight_decay=True)),
    ("Adamax", dict()),
    ("Adamax", dict(lr=0.05, betas=(0.8, 0.7), eps=1e-4, weight_decay=0.1, maximize=True)),
    ("RMSprop", dict()),
    ("RMSprop", dict(lr=0.02, alpha=0.9, eps=1e-4, weight_decay=0.1, maximize=True)),
    ("RMSprop", dict(lr=0.01, momentum=0.7)),
    ("RMSprop", dict(lr=0.01, alpha=0.8, momentum=0.5, centered=True, eps=1e-2)),
    ("RMSprop", dict(lr=0.01, alpha=0.8, centered=True, eps=1e-2)),
    ("Adagrad", dict()),
    ("Adagrad", dict(lr=0.3, lr_decay=0.05, weight_decay=0.1, initial_accumulator_value=0.3, maximize=True)),
    ("Adadelta", dict()),
    ("Adadelta", dict(lr=0.5, rho=0.7, eps=1e-3, weight_decay=0.1, maximize=True)),
    ("Rprop", dict()),
    ("Rprop", dict(lr=0.3, etas=(0.3, 1.7), step_sizes=(1e-3, 0.5), maximize=True)),
]


class NAdam:
    def __init__(self, w, lr=2e-3, betas=(0.9, 0.999), eps=1e-8, weight_decay=0, momentum_decay=4e-3):
        self.w, self.lr, self.betas, self.eps = w[0], lr, betas, eps
        self.weight_decay, self.momentum_decay, self.t, self.product = weight_decay, momentum_decay, 0, 1.0
        self.m = self.v = [0.0] * self.w.numel()

    def momentum(self, t):
        return self.betas[0] * (1.0 - 0.5 * (0.96 ** (t * self.momentum_decay)))

    def step(self):
        self.t += 1
        (b1, b2), mu, mu_next = self.betas, self.momentum(self.t), self.momentum(self.t + 1)
        self.product *= mu
        direct = -self.lr * (1.0 - mu) / (1.0 - self.product)
        ahead = -self.lr * mu_next / (1.0 - self.product * mu_next)
        x = self.w.tolist()
        g = [g + self.weight_decay * v for g, v in zip(self.w.grad.tolist(), x)]
        self.m = [b1 * m + (1 - b1) * g for m, g in zip(self.m, g)]
        self.v = [b2 * v + (1 - b2) * g * g for v, g in zip(self.v, g)]
        scale = [math.sqrt(v / (1 - b2 ** self.t)) + self.eps for v in self.v]
        self.w.data = torch.tensor([x + direct * g / s + ahead * m / s
                                    for x, g, m, s in zip(x, g, self.m, scale)])


def trajectory(name, options, problem):
    gradient, start = PROBLEMS[problem]
    w = torch.tensor(start, requires_grad=True)
    options, sign, shrink = dict(options), 1.0, 1.0
    if options.get("maximize"):
        sign = -1.0
    if name in ("NAdam", "RAdam"):
        sign = 1.0 if options.pop("maximize", False) else sign
        if options.pop("decoupled_weight_decay", False):
            shrink = 1 - options["lr"] * options.pop("weight_decay")
    optimiser = NAdam([w], **options) if name == "NAdam" else getattr(torch.optim, name)([w], **options)
    steps = []
    for t in range(1, STEPS + 1):
        w.grad = torch.tensor([sign * g for g in gradient(t, w.tolist())])
        w.data = w.data * shrink
        optimiser.step()
        if t in SHOWN:
            steps.append([t, *w.tolist()])
    return steps


def main():
    for name, options in CASES:
        for problem in PROBLEMS:
            print(json.dumps({"name": name, "options": options, "problem": problem,
                              "steps": trajectory(name, options, problem)}))


main()
