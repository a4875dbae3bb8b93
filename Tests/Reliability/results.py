"""What the last run of each rig came to: a small JSON file for each, below .build/reliability."""

import json
import os
import platform
import subprocess
import time

PROJECT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
FOLDER = os.environ.get("SILLOK_RELIABILITY", os.path.join(PROJECT, ".build", "reliability"))


def commit():
    """The commit that is checked out; a star behind it where the tree has changes, but for the page that is written."""
    git = lambda *words: subprocess.run(["git", *words], cwd=PROJECT, capture_output=True, text=True).stdout.strip()
    changed = git("status", "--porcelain", "--untracked-files=no", "--", ".", ":!docs")
    return (git("rev-parse", "--short=10", "HEAD") or "unknown") + ("*" if changed else "")


def machine():
    """Processors, system and kernel, as far as they can be told."""
    name = ""
    try:
        with open("/etc/os-release") as file:
            lines = dict(line.rstrip().split("=", 1) for line in file if "=" in line)
        name = lines.get("PRETTY_NAME", "").strip('"').replace("GNU/Linux ", "")
    except OSError:
        pass
    return f"{os.cpu_count()} cores, {name or platform.system()}, Linux {platform.release().split('-')[0]}"


def write(rig, columns, rows, failed, seconds, build, **more):
    """`rows` are lists of cells, the first is the scenario; `failed` is how many of what was tried did not hold."""
    os.makedirs(FOLDER, exist_ok=True)
    found = {
        "rig": rig,
        "time": time.strftime("%Y-%m-%d", time.gmtime()),
        "commit": commit(),
        "machine": machine(),
        "build": build,
        "seconds": round(seconds),
        "failed": failed,
        **more,
        "columns": columns,
        "rows": rows,
    }
    _keep(found)
    return found


def _keep(found):
    path = os.path.join(FOLDER, found["rig"] + ".json")
    with open(path + ".new", "w") as file:
        json.dump(found, file, indent=1, ensure_ascii=False)
    os.replace(path + ".new", path)


def note(rig, **more):
    """Says more of the last run, where there was one."""
    if found := read(rig):
        _keep({**found, **more})


def read(rig):
    """The last run of a rig; `None` where there is none."""
    try:
        with open(os.path.join(FOLDER, rig + ".json")) as file:
            return json.load(file)
    except FileNotFoundError:
        return None


def build_of(folder):
    """release or debug, by the name of the programs' folder."""
    return "release" if "release" in os.path.realpath(folder) else "debug"
