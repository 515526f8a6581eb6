"""Jobs on boto3, for worker-trial.ts: ten at a time, each in a thread."""

import concurrent.futures
import pathlib
import sys
import time

import boto3
from endpoint import options

sys.path.append(str(pathlib.Path(__file__).parent.parent))
from job_messages import batches_of, check_sent, number_of  # noqa: E402
from job_records import QUEUE, fail_once, must_hang, record  # noqa: E402

sqs = boto3.client("sqs", **options)
url = sqs.get_queue_url(QueueName=QUEUE)["QueueUrl"]


def send(first, count):
    for entries in batches_of(int(first), int(count)):
        check_sent(entries, sqs.send_message_batch(QueueUrl=url, Entries=entries))
    print("did batches\ndid attributes with MD5")


def job(message):
    number, handle = number_of(message), message["ReceiptHandle"]
    try:
        fail_once(number)
    except RuntimeError:
        sqs.change_message_visibility(QueueUrl=url, ReceiptHandle=handle, VisibilityTimeout=0)
        return
    if must_hang(number):
        time.sleep(300)
    record("done", number)
    sqs.delete_message(QueueUrl=url, ReceiptHandle=handle)


def work():
    """Until SIGTERM, which ends the process: it waits in a poll by then."""
    with concurrent.futures.ThreadPoolExecutor(10) as threads:
        while True:
            answer = sqs.receive_message(
                QueueUrl=url, MaxNumberOfMessages=10, WaitTimeSeconds=20, MessageAttributeNames=["All"]
            )
            for done in [threads.submit(job, message) for message in answer.get("Messages", [])]:
                done.result()


mode, *arguments = sys.argv[1:]
{"send": send, "work": work}[mode](*arguments)
