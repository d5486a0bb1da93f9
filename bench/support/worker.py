"""worker.py <table> <dtype>: times PyTorch's workloads of bench/pytorch/<table>.py.

Requests and answers are those of bench/support/worker.lua; "none" says that there is no
such workload. A workload is a function of the dtype that prepares its data and
returns the call to time.
"""
import gc
import runpy
import sys
from time import perf_counter

import torch

ROUND, FEWEST = 0.02, 3  # a round lasts so many seconds and calls at least

torch.distributions.Distribution.set_default_validate_args(False)
workloads = runpy.run_path(f"bench/pytorch/{sys.argv[1]}.py")["workloads"]
dtype = getattr(torch, sys.argv[2])


def seconds(call, calls):
    start = perf_counter()
    for _ in range(calls):
        call()
    return (perf_counter() - start) / calls


def calls_for(call):
    calls = 1
    while seconds(call, calls) * calls < ROUND:
        calls *= 2
    return max(calls, FEWEST)


prepared = call = None
for request in sys.stdin:
    name, threads = request.rstrip("\n").split("\t")
    if name not in workloads:
        print("none", flush=True)
        continue
    if request != prepared:
        call = None
        gc.collect()
        torch.set_num_threads(int(threads))
        call, prepared = workloads[name](dtype), request
        calls = calls_for(call)
    print(f"{seconds(call, calls):.9g}", flush=True)
