"""Start-up and memory: what does loading cost, and what does a large KL add?"""
import os
import subprocess
import sys
from time import perf_counter

LUA = os.environ["LUA"]
LOAD = [LUA, "-e", 'require "perilune".Normal(0, 1)']
STARTS = {
    "perilune": LOAD,
    "lua": [LUA, "-e", ""],
    "torch": [sys.executable, "-c", "import torch"],
    "python": [sys.executable, "-c", ""],
}


def start(command):
    begin = perf_counter()
    subprocess.run(command, check=True)
    return perf_counter() - begin


def arrays(*command):
    done = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True)
    return float(done.stdout)


def table(rounds, judge, _times_of):
    times = {name: [] for name in STARTS}
    for _ in range(rounds):
        for name, command in STARTS.items():
            times[name].append(start(command))
    best = {name: min(t) for name, t in times.items()}
    ours = 1e3 * (best["perilune"] - best["lua"])
    theirs = 1e3 * (best["torch"] - best["python"])
    memory = arrays(LUA, "bench/support/memory.lua")
    yield ["", "perilune", "torch f64", "ratio"]
    yield ["loading, above the bare interpreter", judge(f"{ours:.2f} ms", ours, most=15),
           f"{theirs:.0f} ms", f"{theirs / ours:.0f}x"]
    theirs = arrays(sys.executable, "bench/support/memory.py")
    yield ["peak memory of kl n = 1e7 above its inputs, in result arrays",
           judge(f"{memory:.2f}", memory, most=1.1), f"{theirs:.2f}", f"{theirs / memory:.1f}x"]
