"""Message move tasks, for the versions that have them: everything back to its source, then elsewhere, slowly, cancelled."""

import json
import time

from checks import check, check_equal, check_refused

COUNT = 25


def run(sqs, prefix):
    def create(name, **attributes):
        url = sqs.create_queue(QueueName=f"{prefix}-{name}", Attributes=attributes)["QueueUrl"]
        return url, sqs.get_queue_attributes(QueueUrl=url, AttributeNames=["QueueArn"])["Attributes"]["QueueArn"]

    def count(url):
        names = ["ApproximateNumberOfMessages", "ApproximateNumberOfMessagesNotVisible"]
        seen = sqs.get_queue_attributes(QueueUrl=url, AttributeNames=names)["Attributes"]
        return sum(int(value) for value in seen.values())

    def fill(url):
        for start in range(0, COUNT, 5):
            entries = [{"Id": str(n), "MessageBody": f"job {n}"} for n in range(start, start + 5)]
            check_equal("sent", len(sqs.send_message_batch(QueueUrl=url, Entries=entries)["Successful"]), 5)

    def newest(arn):
        return sqs.list_message_move_tasks(SourceArn=arn).get("Results", [None])[0]

    def wait_for(what, holds):
        deadline = time.monotonic() + 60
        while not holds():
            if time.monotonic() > deadline:
                check(what, False, newest(arn))
            time.sleep(0.2)
        check(what, True)

    dead, arn = create("moves-dead")
    check_refused(
        "a move from a queue that is no dead-letter queue",
        lambda: sqs.start_message_move_task(SourceArn=arn),
        "InvalidParameterValue",
    )
    missing = sqs.exceptions.ResourceNotFoundException
    none = lambda: sqs.start_message_move_task(SourceArn=f"{arn}-none")
    check_refused("a queue that is none", none, "ResourceNotFoundException", missing)
    policy = json.dumps({"deadLetterTargetArn": arn, "maxReceiveCount": 1})
    work, _ = create("moves-work", RedrivePolicy=policy)
    check("no task yet", newest(arn) is None, newest(arn))
    fill(work)
    ids = set()

    def all_dead():
        messages = sqs.receive_message(QueueUrl=work, MaxNumberOfMessages=10, VisibilityTimeout=0).get("Messages", [])
        ids.update(message["MessageId"] for message in messages)
        return count(dead) == COUNT

    wait_for("all are dead letters", all_dead)
    check_equal("each was received", len(ids), COUNT)

    handle = sqs.start_message_move_task(SourceArn=arn, MaxNumberOfMessagesPerSecond=500)["TaskHandle"]
    wait_for("the task completes", lambda: newest(arn)["Status"] == "COMPLETED")
    task = newest(arn)
    moved = (task["ApproximateNumberOfMessagesMoved"], task["ApproximateNumberOfMessagesToMove"], "TaskHandle" in task)
    check_equal("what it says of itself", moved, (COUNT, COUNT, False))
    check_equal("all are back at their source", (count(work), count(dead)), (COUNT, 0))
    cancel = lambda: sqs.cancel_message_move_task(TaskHandle=handle)
    check_refused("a task that has ended can't be cancelled", cancel, "ResourceNotFoundException", missing)
    again = sqs.receive_message(QueueUrl=work, MaxNumberOfMessages=1, WaitTimeSeconds=5, AttributeNames=["All"])["Messages"][0]
    check_equal("its count begins anew", again["Attributes"]["ApproximateReceiveCount"], "1")
    check("it has another MessageId", again["MessageId"] not in ids, again)

    fill(dead)
    other, other_arn = create("moves-other")
    slow = {"SourceArn": arn, "DestinationArn": other_arn, "MaxNumberOfMessagesPerSecond": 2}
    handle = sqs.start_message_move_task(**slow)["TaskHandle"]
    check_refused("a second task", lambda: sqs.start_message_move_task(**slow), "InvalidParameterValue")
    check_equal("a running task has its handle", newest(arn)["TaskHandle"], handle)
    wait_for("something arrives elsewhere", lambda: count(other) > 0)
    cancelled = sqs.cancel_message_move_task(TaskHandle=handle)["ApproximateNumberOfMessagesMoved"]
    check("it is cancelled in the middle", 0 < cancelled < COUNT, cancelled)
    wait_for("it is said so", lambda: newest(arn)["Status"] == "CANCELLED")
    wait_for("nothing is lost or doubled", lambda: count(other) + count(dead) == COUNT)
    for url in (dead, work, other):
        sqs.delete_queue(QueueUrl=url)
