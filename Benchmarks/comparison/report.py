"""Writes the results into docs/BENCHMARKS.md, between two markers, and draws them."""

import os

from comparison.drawing import draw
from comparison.goals import GOALS, judge
from comparison.sections import SECTIONS
from comparison.wording import HIDDEN, METRICS, contestant, figure, spread

BEGIN, END = "<!-- results: written by Benchmarks/compare --report -->", "<!-- end of results -->"


def goals_table(results):
    lines = ["| goal | Sillok: min / **median** / max | against | ratio | met |", "|---|---:|---:|---:|:-:|"]
    row = None
    for goal in GOALS:
        if goal.row != row:
            row = goal.row
            lines.append(f"| **{row}** | | | | |")
        verdict = judge(goal, results)
        if verdict is None:
            lines.append(f"| {goal.what} | not measured | | | |")
            continue
        elsewhere = "" if verdict.section == goal.sections[0] else f" ({events_of(results, verdict.section)})"
        theirs = spread(verdict.theirs) + f" {goal.unit}" if verdict.theirs else "–"
        ratio = figure(verdict.ratio) if verdict.ratio is not None else "–"
        lines.append(f"| {goal.what}{elsewhere} | {spread(verdict.ours)} {goal.unit} | {theirs} | {ratio} |"
                     f" {'yes' if verdict.met else '**no**'} |")
    return lines


def events_of(results, section):
    return f"measured with {results.sections[section]['preload']:,} events"


def section_table(key, measured):
    found = measured["results"]
    metrics = [name for name in METRICS if name not in HIDDEN and any(name in values for values in found.values())]
    lines = [f"| | {' | '.join(METRICS[name] for name in metrics)} |", "|---|" + "---:|" * len(metrics)]
    for who, values in found.items():
        cells = [spread(values[name]) if name in values else "–" for name in metrics]
        lines.append(f"| {contestant(who)} | {' | '.join(cells)} |")
    for who, why in measured["failures"].items():
        lines.append(f"| {contestant(who)} | failed: {why.splitlines()[0].replace('|', '/')[:150]} |" + " |" * (len(metrics) - 1))
    return lines


def details(results):
    lines = []
    for name, function in SECTIONS.items():
        for key in function.keys:
            measured = results.sections.get(key)
            if not measured:
                continue
            question = function.__doc__.strip()
            lines += ["", f"### {key}", "", f"{question} {measured['rounds']} rounds, size {measured['size']},"
                      f" load average {measured['load'][0]} before and {measured['load'][1]} after, commit"
                      f" {measured['machine']['versions'].get('Sillok', 'unknown')}.", ""]
            lines += section_table(key, measured)
    return lines


def machine(results):
    """Of the last section; every one has its own in the JSON."""
    described = list(results.sections.values())[-1]["machine"]
    loads = [load for measured in results.sections.values() for load in measured["load"]]
    versions = ", ".join(f"{name} {version}" for name, version in described["versions"].items())
    guest = f", {described['guest']} guest" if described["guest"] != "no" else ""
    return [
        f"- Machine: {described['cpu']}, {described['memory_gib']} GiB{guest}, {described['kernel']}, stores on"
        f" {described['disk']}; load average {min(loads)} to {max(loads)} between the sections (a benchmark itself makes load)",
        f"- Versions: {versions}", f"- Date: {described['date']}"]


def write(results, root):
    if not results.sections:
        raise SystemExit("compare: there are no results yet")
    folder = os.path.join(root, "docs", "bench")
    os.makedirs(folder, exist_ok=True)
    pictures = []
    for name, title, text in draw(results):
        with open(os.path.join(folder, name), "w") as file:
            file.write(text)
        pictures.append(f"![{title}](bench/{name})")
    path = os.path.join(root, "docs", "BENCHMARKS.md")
    with open(path) as file:
        before, begin, rest = file.read().partition(BEGIN)
    _, end, after = rest.partition(END)
    if not begin or not end:
        raise SystemExit(f"compare: {path} has lost its markers")
    lines = [BEGIN, "", *machine(results), "", *goals_table(results), "", *pictures, *details(results), "", END]
    with open(path, "w") as file:
        file.write(before + "\n".join(lines) + after)


def print_goals(results):
    for goal in GOALS:
        verdict = judge(goal, results)
        if verdict is None:
            mark, said = "?", "not measured"
        else:
            mark = "+" if verdict.met else "-"
            said = f"{spread(verdict.ours).replace('*', '')} {goal.unit}"
            if verdict.ratio is not None:
                said += f", {figure(verdict.ratio)} × {contestant(goal.theirs[0])}"
        print(f"{mark} {goal.row}: {goal.what}: {said}")
