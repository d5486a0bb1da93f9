"""Does the cost of an element stay the same, and does a step of VI grow as its data do?

![Time of a KL divergence per element, and of a step of VI, against size](growth.svg)
"""
import loglog

FAMILIES = "Normal", "Gamma"
KL_SIZES = [10 ** power for power in range(3, 8)]
VI_SIZES = [10 ** power for power in range(2, 7)]
FLAT = 1.5           # the dearest element over the cheapest
LINEAR = 10 * FLAT   # ten times the data over once
SIDES = {"perilune": "ours", "f64": "other"}
NAMES = {"perilune": "perilune", "f64": "torch"}
UNITS = ["1 ns", "10 ns", "100 ns", "1 µs", "10 µs", "100 µs", "1 ms", "10 ms", "100 ms", "1 s"]


def exponent(size):
    return len(str(size)) - 1


def curve(times, row, sizes, side, per=lambda size: 1):
    """(size, seconds) of rows named like row.format(exponent of the size)."""
    return [(n, times[row.format(exponent(n)), 1][side] / per(n)) for n in sizes]


def spans(points):
    values = [y for _, y in points]
    return max(values) / min(values)


def steepest(points):
    values = [y for _, y in points]
    return max(b / a for a, b in zip(values, values[1:]))


def unit(power):
    return UNITS[power + 9] if -9 <= power <= 0 else loglog.power(power) + " s"


def draw(per_element, step):
    kl = [(f"{NAMES[side]} {family}", SIDES[side], points)
          for (family, side), points in per_element.items()]
    vi = [(NAMES[side], SIDES[side], points) for side, points in step.items()]
    with open("bench/growth.svg", "w") as f:
        f.write(loglog.picture([
            ("KL divergence, time per element", "elements", unit, kl),
            ("Step of VI, logistic regression", "data (of 10 features each)", unit, vi),
        ]))


def table(_rounds, judge, times_of):
    kl, vi = times_of("scaling"), times_of("vi")
    per_element = {(family, side): curve(kl, family + ", n = 1e{}", KL_SIZES, side, lambda n: n)
                   for family in FAMILIES for side in SIDES}
    step = {side: curve(vi, "logistic regression, N = 1e{}", VI_SIZES, side) for side in SIDES}
    draw(per_element, step)
    yield ["", "perilune", "torch f64"]
    for family in FAMILIES:
        ours, theirs = (spans(per_element[family, side]) for side in SIDES)
        yield [f"KL {family}: dearest over cheapest element, n = 1e3 ... 1e7",
               judge(f"{ours:.2f}", ours, most=FLAT), f"{theirs:.2f}"]
    ours, theirs = (steepest(step[side]) for side in SIDES)
    yield ["VI step: most that ten times the data cost, N = 1e2 ... 1e6",
           judge(f"{ours:.1f}", ours, most=LINEAR), f"{theirs:.1f}"]
