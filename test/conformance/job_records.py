"""What a Python worker tells worker-trial.ts, which see: empty files, one an event."""

import os
import pathlib

QUEUE = os.environ["JOB_QUEUE"]
FAILS, HANGS = int(os.environ["JOB_FAILS"]), int(os.environ["JOB_HANGS"])
records = pathlib.Path(os.environ["JOB_RECORDS"])


def record(event, number):
    (records / f"{event}-{number}.{os.environ['JOB_WORKER']}").touch()


def happened(event, number):
    return any(records.glob(f"{event}-{number}.*"))


def fail_once(number):
    if number == FAILS and not happened("failed", number):
        record("failed", number)
        raise RuntimeError("fails once")


def must_hang(number):
    """Says too that the job has started."""
    first = number == HANGS and not happened("started", number)
    if number == HANGS:
        record("started", number)
    return first
