"""
Two Celery workers and fifty tasks, two of them with an ETA: one task is retried, and one worker is killed with SIGKILL
in the middle of a task, which the other worker then gets. One line a check; the first wrong answer ends the program
with status 1.
"""

import datetime
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import uuid

TASKS = 50
RETRIED, FATAL, ETA, COUNTDOWN = 7, 23, 31, 32
ETA_SECONDS = 6  # Less than the visibility timeout: Celery keeps such a task in the worker until its time has come.
folder = pathlib.Path(tempfile.mkdtemp())
os.environ["CELERY_QUEUE"] = f"celery-{uuid.uuid4().hex[:12]}"
os.environ["CELERY_RESULTS"] = str(folder)

import boto3  # noqa: E402
import tasks  # noqa: E402

workers = {}


def check(what, holds, seen=None):
    if not holds:
        print(f"FAILED {what}: saw {seen!r}")
        for log in sorted(folder.glob("*.log")):
            print(f"--- {log.name}\n{log.read_text()[-3000:]}")
        sys.exit(1)
    print(f"ok {what}", flush=True)


def start_worker(name):
    command = [sys.executable, "-m", "celery", "-A", "tasks", "worker", "--concurrency=2", "--loglevel=info"]
    command += [f"--hostname={name}@localhost", "--without-gossip", "--without-mingle"]
    log = (folder / f"{name}.log").open("w")
    workers[name] = subprocess.Popen(
        command, stdout=log, stderr=subprocess.STDOUT, start_new_session=True, cwd=pathlib.Path(__file__).parent
    )


def files(kind, number="*"):
    return list(folder.glob(f"{kind}-{number}.*"))


def done():
    return {path.name.split(".")[0].removeprefix("done-") for path in files("done")}


def wait_until(what, condition, seconds=90):
    deadline = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > deadline:
            check(what, False, sorted(path.name for path in folder.iterdir()))
        time.sleep(0.1)
    check(what, True)


def left_in_queue():
    names = [f"ApproximateNumberOfMessages{suffix}" for suffix in ("", "NotVisible", "Delayed")]
    seen = sqs.get_queue_attributes(QueueUrl=url, AttributeNames=names)["Attributes"]
    return sum(int(value) for value in seen.values())


try:
    for name in ("first", "second"):
        start_worker(name)
    due = time.time() + ETA_SECONDS
    eta = datetime.datetime.fromtimestamp(due, datetime.timezone.utc)
    tasks.timed.apply_async((ETA, due), eta=eta)
    tasks.timed.apply_async((COUNTDOWN, time.time() + ETA_SECONDS), countdown=ETA_SECONDS)
    for number in set(range(TASKS)) - {ETA, COUNTDOWN}:
        task = {RETRIED: tasks.flaky, FATAL: tasks.fatal}.get(number, tasks.ordinary)
        task.delay(number)
    check(f"{TASKS} tasks are sent", True)
    sqs = boto3.client("sqs")
    url = sqs.get_queue_url(QueueName=os.environ["CELERY_QUEUE"])["QueueUrl"]

    wait_until("the fatal task starts", lambda: files("started", FATAL))
    time.sleep(0.5)
    victim = int(files("started", FATAL)[0].read_text())
    (killed,) = [name for name, worker in workers.items() if worker.pid == victim]
    os.killpg(victim, signal.SIGKILL)
    workers.pop(killed).wait()
    check("its worker is killed", True)

    wait_until("every task is done", lambda: len(done()) == TASKS)
    check("no task ran before its ETA", not files("early"), files("early"))
    check("the task was retried", len(files("failed", RETRIED)) == 1, files("failed"))
    check("the killed worker's task ran again", len(files("started", FATAL)) == 2, files("started", FATAL))
    (survivor,) = workers.values()
    runners = {path.read_text() for path in files("done", FATAL)}
    check("on the other worker", runners == {str(survivor.pid)}, runners)
    wait_until("every task is acknowledged", lambda: left_in_queue() == 0, seconds=40)
    survivor.send_signal(signal.SIGTERM)
    check("the worker stops", survivor.wait(timeout=60) == 0, survivor.returncode)
    sqs.delete_queue(QueueUrl=url)
finally:
    for worker in workers.values():
        if worker.poll() is None:
            os.killpg(worker.pid, signal.SIGKILL)
shutil.rmtree(folder)
for deed in (f"{TASKS} tasks", "ETA and countdown", "1 retry", "1 task of a worker killed by kill -9"):
    print(f"did {deed}")
