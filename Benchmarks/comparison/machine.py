"""Where it was measured, and with which versions."""

import datetime
import os
import re
import shutil
import subprocess


def text_of(*words):
    try:
        done = subprocess.run(words, capture_output=True, text=True, timeout=60)
        return (done.stdout or done.stderr).strip()
    except (OSError, subprocess.TimeoutExpired):
        return ""


def first_line(*words):
    return text_of(*words).partition("\n")[0]


def describe(work):
    """Everything a reader must know to judge the figures."""
    with open("/proc/cpuinfo") as file:
        model = re.search(r"model name\s*: (.*)", file.read())
    with open("/proc/meminfo") as file:
        memory = int(re.search(r"MemTotal:\s*(\d+)", file.read()).group(1)) / 1048576
    guest = re.search(r"Hypervisor vendor:\s*(.*)", text_of("lscpu"))
    sqlite = re.search(r'SQLITE_VERSION\s+"(.*)"', text_of("grep", "-h", "define SQLITE_VERSION ", "/usr/include/sqlite3.h"))
    versions = {
        "Sillok": text_of("git", "describe", "--always", "--dirty"), "Swift": re.sub(r"^Swift version | \(.*", "", first_line("swift", "--version")),
        "gcc": first_line("gcc", "-dumpfullversion"), "SQLite": sqlite.group(1) if sqlite else "",
        "PostgreSQL": re.sub(r".*\) ([0-9.]+).*", r"\1", first_line("psql", "--version")), "Redis": re.sub(r".*v=([0-9.]+).*", r"\1", first_line("redis-server", "--version")),
        "NATS": first_line("nats-server", "--version").rpartition(" ")[2], "Prosody": package_version("prosody"),
    }
    return {
        "date": datetime.datetime.now(datetime.timezone.utc).date().isoformat(),
        "cpu": f"{os.cpu_count()} cores of {model.group(1) if model else 'unknown'}",
        "memory_gib": round(memory, 1), "guest": guest.group(1).strip() if guest else "no",
        "kernel": f"Linux {os.uname().release}", "disk": text_of("df", "--output=fstype", work).split("\n")[-1],
        "versions": {name: version for name, version in versions.items() if version},
    }


def package_version(name):
    if not shutil.which("dpkg-query"):
        return ""
    return text_of("dpkg-query", "-W", "-f=${Version}", name)


def load():
    return round(os.getloadavg()[0], 2)
