"""memory.py: the same measurement as memory.lua."""
import gc
import re

import torch
from torch.distributions import Normal, kl_divergence

N = 10000000


def resident(what):
    with open("/proc/self/status") as status:
        return 1024 * int(re.search(what + r":\s+(\d+) kB", status.read()).group(1))


def forget_peak():
    with open("/proc/self/clear_refs", "w") as f:
        f.write("5")


def normal():
    return Normal(torch.randn(N, dtype=torch.float64),
                  torch.rand(N, dtype=torch.float64) + 0.5, validate_args=False)


torch.set_num_threads(1)
p, q = normal(), normal()
gc.collect()
forget_peak()
before = resident("VmRSS")
kl_divergence(p, q)
print((resident("VmHWM") - before) / (8 * N))
