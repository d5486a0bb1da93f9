"""compare.py [table ...]: runs tables beside PyTorch and hand-written C.

Each side of a table is one long-lived process that answers a request, a
workload and a number of threads, with the seconds of one call. Requests go
round the sides in turn, so that whatever else the machine does hits all of
them; the best of ROUNDS rounds counts. A row that takes longer than PATIENCE
seconds has fewer rounds, but FEWEST. bench/run sets the environment.
"""
import os
import platform
import re
import runpy
import subprocess
import sys
import time
from glob import glob

import agree

ROUNDS = int(os.environ.get("ROUNDS", "15"))
PATIENCE, FEWEST = 20, 5
BUILD, LUA = os.environ["BUILD"], os.environ["LUA"]
# memory is kept for the next call, else large sizes measure page faults
KEPT = {"MALLOC_MMAP_MAX_": "0", "MALLOC_TRIM_THRESHOLD_": "1000000000000"}

NOTES = """\
PyTorch is given float64, `validate_args=False` (except where construction is timed) and
as many threads as perilune. All sides run in turn on the same machine, the best of
{rounds} rounds counts (of at least {fewest}, where they take longer than {patience} s);
perilune is timed through its public functions in Lua, allocation of the result included.
All sides have `{kept}`, except
in rows that say default malloc, where perilune alone goes without. Ratios
are times of the other over times of perilune; the share is hand-written over perilune.
Behind a figure: what is demanded of it, and whether it is met. Single runs on a busy
machine vary; a demand counts as met when it holds in two runs of three.
"""


class Side:
    """A process that answers requests."""

    def __init__(self, *command, malloc=KEPT):
        self.command = " ".join(command)
        self.process = subprocess.Popen(command, env={**os.environ, **malloc}, text=True,
                                        stdin=subprocess.PIPE, stdout=subprocess.PIPE)

    def line(self):
        answer = self.process.stdout.readline()
        if not answer:
            sys.exit(f"bench: {self.command} stopped")
        return answer.rstrip("\n")

    def ask(self, request):
        self.process.stdin.write(request + "\n")
        self.process.stdin.flush()
        return self.line()

    def round(self, workload, threads):
        answer = self.ask(f"{workload}\t{threads}")
        return None if answer == "none" else float(answer)

    def rows(self):
        row = self.ask("rows")
        while row:
            yield row.split("\t")
            row = self.line()

    def close(self):
        self.process.stdin.close()
        if self.process.wait() != 0:
            sys.exit(f"bench: {self.command} failed")


def start_sides(name):
    worker = LUA, "bench/support/worker.lua", name
    sides = {
        "perilune": Side(*worker),
        "default": Side(*worker, malloc={}),
        "f64": Side(sys.executable, "bench/support/worker.py", name, "float64"),
        "f32": Side(sys.executable, "bench/support/worker.py", name, "float32"),
    }
    if os.path.exists(f"bench/hand/{name}.c"):
        sides["hand"] = Side(f"{BUILD}/bench/{name}")
    return sides


def best_times(sides, workload, threads):
    """Name of a side -> its best time, or None where it has no such workload."""
    times = {name: [] for name in sides}
    begin = time.perf_counter()
    for number in range(1 + ROUNDS):  # the first one prepares
        if number > FEWEST and time.perf_counter() - begin > PATIENCE:
            break
        for name, side in sides.items():
            times[name].append(side.round(workload, threads))
            time.sleep(0.005)    # idle threads of the last one fall asleep
    return {name: None if t[0] is None else min(t[1:]) for name, t in times.items()}


def judge(text, value, least=None, most=None):
    if least is not None:
        return f"{text} (≥ {least:g}: {'yes' if value >= least else 'NO'})"
    if most is not None:
        return f"{text} (≤ {most:g}: {'yes' if value <= most else 'NO'})"
    return text


def duration(seconds, limit=None):
    for unit, size in ("s", 1), ("ms", 1e-3), ("µs", 1e-6):
        if seconds >= size:
            break
    most = limit and limit / size
    return judge(f"{seconds / size:.3g} {unit}", seconds / size, most=most)


def ratio(other, ours, least=None):
    return "–" if other is None else judge(f"{other / ours:.2f}", other / ours, least=least)


def optional(text):
    return float(text) if text else None


measured = {}  # table -> (row, threads) -> side -> seconds


def times_of(name):
    """What was measured for a table, which is run if it was not yet."""
    if name not in measured:
        for _ in compared(name):
            pass
    return measured[name]


def compared(name):
    """The lines of a table, the heading first."""
    sides, measured[name] = start_sides(name), {}
    yield ["", "threads", "perilune", "torch f64", "ratio", "ratio to f32", "share of hand-written"]
    for row, threads, torch, torch32, hand, limit, malloc in list(sides["perilune"].rows()):
        ours = malloc or "perilune"
        used = {key: side for key, side in sides.items() if key in (ours, "f64", "f32", "hand")}
        agree.check(used, ours, row, threads)
        best = best_times(used, row, threads)
        measured[name].setdefault((row, int(threads)), best)
        share = optional(hand) and round(1 / float(hand), 2)
        yield [row + (", default malloc" if malloc else ""), threads,
               duration(best[ours], optional(limit)), duration(best["f64"]),
               ratio(best["f64"], best[ours], optional(torch)),
               ratio(best["f32"], best[ours], optional(torch32)),
               ratio(best.get("hand"), best[ours], share)]
    for side in sides.values():
        side.close()


def first_line(path):
    with open(path) as f:
        return f.readline().strip()


def table_lines(name):
    """A table in Markdown, line by line as it is measured."""
    if os.path.exists(f"bench/{name}.py"):
        own = runpy.run_path(f"bench/{name}.py")
        question, lines = own["__doc__"], own["table"](ROUNDS, judge, times_of)
    else:
        question, lines = first_line(f"bench/{name}.lua").lstrip("- "), compared(name)
    yield f"\n## {name}\n\n{question}\n"
    for number, cells in enumerate(lines):
        yield "| " + " | ".join(cells) + " |"
        if number == 0:
            yield "|---" * len(cells) + "|"


def command_line(*command):
    return subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True).stdout.strip()


def header():
    with open("/proc/cpuinfo") as f:
        cpu = re.search(r"model name\s*: (.*)", f.read())
    versions = command_line(sys.executable, "-c", "import torch; print(torch.__version__)")
    yield "# Speed beside PyTorch and hand-written C\n"
    yield f"Machine: {cpu.group(1) if cpu else platform.machine()}, {os.cpu_count()} cores; " \
          f"load average at the start {os.getloadavg()[0]:.1f}. " \
          f"{command_line(LUA, '-e', 'print(_VERSION)')}, PyTorch {versions}, " \
          f"Python {platform.python_version()}.\n"
    yield NOTES.format(rounds=ROUNDS, kept=" ".join(f"{k}={v}" for k, v in KEPT.items()),
                       fewest=FEWEST, patience=PATIENCE)


def all_tables():
    def names(pattern):
        return [os.path.splitext(os.path.basename(path))[0] for path in sorted(glob(pattern))]
    own, torch = names("bench/*.py"), names("bench/pytorch/*.py")
    compared = [name for name in names("bench/*.lua") if name in own or name in torch]
    return list(dict.fromkeys(compared + own))   # a table may have its workloads in Lua and its own columns


def main():
    names = sys.argv[1:] or all_tables()
    lines = []
    for line in (line for part in [header(), *map(table_lines, names)] for line in part):
        print(line, flush=True)
        lines.append(line)
    if not sys.argv[1:]:
        with open("bench/results.md", "w") as f:
            f.write("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
