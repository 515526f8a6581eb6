"""Jobs on aioboto3, for worker-trial.ts: ten at a time, each a task."""

import asyncio
import pathlib
import signal
import sys

import aioboto3

sys.path.append(str(pathlib.Path(__file__).parent.parent))
from job_messages import batches_of, check_sent, number_of  # noqa: E402
from job_records import QUEUE, fail_once, must_hang, record  # noqa: E402


async def send(sqs, url, first, count):
    for entries in batches_of(first, count):
        check_sent(entries, await sqs.send_message_batch(QueueUrl=url, Entries=entries))
    print("did batches\ndid attributes with MD5")


async def job(sqs, url, message):
    number, handle = number_of(message), message["ReceiptHandle"]
    try:
        fail_once(number)
    except RuntimeError:
        await sqs.change_message_visibility(QueueUrl=url, ReceiptHandle=handle, VisibilityTimeout=0)
        return
    if must_hang(number):
        await asyncio.sleep(300)
    record("done", number)
    await sqs.delete_message(QueueUrl=url, ReceiptHandle=handle)


async def work(sqs, url):
    async def poll():
        while True:
            answer = await sqs.receive_message(
                QueueUrl=url, MaxNumberOfMessages=10, WaitTimeSeconds=20, MessageAttributeNames=["All"]
            )
            await asyncio.gather(*(job(sqs, url, message) for message in answer.get("Messages", [])))

    polling = asyncio.create_task(poll())
    asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, polling.cancel)
    try:
        await polling
    except asyncio.CancelledError:
        print("stopped")


async def main(mode, first=0, count=0):
    async with aioboto3.Session().client("sqs") as sqs:
        url = (await sqs.get_queue_url(QueueName=QUEUE))["QueueUrl"]
        await (send(sqs, url, int(first), int(count)) if mode == "send" else work(sqs, url))


asyncio.run(main(*sys.argv[1:]))
