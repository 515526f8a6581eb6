"""
An ordinary dramatiq application on dramatiq-sqs, for worker-trial.ts. A failed job is sent again with a delay; a worker's
polls wait one second, which is dramatiq's own setting. Endpoint, region and credentials come from the environment alone.
"""

import os
import pathlib
import sys
import time

import dramatiq
from dramatiq_sqs import SQSBroker

sys.path.append(str(pathlib.Path(__file__).parent.parent))
from job_records import QUEUE, fail_once, must_hang, record  # noqa: E402

dramatiq.set_broker(
    SQSBroker(
        visibility_timeout=10,
        middleware=[dramatiq.middleware.Retries(min_backoff=1000, max_backoff=2000)],
    )
)


@dramatiq.actor(queue_name=QUEUE)
def job(number):
    fail_once(number)
    if must_hang(number):
        time.sleep(300)
    record("done", number)


if __name__ == "__main__":
    if sys.argv[1] == "send":
        first, count = int(sys.argv[2]), int(sys.argv[3])
        for number in range(first, first + count):
            job.send(number)
    else:
        os.chdir(pathlib.Path(__file__).parent)
        os.execv(sys.executable, [sys.executable, "-m", "dramatiq", "jobs", "--processes=1", "--threads=2", "--path=."])
