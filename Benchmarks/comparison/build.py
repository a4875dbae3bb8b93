"""Builds what is measured and what measures it."""

import glob
import os
import shutil

from comparison.bench import ROOT, say
from comparison.processes import Failed, run

FLAGS = ["-std=c17", "-O2", "-Wall", "-Wextra", "-Werror", "-pthread"]
HERE = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))


def build(bench):
    for product in ("sillok-bench", "syncd", "syncctl", "sillok-convert"):
        run(os.environ.get("SWIFT", "swift"), "build", "-c", "release", "--product", product, cwd=ROOT)
    compile_c(bench, "floor", sorted(glob.glob(f"{HERE}/floors/*.c")), ["-lsqlite3"])
    compile_c(bench, "syncd", [f"{HERE}/peers/syncd/driver.c"], [])
    for peer, libraries in (
            ("postgres", ["-I/usr/include/postgresql", "-lpq"]), ("redis", ["-lhiredis"]), ("nats", ["-lnats"])):
        try:
            compile_c(bench, peer, sorted(glob.glob(f"{HERE}/peers/{peer}/*.c")), libraries)
        except Failed as error:
            say(f"without {peer}: {error}")


def compile_c(bench, name, sources, libraries):
    if not shutil.which("gcc"):
        raise Failed("gcc is missing: make bench-peers installs it")
    run("gcc", *FLAGS, "-o", os.path.join(bench.native, name), *sources, *libraries)
