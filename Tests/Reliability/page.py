"""The tables of docs/reference/RELIABILITY.md, between markers: of the results that are there, and of nothing else."""

import os
import re

import results

PAGE = os.path.join(results.PROJECT, "docs", "reference", "RELIABILITY.md")


def table(found):
    """Markdown of one result, or what to do where there is none."""
    head = "| " + " | ".join(map(str, found["columns"])) + " |"
    rule = "|" + " --- |" * len(found["columns"])
    return "\n".join([head, rule, *("| " + " | ".join(_cell(cell) for cell in row) + " |" for row in found["rows"])])


def _cell(value):
    return f"{value:,}" if isinstance(value, int) else str(value).replace("|", "\\|")


def caption(found):
    """One line: how it was made."""
    seed = f", seed {found['seed']}" if "seed" in found else ""
    held = "all of it held" if not found["failed"] else f"**{found['failed']} did not hold**"
    return f"{found['time']}, commit {found['commit']}, {found['build']} build, {found['seconds']} s on {found['machine']}{seed}: {held}."


def section(name):
    found = results.read(name)
    if found is None:
        return f"`make reliability ONLY={name}` has not been run for this page."
    return f"{caption(found)}\n\n{table(found)}"


def written(text):
    """The page with its tables anew."""

    def fill(match):
        return f"<!-- reliability: {match[1]} -->\n\n{section(match[1])}\n\n<!-- /reliability -->"

    return re.sub(r"<!-- reliability: ([a-z-]+) -->\n.*?<!-- /reliability -->", fill, text, flags=re.S)


def names(text):
    """The results that the page has a place for."""
    return re.findall(r"<!-- reliability: ([a-z-]+) -->", text)


def write():
    with open(PAGE) as file:
        text = file.read()
    with open(PAGE, "w") as file:
        file.write(written(text))
