"""An ordinary Celery application on SQS. The broker's endpoint, region and credentials come from the environment alone."""

import os
import pathlib
import time

from celery import Celery

app = Celery("tasks", broker="sqs://")
app.conf.update(
    task_default_queue=os.environ["CELERY_QUEUE"],
    task_acks_late=True,
    worker_prefetch_multiplier=1,
    worker_enable_remote_control=False,
    broker_connection_retry_on_startup=True,
    broker_transport_options={"visibility_timeout": 10, "wait_time_seconds": 5},
)
results = pathlib.Path(os.environ["CELERY_RESULTS"])


def note(name):
    (results / f"{name}.{os.getpid()}").write_text(str(os.getppid()))


@app.task
def ordinary(number):
    note(f"done-{number}")


@app.task(bind=True, max_retries=3)
def flaky(self, number):
    if self.request.retries == 0:
        note(f"failed-{number}")
        raise self.retry(countdown=1)
    note(f"done-{number}")


@app.task
def timed(number, due):
    """Sent with an ETA or a countdown, which must have passed."""
    note(f"{'early' if time.time() < due else 'done'}-{number}")


@app.task
def fatal(number):
    """The first worker that runs it is killed while it sleeps."""
    first = not list(results.glob(f"started-{number}.*"))
    note(f"started-{number}")
    if first:
        time.sleep(300)
    note(f"done-{number}")


@app.task
def ordered(group, number, hangs):
    """Tells in one file of its group when it starts and ends; one hangs in the worker that begins it first."""
    path = results / f"events-{group}"
    again = path.exists() and f"started {number} " in path.read_text()
    with path.open("a") as events:
        print("started", number, os.getppid(), file=events, flush=True)
        time.sleep(300 if hangs and not again else 0.02)
        print("done", number, os.getppid(), file=events, flush=True)
