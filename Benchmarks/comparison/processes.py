"""Programs that are run to their end, servers that are started and stopped, and what they use."""

import contextlib
import os
import shutil
import signal
import socket
import subprocess
import tempfile
import time


class Failed(Exception):
    """A program did not do what it was started for."""


def read_metrics(text):
    """Lines of `metric TAB value` as a dictionary."""
    metrics = {}
    for line in text.splitlines():
        name, tab, value = line.partition("\t")
        if not tab:
            raise Failed(f"no result: {line!r}")
        metrics[name] = float(value)
    return metrics


def run(*words, patience=1800, **options):
    """Runs a program and returns what it printed; what it complains of becomes the error."""
    words = [str(word) for word in words]
    try:
        done = subprocess.run(words, capture_output=True, text=True, timeout=patience, **options)
    except subprocess.TimeoutExpired:
        raise Failed(f"{' '.join(words[:3])} took more than {patience} s") from None
    if done.returncode != 0:
        raise Failed(f"{' '.join(words[:3])} ended with {done.returncode}: {(done.stderr or done.stdout).strip()[-500:]}")
    return done.stdout


def measure(*words, **options):
    return read_metrics(run(*words, **options))


def latencies(prefix, seconds):
    """Median, 99th percentile and maximum as metrics in microseconds."""
    ordered = sorted(seconds)
    last = len(ordered) - 1
    return {f"{prefix}p50_us": ordered[last // 2] * 1e6, f"{prefix}p99_us": ordered[last * 99 // 100] * 1e6,
            f"{prefix}max_us": ordered[last] * 1e6}


def seconds_of(*words, accepted=(0,)):
    """How long a program takes from its start to its end; what it prints is dropped."""
    words = [str(word) for word in words]
    with open(os.devnull, "r+b") as nothing:
        actions = [(os.POSIX_SPAWN_DUP2, nothing.fileno(), fd) for fd in (0, 1)]
        start = time.perf_counter()
        child = os.posix_spawnp(words[0], words, os.environ, file_actions=actions)
        _, status = os.waitpid(child, 0)
        elapsed = time.perf_counter() - start
    if os.waitstatus_to_exitcode(status) not in accepted:
        raise Failed(f"{' '.join(words[:4])} ended with {os.waitstatus_to_exitcode(status)}")
    return elapsed


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def wait_until(condition, what, patience=60.0, pause=0.01):
    """Calls `condition` until it is true."""
    end = time.monotonic() + patience
    while not condition():
        if time.monotonic() > end:
            raise Failed(f"waited {patience:.0f} s for {what}")
        time.sleep(pause)


class Server:
    """A process of ours, with a folder for its sockets. Subclasses give `command()` and `is_ready()`."""

    patience = 120.0
    pause = 0.005
    stop_signal = signal.SIGTERM

    def __init__(self, folder):
        self.folder = os.path.abspath(folder)
        self.sockets = None
        self.process = None
        self.port = None

    @property
    def pid(self):
        return self.process.pid

    def environment(self):
        return dict(os.environ)

    def __enter__(self):
        self.sockets = tempfile.mkdtemp(prefix="sillok-bench-")
        os.chmod(self.sockets, 0o755)
        try:
            self.start()
        except BaseException:
            self.__exit__()
            raise
        return self

    def start(self):
        with open(os.path.join(self.sockets, "log"), "ab") as log:
            self.process = subprocess.Popen(
                self.command(), stdin=subprocess.DEVNULL, stdout=log, stderr=log, env=self.environment())
        wait_until(self.check, f"{type(self).__name__} to be ready", self.patience, self.pause)

    def check(self):
        if self.process.poll() is not None:
            with open(os.path.join(self.sockets, "log"), errors="replace") as log:
                raise Failed(f"{type(self).__name__} ended: {log.read()[-800:]}")
        return self.is_ready()

    def stop(self, how=signal.SIGTERM):
        """Ends the process that was started here, and only that."""
        if self.process and self.process.poll() is None:
            self.process.send_signal(how)
            try:
                self.process.wait(timeout=120)
            except subprocess.TimeoutExpired:
                self.process.kill()
                self.process.wait()

    def __exit__(self, *_):
        self.stop(self.stop_signal)
        if self.sockets:
            shutil.rmtree(self.sockets, ignore_errors=True)


def tree(root):
    """The process and its descendants."""
    parents = {}
    for name in os.listdir("/proc"):
        if name.isdigit():
            with contextlib.suppress(OSError):
                with open(f"/proc/{name}/stat", errors="replace") as file:
                    parents[int(name)] = int(file.read().rpartition(")")[2].split()[1])
    found = {root}
    grown = True
    while grown:
        new = {pid for pid, parent in parents.items() if parent in found} - found
        found |= new
        grown = bool(new)
    return found


def memory(root):
    """Megabytes of the process and its descendants; what they share is counted once (PSS of proc(5))."""
    kilobytes = 0
    for pid in tree(root):
        with contextlib.suppress(OSError):
            with open(f"/proc/{pid}/smaps_rollup") as file:
                kilobytes += sum(int(line.split()[1]) for line in file if line.startswith("Pss:"))
    return kilobytes * 1024 / 1e6


def cpu(root):
    """Seconds of CPU of the process, its descendants, and those they have waited for."""
    ticks = 0
    for pid in tree(root):
        with contextlib.suppress(OSError):
            with open(f"/proc/{pid}/stat", errors="replace") as file:
                ticks += sum(int(field) for field in file.read().rpartition(")")[2].split()[11:15])
    return ticks / os.sysconf("SC_CLK_TCK")


class MemoryWatch:
    """The greatest memory of a process tree while the block runs; looks every fifth of a second, in a child process, so that
    Python's own lock does not matter to anyone."""

    def __init__(self, root):
        self.root = root

    def __enter__(self):
        import threading

        self.peak = memory(self.root)
        self.ended = threading.Event()
        self.thread = threading.Thread(target=self.watch)
        self.thread.start()
        return self

    def watch(self):
        while not self.ended.wait(0.2):
            self.peak = max(self.peak, memory(self.root))

    def __exit__(self, *_):
        self.ended.set()
        self.thread.join()


def size_of(folder, *, without=()):
    """Bytes that the files below `folder` occupy, without folders of these names."""
    total = 0
    for path, folders, files in os.walk(folder):
        folders[:] = [name for name in folders if name not in without]
        for name in files:
            with contextlib.suppress(OSError):
                total += os.stat(os.path.join(path, name)).st_size
    return total
