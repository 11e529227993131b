"""docs/reference/timing.svg: every figure as a point."""

from __future__ import annotations

import math

from timing_report.figures import Row


def plot(found: dict[str, list[Row]]) -> str:
    """Every row as a point: published across, model up, both axes logarithmic, 10 % band."""
    rows = [row for section in found.values() for row in section]
    low = 10 ** math.floor(math.log10(min(min(r.published, r.model) for r in rows)))
    high = 10 ** math.ceil(math.log10(max(max(r.published, r.model) for r in rows)))
    size, left, colours = 420, 60, ["#1b6ca8", "#c0392b", "#27834a", "#8e44ad"]

    def at(value: float) -> float:
        return size * math.log10(value / low) / math.log10(high / low)

    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {size + 330} {size + 70}" '
        'font-family="sans-serif" font-size="12">',
        f'<rect width="{size + 330}" height="{size + 70}" fill="white"/>',
        f'<g transform="translate({left},{size + 20})">',
        f'<rect y="{-size}" width="{size}" height="{size}" fill="none" stroke="#888"/>',
    ]
    band = at(low * 1.1)
    parts.append(
        f'<polygon points="0,{-band:.1f} {size - band:.1f},{-size} {size},{-size} '
        f'{size},{band - size:.1f} {band:.1f},0 0,0" fill="#eee"/>'
    )
    parts.append(f'<line x1="0" y1="0" x2="{size}" y2="{-size}" stroke="#aaa"/>')
    decade = low
    while decade <= high:
        x = at(decade)
        parts.append(f'<text x="{x:.1f}" y="16" text-anchor="middle">{decade:g}</text>')
        parts.append(f'<text x="-6" y="{4 - x:.1f}" text-anchor="end">{decade:g}</text>')
        decade *= 10
    for colour, (title, section) in zip(colours, found.items(), strict=True):
        parts += [
            f'<circle cx="{at(r.published):.1f}" cy="{-at(r.model):.1f}" r="3.5" fill="{colour}" '
            f'fill-opacity="0.7"><title>{r.what}</title></circle>'
            for r in section
        ]
        line = -size + 14 + 18 * list(found).index(title)
        parts.append(f'<circle cx="{size + 14}" cy="{line - 4}" r="4" fill="{colour}"/>')
        parts.append(
            f'<text x="{size + 24}" y="{line}">{title.split(" (")[0].split(",")[0]}</text>'
        )
    parts.append(f'<text x="{size / 2}" y="34" text-anchor="middle">published</text>')
    parts.append(f'<text x="{size + 14}" y="{-size + 100}">grey band: within 10 %</text>')
    turned = f"translate(-44,{-size / 2}) rotate(-90)"
    parts.append(f'<text transform="{turned}" text-anchor="middle">model</text>')
    return "\n".join([*parts, "</g>", "</svg>", ""])
