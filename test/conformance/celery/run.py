"""
Two Celery workers and fifty tasks, two of them with an ETA: one task is retried, and one worker is killed with SIGKILL
in the middle of a task, which the other worker then gets.
"""

import datetime
import os
import time
import uuid

from trial import check, end, files, kill_worker, left_in_queue, start_worker, stop_worker, wait_until, workers

TASKS = 50
RETRIED, FATAL, ETA, COUNTDOWN = 7, 23, 31, 32
ETA_SECONDS = 6  # Less than the visibility timeout: Celery keeps such a task in the worker until its time has come.
os.environ["CELERY_QUEUE"] = f"celery-{uuid.uuid4().hex[:12]}"

import boto3  # noqa: E402
import tasks  # noqa: E402


def done():
    return {path.name.split(".")[0].removeprefix("done-") for path in files("done")}


try:
    for name in ("first", "second"):
        start_worker(name, concurrency=2)
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
    kill_worker(int(files("started", FATAL)[0].read_text()))

    wait_until("every task is done", lambda: len(done()) == TASKS)
    check("no task ran before its ETA", not files("early"), files("early"))
    check("the task was retried", len(files("failed", RETRIED)) == 1, files("failed"))
    check("the killed worker's task ran again", len(files("started", FATAL)) == 2, files("started", FATAL))
    (survivor,) = workers.values()
    runners = {path.read_text() for path in files("done", FATAL)}
    check("on the other worker", runners == {str(survivor.pid)}, runners)
    wait_until("every task is acknowledged", lambda: left_in_queue(sqs, url) == 0, seconds=40)
    stop_worker(survivor)
    sqs.delete_queue(QueueUrl=url)
finally:
    end()
for deed in (f"{TASKS} tasks", "ETA and countdown", "1 retry", "1 task of a worker killed by kill -9"):
    print(f"did {deed}")
