# SPDX-License-Identifier: Apache-2.0
"""Bar charts as SVG: groups of horizontal bars on a logarithmic axis of ratios, with a line at 1 and marks at what is promised."""
import math
from xml.sax.saxutils import escape

COLOURS = ["#4269d0", "#efb118", "#ff725c", "#6cc5b0", "#9c6b4e", "#a463f2"]
WIDTH, LEFT, RIGHT, TOP, BAR, GAP = 900, 190, 60, 64, 11, 9


def _ticks(low, high):
    """1, 2 and 5 times powers of ten; only the powers where there would be too many."""
    powers = range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
    steps = (1, 2, 5) if len(powers) <= 3 else (1,)
    return [s * 10.0**p for p in powers for s in steps if low <= s * 10.0**p <= high]


def _text(x, y, text, extra=""):
    return '<text x="%.1f" y="%.1f" %s>%s</text>' % (x, y, extra, escape(text))


def _legend(series):
    out, x = [], LEFT
    for name, colour in zip(series, COLOURS):
        out.append('<rect x="%.1f" y="34" width="11" height="11" fill="%s"/>' % (x, colour))
        out.append(_text(x + 16, 44, name))
        x += 36 + 6.6 * len(name)
    return out


def _axis(low, high, place, bottom):
    out = []
    for tick in _ticks(low, high):
        line = "#444" if tick == 1 else "#ddd"
        out.append('<line x1="%.1f" y1="%d" x2="%.1f" y2="%d" stroke="%s"/>' % (place(tick), TOP - 8, place(tick), bottom, line))
        out.append(_text(place(tick), bottom + 14, "%g" % tick, 'text-anchor="middle" fill="#444"'))
    return out


def _group(label, values, promises, y, place):
    out = [_text(LEFT - 8, y + len(values) * BAR / 2 + 4, label, 'text-anchor="end"')]
    for i, v in enumerate(values):
        if v is None:
            continue
        a, b, at = place(1), place(v), y + i * BAR
        out.append('<rect x="%.1f" y="%.1f" width="%.1f" height="%d" fill="%s"/>' % (min(a, b), at, max(abs(b - a), 1), BAR - 2, COLOURS[i]))
        side = 'text-anchor="start"' if b >= a else 'text-anchor="end"'
        out.append(_text(b + (4 if b >= a else -4), at + BAR - 3, "%.3g" % v, side + ' font-size="9" fill="#444"'))
    for i, v in enumerate(promises or []):
        if v:
            out.append('<line x1="%.1f" y1="%.1f" x2="%.1f" y2="%.1f" stroke="#000" stroke-width="2"/>' % (
                place(v), y + i * BAR - 1, place(v), y + (i + 1) * BAR - 1))
    return out


def bars(title, series, groups):
    """An SVG text. groups: (label, one value or None for each of series, promises likewise or None)."""
    known = [v for _, values, promises in groups for v in list(values) + list(promises or []) if v]
    low, high = min(known + [0.5]) * 0.8, max(known + [2]) * 1.25
    place = lambda v: LEFT + (WIDTH - LEFT - RIGHT) * math.log(v / low) / math.log(high / low)
    y, body = TOP, []
    for label, values, promises in groups:
        body += _group(label, values, promises, y, place)
        y += len(values) * BAR + GAP
    head = '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %d %d" width="%d" height="%d" font-family="sans-serif" font-size="11">' % (
        WIDTH, y + 24, WIDTH, y + 24)
    lines = [head, '<rect width="100%" height="100%" fill="#fff"/>', _text(12, 20, title, 'font-size="14" font-weight="bold"')]
    return "\n".join(lines + _legend(series) + _axis(low, high, place, y) + body + ["</svg>"]) + "\n"
