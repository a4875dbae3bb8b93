"""One drawing for each question: bars of medians, with a line from the least to the greatest round. SVG as text; it reads
on light and on dark ground."""

import statistics
from html import escape

from comparison.wording import contestant, figure

STYLE = """
  text { font: 13px system-ui, sans-serif; fill: #1f2328; }
  .title { font-weight: 600; font-size: 15px; } .note { fill: #59636e; font-size: 12px; }
  .ours { fill: #0969da; } .theirs { fill: #afb8c1; } .range { stroke: #1f2328; stroke-width: 1.5; }
  @media (prefers-color-scheme: dark) {
    text { fill: #e6edf3; } .note { fill: #9198a1; } .ours { fill: #4493f8; } .theirs { fill: #656c76; }
    .range { stroke: #e6edf3; }
  }
"""

# name, title, unit, what is good, (section, contestants or None for all, metric)
DRAWINGS = [
    ("append-single", "One event in one durable commit, one client", "µs, median", "less", "append-single", "p50_us"),
    ("append-clients", "32 clients, one event each, durable", "events/s", "more", "append-clients", "rate"),
    ("append-batches", "Durable batches of 1,000", "events/s", "more", "append-batches", "rate"),
    ("cpu", "CPU time of appending in batches", "µs/event", "less", "append-batches", "cpu_us"),
    ("append-5m", "Durable batches of 1,000 into a large store", "events/s", "more", "append-5m", "rate"),
    ("append-10m", "Durable batches of 1,000 into a very large store", "events/s", "more", "append-10m", "rate"),
    ("history", "The last 50 events of a user", "µs, median", "less", "history", "p50_us"),
    ("history-5m", "The last 50 events of a user in a large store", "µs, median", "less", "history-5m", "p50_us"),
    ("replay", "All events in order", "events/s", "more", "replay", "rate"),
    ("catch-up", "An empty node learns everything", "events/s", "more", "catch-up", "rate"),
    ("live", "From the append on one node until visible on the other", "µs, median", "less", "live", "p50_us"),
    ("bytes-on-disk", "Disk", "bytes/event", "less", "bytes-on-disk", "bytes"),
    ("memory", "Memory under load", "MB", "less", "memory", "loaded_mb"),
    ("chat-1", "Chat messages stored and acknowledged, one client", "messages/s", "more", "chat-1", "rate"),
    ("chat-32", "Chat messages stored and acknowledged, 32 clients", "messages/s", "more", "chat-32", "rate"),
]
LEFT, WIDTH, BAR, GAP, TOP = 250, 720, 20, 8, 52


def bars(title, note, rows):
    """`rows`: (label, values, whether ours), drawn in their order."""
    longest = max(max(values) for _, values, _ in rows)
    height = TOP + len(rows) * (BAR + GAP) + 8
    room = WIDTH - LEFT - 90
    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" width="{WIDTH}" height="{height}" role="img"'
        f' aria-label="{escape(title)}">', f"<style>{STYLE}</style>",
        f'<text class="title" x="8" y="20">{escape(title)}</text>', f'<text class="note" x="8" y="38">{escape(note)}</text>']
    for number, (label, values, is_ours) in enumerate(rows):
        top, middle = TOP + number * (BAR + GAP), TOP + number * (BAR + GAP) + BAR / 2
        median = statistics.median(values)

        def x(value):
            return LEFT + room * value / longest

        lines += [
            f'<text x="{LEFT - 8}" y="{middle + 4.5}" text-anchor="end">{escape(label)}</text>',
            f'<rect class="{"ours" if is_ours else "theirs"}" x="{LEFT}" y="{top}" width="{max(x(median) - LEFT, 1):.1f}"'
            f' height="{BAR}" rx="2"/>',
            f'<text x="{x(max(values)) + 8:.1f}" y="{middle + 4.5}">{figure(median)}</text>']
        if len(values) > 1:
            lines.append(f'<line class="range" x1="{x(min(values)):.1f}" x2="{x(max(values)):.1f}" y1="{middle}" y2="{middle}"/>')
    return "\n".join([*lines, "</svg>", ""])


def draw(results):
    """File name and text of every drawing that has something to show."""
    for name, title, unit, good, section, metric in DRAWINGS:
        found = results.sections.get(section, {}).get("results", {})
        rows = [(contestant(who), metrics[metric], who.split()[0] in ("sillok", "syncd", "syncctl"))
                for who, metrics in found.items() if metric in metrics]
        if len(rows) < 2:
            continue
        rows.sort(key=lambda row: statistics.median(row[1]), reverse=good == "more")
        preload = results.sections[section]["preload"]
        note = f"{unit}; {good} is better; {preload:,} events before; line: least to greatest round"
        yield f"{name}.svg", title, bars(title, note, rows)
