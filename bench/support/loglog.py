"""Pictures of curves in panels with logarithmic axes, as SVG.

A panel is a title, the name of its horizontal axis, a function that writes the numbers of the
vertical one, and curves; a curve is a name, a kind (of COLOURS) and points (x, y). Curves are
named at their right ends. Axes run over whole decades.
"""
from html import escape
from math import ceil, floor, log10

PANEL, MARGIN = (360, 300), (76, 60, 134, 64)   # width, height; left, top, right, bottom
LABEL_GAP = 17                                  # between the names of two curves
COLOURS = {"ours": "#0b5394", "other": "#b45f06"}
STYLE = """
text { font: 13px sans-serif; fill: #333 }
.title { font-size: 15px; font-weight: bold }
.grid { stroke: #e2e2e2 }
.curve { fill: none; stroke-width: 2.2; stroke-linejoin: round }
""" + "".join(f".{kind} {{ stroke: {colour} }}\n"
              f".dot.{kind}, .name.{kind} {{ fill: {colour}; stroke: none }}\n"
              for kind, colour in COLOURS.items())
SUPERSCRIPTS = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")


def power(exponent):
    return "10" + str(exponent).translate(SUPERSCRIPTS)


def text(x, y, content, anchor="start", more=""):
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" {more}>{escape(content)}</text>'


class Axis:
    """From numbers to places between `start` and `end`."""

    def __init__(self, values, start, end):
        low, high = floor(log10(min(values)) + 1e-9), ceil(log10(max(values)) - 1e-9)
        self.decades = range(low, max(high, low + 1) + 1)
        self.start, self.length = start, end - start

    def __call__(self, value):
        first, last = self.decades[0], self.decades[-1]
        return self.start + self.length * (log10(value) - first) / (last - first)


def spread(places):
    """Places moved down as far as names need, in the order given, which is from the top."""
    moved = []
    for y in places:
        moved.append(max(y, moved[-1] + LABEL_GAP) if moved else y)
    return moved


def grid(x, y, unit):
    """Lines and numbers; unit(exponent) writes a number at the vertical axis."""
    left, bottom, right, top = x.start, y.start, x.start + x.length, y.start + y.length
    for e in x.decades:
        yield f'<path class="grid" d="M{x(10.0 ** e):.1f} {bottom:.1f}V{top:.1f}"/>'
        yield text(x(10.0 ** e), bottom + 20, power(e), "middle")
    for e in y.decades:
        yield f'<path class="grid" d="M{left:.1f} {y(10.0 ** e):.1f}H{right:.1f}"/>'
        yield text(left - 8, y(10.0 ** e) + 4, unit(e), "end")


def drawn(curve, x, y):
    _, kind, points = curve
    places = [(x(a), y(b)) for a, b in points]
    line = "L".join(f"{a:.1f} {b:.1f}" for a, b in places)
    yield f'<path class="curve {kind}" d="M{line}"/>'
    for a, b in places:
        yield f'<circle class="dot {kind}" cx="{a:.1f}" cy="{b:.1f}" r="3"/>'


def panel(left, title, across, unit, curves):
    width, height = PANEL
    top = MARGIN[1]
    points = [point for _, _, curve in curves for point in curve]
    x = Axis([a for a, _ in points], left, left + width)
    y = Axis([b for _, b in points], top + height, top)
    yield text(left, top - 22, title, more='class="title"')
    yield text(left + width / 2, top + height + 46, across, "middle")
    yield from grid(x, y, unit)
    for curve in curves:
        yield from drawn(curve, x, y)
    ends = sorted((y(points[-1][1]), name, kind) for name, kind, points in curves)
    for place, (_, name, kind) in zip(spread([end[0] for end in ends]), ends):
        yield text(left + width + 10, place + 4, name, more=f'class="name {kind}"')


def picture(panels):
    """The text of an SVG of panels side by side."""
    step = MARGIN[0] + PANEL[0] + MARGIN[2]
    width, height = step * len(panels), MARGIN[1] + PANEL[1] + MARGIN[3]
    lines = ['<svg xmlns="http://www.w3.org/2000/svg" '
             f'viewBox="0 0 {width} {height}" width="{width}" height="{height}">',
             f"<style>{STYLE}</style>", '<rect width="100%" height="100%" fill="white"/>']
    for i, one in enumerate(panels):
        lines += panel(i * step + MARGIN[0], *one)
    return "\n".join([*lines, "</svg>"]) + "\n"
