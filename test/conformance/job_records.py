"""What a Python worker tells worker-trial.ts, which see: empty files, one an event."""

import os
import pathlib

QUEUE, WORKER = os.environ["JOB_QUEUE"], os.environ["JOB_WORKER"]
FAILS, HANGS = int(os.environ["JOB_FAILS"]), int(os.environ["JOB_HANGS"])
records = pathlib.Path(os.environ["JOB_RECORDS"])


def record(event, number):
    (records / f"{event}-{number}.{WORKER}").touch()


def happened(event, number):
    return any(records.glob(f"{event}-{number}.*"))


def fail_once(number):
    if number == FAILS and not happened("failed", number):
        record("failed", number)
        raise RuntimeError("fails once")


def must_hang(number):
    """In the worker that starts it first, as often as it comes there: a prefetched copy may have expired."""
    if number != HANGS:
        return False
    elsewhere = any(path.suffix != f".{WORKER}" for path in records.glob(f"started-{number}.*"))
    record("started", number)
    return not elsewhere
