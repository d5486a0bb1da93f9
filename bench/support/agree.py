"""Does a loop written by hand compute what perilune computes?

Sides answer a request for results with a digest of each array: how many elements, the sum of
their sizes, their sum, and SHOWN of them (bench/support/worker.lua). Loops may have more to give
than perilune's call returns, a loss beside its gradient.
"""
import sys

SHOWN = 64
TOLERANCE = 1e-12  # of the sum of sizes; of elements, of which the small ones count as average


def digests(side, workload, threads):
    """A list of digests, or None where there is nothing to compare."""
    answer = side.ask(f"result\t{workload}\t{threads}")
    numbers = [] if answer == "none" else [float(x) for x in answer.split()]
    length = 3 + SHOWN
    return [numbers[i:i + length] for i in range(0, len(numbers), length)] or None


def differences(ours, theirs):
    """What two digests say differently, as text."""
    n, size, total, *shown = theirs
    if ours[0] != n:
        yield f"{ours[0]:g} and {n:g} elements"
    if not abs(ours[2] - total) <= TOLERANCE * size:
        yield f"sums {ours[2]!r} and {total!r}"
    for a, b in zip(ours[3:], shown):
        if not abs(a - b) <= TOLERANCE * max(abs(b), size / n):
            yield f"elements {a!r} and {b!r}"


def check(sides, ours, workload, threads):
    """Stops the run if the loop named like the workload disagrees with it."""
    theirs = digests(sides["hand"], workload, threads) if "hand" in sides else None
    if theirs is None:
        return
    values = digests(sides[ours], workload, threads) or []
    found = [text for pair in zip(values, theirs) for text in differences(*pair)]
    if found or not 0 < len(values) <= len(theirs):
        found = found or [f"{len(values)} and {len(theirs)} results"]
        sys.exit(f"bench: {workload}: perilune and the loop written by hand differ: {found[0]}")
