"""
Two Celery workers on a FIFO queue and five groups of eight tasks, as kombu sends them with a MessageGroupId of the
caller's. One worker is killed with SIGKILL in the middle of a task: the rest of its group waits for that task.
"""

import os
import uuid

from trial import check, end, folder, kill_worker, left_in_queue, start_worker, stop_worker, wait_until, workers

GROUPS = [f"group-{number}" for number in range(5)]
EACH = 8
FATAL = ("group-2", 3)
os.environ["CELERY_QUEUE"] = f"celery-{uuid.uuid4().hex[:12]}.fifo"

import boto3  # noqa: E402
import tasks  # noqa: E402


def events(group):
    path = folder / f"events-{group}"
    return [line.split() for line in path.read_text().splitlines()] if path.exists() else []


def done(group):
    return [int(number) for what, number, _ in events(group) if what == "done"]


try:
    for name in ("first", "second"):
        start_worker(name, concurrency=1)
    for number in range(EACH):
        for group in GROUPS:
            tasks.ordered.apply_async((group, number, (group, number) == FATAL), MessageGroupId=group)
    check(f"{EACH * len(GROUPS)} tasks are sent", True)
    sqs = boto3.client("sqs")
    url = sqs.get_queue_url(QueueName=os.environ["CELERY_QUEUE"])["QueueUrl"]
    attributes = sqs.get_queue_attributes(QueueUrl=url, AttributeNames=["FifoQueue"])["Attributes"]
    check("kombu made a FIFO queue", attributes == {"FifoQueue": "true"}, attributes)

    group, fatal = FATAL
    wait_until("the fatal task starts", lambda: ["started", str(fatal)] in [event[:2] for event in events(group)])
    others = lambda: sum(len(done(each)) for each in GROUPS if each != group)
    before = others()
    wait_until("other groups go on beside it", lambda: others() > before)
    victim = int(events(group)[-1][2])
    kill_worker(victim)

    wait_until("every task is done", lambda: all(len(done(each)) == EACH for each in GROUPS))
    (survivor,) = workers.values()
    for each in GROUPS:
        expected = [(what, number) for number in range(EACH) for what in ("started", "done")]
        if each == group:
            expected.insert(2 * fatal, ("started", fatal))
        seen = [(what, int(number)) for what, number, _ in events(each)]
        check(f"{each}: one task after the other, in order", seen == expected, seen)
    check("the killed worker's task ran on the other", events(group)[2 * fatal + 2][2] == str(survivor.pid), events(group))
    wait_until("every task is acknowledged", lambda: left_in_queue(sqs, url) == 0, seconds=40)
    stop_worker(survivor)
    sqs.delete_queue(QueueUrl=url)
finally:
    end()
for deed in ("5 groups in order", "1 task of a worker killed by kill -9"):
    print(f"did {deed}")
