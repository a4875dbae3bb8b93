"""One picture: how milliseconds of each answer grow with the log. A line that stays level is an answer that costs its own size."""

import math
import statistics
from html import escape

from comparison.drawing import STYLE

LEFT, RIGHT, TOP, HEIGHT, WIDTH = 60, 300, 60, 320, 860
SHOWN = (
    ("history of the heaviest, last 50", "syncctl"), ("history, a type that occurs 50 times", "syncctl"),
    ("the big conversation, last 50", "syncctl"), ("replay of a user of 50", "syncctl"), ("conversations, newest 50", "syncctl"),
    ("history of the heaviest, last 50", "psql"), ("history, a type that occurs 50 times", "psql"),
)


def picture(sizes, processes, note):
    """`processes`: size to question to contestant to costs."""
    lines = []
    for question, who in SHOWN:
        if all(who in processes[size].get(question, {}) for size in sizes):
            walls = [statistics.median(cost.wall for cost in processes[size][question][who]) for size in sizes]
            lines.append((question, who, walls))
    least = 10 ** math.floor(math.log10(min(min(walls) for _, _, walls in lines)))
    most = 10 ** math.ceil(math.log10(max(max(walls) for _, _, walls in lines)))

    def x(size):
        span = math.log(sizes[-1] / sizes[0]) or 1
        return LEFT + (WIDTH - LEFT - RIGHT) * math.log(size / sizes[0]) / span

    def y(wall):
        return TOP + HEIGHT * (1 - math.log(wall / least) / math.log(most / least))

    title = "Whole processes: milliseconds of an answer, by events in the log"
    out = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {TOP + HEIGHT + 40}" width="{WIDTH}"'
        f' height="{TOP + HEIGHT + 40}" role="img" aria-label="{escape(title)}">', f"<style>{STYLE}",
        "  .syncctl { stroke: #0969da; fill: none; stroke-width: 2; } .psql { stroke: #afb8c1; fill: none; stroke-width: 2; }",
        "  .grid { stroke: #8884; }</style>",
        f'<text class="title" x="8" y="20">{escape(title)}</text>', f'<text class="note" x="8" y="38">{escape(note)}</text>']
    step = least
    while step <= most:
        out.append(f'<line class="grid" x1="{LEFT}" x2="{WIDTH - RIGHT}" y1="{y(step):.1f}" y2="{y(step):.1f}"/>')
        out.append(f'<text x="{LEFT - 8}" y="{y(step) + 4:.1f}" text-anchor="end">{step:g}</text>')
        step *= 10
    for size in sizes:
        out.append(f'<text x="{x(size):.1f}" y="{TOP + HEIGHT + 20}" text-anchor="middle">{size / 1e6:g} M</text>')
    taken = []
    for question, who, walls in sorted(lines, key=lambda line: line[2][-1]):
        points = " ".join(f"{x(size):.1f},{y(wall):.1f}" for size, wall in zip(sizes, walls))
        out.append(f'<polyline class="{who}" points="{points}"/>')
        place = y(walls[-1])
        while any(abs(place - other) < 15 for other in taken):
            place -= 1
        taken.append(place)
        out.append(f'<text x="{WIDTH - RIGHT + 8}" y="{place + 4:.1f}">{escape(who)}: {escape(question)}</text>')
    return "\n".join([*out, "</svg>", ""])
