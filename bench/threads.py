"""Two threads: how much faster than one, where C written by hand shows what the machine gives?

Workloads of several tables. Work that computes shall be 1.7 times as fast; where memory is the
limit, or there is too little to share, two threads shall not lose. Every row is
the best of three starts: what a virtual machine calls two cores are at times two threads of one, and
where memory happens to lie makes a difference to short calls.
"""
import os

import compare

COMPUTES = {
    "kl": ["Gamma, 1e6", "Beta, 1e6", "Categorical, 1e5 x 10", "Normal by a formula in Lua, 1e6"],
    "kl_normal": ["n = 1e6"],
    "log_prob": ["Beta", "StudentT", "Gamma"],
    "sample": ["Normal", "Gamma(2.5)"],
    "gradients": ["kl Gamma, n = 1e6"],
    "threads": ["exp, n = 1e6"],
}
SIZES = "1e3", "16000", "17000", "33000", "66000", "1e5"   # shared from 16384 on
OTHERS = {
    "gradients": ["Normal likelihood, two numbers, n = 1e6"],
    "threads": [f"{work}, n = {n}" for work in ("exp", "x + y") for n in SIZES]
               + ["x + y, n = 1e6"],
}


STARTS = 3


class Threaded(compare.Side):
    """A side that always uses the same number of threads."""

    def __init__(self, threads, *command):
        super().__init__(*command)
        self.threads = threads

    def round(self, workload, _threads):
        return super().round(workload, self.threads)


def start_sides(name):
    commands = {"perilune": [compare.LUA, "bench/support/worker.lua", name]}
    if os.path.exists(f"bench/hand/{name}.c"):
        commands["hand"] = [f"{compare.BUILD}/bench/{name}"]
    return {(who, threads): Threaded(threads, *command)
            for who, command in commands.items() for threads in (1, 2)}


def speed_up(best, who):
    one, two = best.get((who, 1)), best.get((who, 2))
    return one and two and one / two


def line(name, best, least):
    ours, by_hand = speed_up(best, "perilune"), speed_up(best, "hand")
    times = [compare.duration(best["perilune", threads]) for threads in (1, 2)]
    reference = [f"{by_hand:.2f}", f"{ours / by_hand:.2f}"] if by_hand else ["–", "–"]
    return [name, *times, compare.judge(f"{ours:.2f}", ours, least=least), *reference]


def best_of_starts(name, workloads):
    """Workload -> side -> its best time."""
    best = {workload: {} for workload in workloads}
    for _ in range(STARTS):
        sides = start_sides(name)
        for workload in workloads:
            for side, seconds in compare.best_times(sides, workload, None).items():
                if seconds is not None:
                    best[workload][side] = min(seconds, best[workload].get(side, seconds))
        for side in sides.values():
            side.close()
    return best


def lines(work, least):
    for name, workloads in work.items():
        for workload, best in best_of_starts(name, workloads).items():
            yield line(f"{name}: {workload}", best, least)


def table(_rounds, _judge, _times_of):
    yield ["", "one thread", "two threads", "speed-up", "speed-up by hand", "share"]
    yield from lines(COMPUTES, least=1.7)
    yield from lines(OTHERS, least=0.95)
