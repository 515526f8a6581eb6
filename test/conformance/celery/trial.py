"""What the Celery programs share: workers of tasks.py as processes, and what these record in a folder."""

import os
import pathlib
import shutil
import signal
import subprocess
import sys
import tempfile
import time

folder = pathlib.Path(tempfile.mkdtemp())
os.environ["CELERY_RESULTS"] = str(folder)
workers = {}


def check(what, holds, seen=None):
    """One line a check; the first wrong answer ends the program with status 1."""
    if not holds:
        print(f"FAILED {what}: saw {seen!r}")
        for log in sorted(folder.glob("*.log")):
            print(f"--- {log.name}\n{log.read_text()[-3000:]}")
        sys.exit(1)
    print(f"ok {what}", flush=True)


def start_worker(name, concurrency):
    command = [sys.executable, "-m", "celery", "-A", "tasks", "worker", f"--concurrency={concurrency}", "--loglevel=info"]
    command += [f"--hostname={name}@localhost", "--without-gossip", "--without-mingle"]
    log = (folder / f"{name}.log").open("w")
    workers[name] = subprocess.Popen(
        command, stdout=log, stderr=subprocess.STDOUT, start_new_session=True, cwd=pathlib.Path(__file__).parent
    )


def kill_worker(pid):
    """SIGKILL for the worker and what it forked."""
    (name,) = [name for name, worker in workers.items() if worker.pid == pid]
    os.killpg(pid, signal.SIGKILL)
    workers.pop(name).wait()
    check("its worker is killed", True)


def stop_worker(worker):
    worker.send_signal(signal.SIGTERM)
    check("the worker stops", worker.wait(timeout=60) == 0, worker.returncode)


def end():
    for worker in workers.values():
        if worker.poll() is None:
            os.killpg(worker.pid, signal.SIGKILL)
    shutil.rmtree(folder)


def files(kind, number="*"):
    return list(folder.glob(f"{kind}-{number}.*"))


def wait_until(what, condition, seconds=90):
    deadline = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > deadline:
            check(what, False, sorted(path.name for path in folder.iterdir()))
        time.sleep(0.1)
    check(what, True)


def left_in_queue(sqs, url):
    names = [f"ApproximateNumberOfMessages{suffix}" for suffix in ("", "NotVisible", "Delayed")]
    seen = sqs.get_queue_attributes(QueueUrl=url, AttributeNames=names)["Attributes"]
    return sum(int(value) for value in seen.values())
