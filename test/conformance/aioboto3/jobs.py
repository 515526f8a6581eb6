"""Jobs on aioboto3, for worker-trial.ts: ten at a time, each a task. MD5 of body and attributes are checked by hand."""

import asyncio
import hashlib
import pathlib
import signal
import struct
import sys

import aioboto3

sys.path.append(str(pathlib.Path(__file__).parent.parent))
from job_records import QUEUE, fail_once, must_hang, record  # noqa: E402


def attributes_of(number):
    return {
        "kind": {"DataType": "String", "StringValue": "größe 😀"},
        "number": {"DataType": "Number.int", "StringValue": str(number)},
        "bytes": {"DataType": "Binary", "BinaryValue": bytes([0, 255])},
    }


def md5_of(attributes):
    digest = hashlib.md5()
    for name, value in sorted(attributes.items()):
        binary = "BinaryValue" in value
        data = value["BinaryValue"] if binary else value["StringValue"].encode()
        for part in (name.encode(), value["DataType"].encode()):
            digest.update(struct.pack("!I", len(part)) + part)
        digest.update((b"\x02" if binary else b"\x01") + struct.pack("!I", len(data)) + data)
    return digest.hexdigest()


def expect(what, seen, expected):
    if seen != expected:
        print(f"{what}: saw {seen!r}, not {expected!r}", flush=True)
        sys.exit(1)


async def send(sqs, url, first, count):
    numbers = range(first, first + count)
    for start in range(0, count, 10):
        batch = numbers[start : start + 10]
        entries = [{"Id": str(n), "MessageBody": str(n), "MessageAttributes": attributes_of(n)} for n in batch]
        answer = await sqs.send_message_batch(QueueUrl=url, Entries=entries)
        for number, sent in zip(batch, answer["Successful"], strict=True):
            expect("MD5OfMessageBody", sent["MD5OfMessageBody"], hashlib.md5(str(number).encode()).hexdigest())
            expect("MD5OfMessageAttributes", sent["MD5OfMessageAttributes"], md5_of(attributes_of(number)))
    print("did batches\ndid attributes with MD5")


async def job(sqs, url, message):
    number = int(message["Body"])
    expect("MD5OfBody", message["MD5OfBody"], hashlib.md5(message["Body"].encode()).hexdigest())
    expect("MessageAttributes", message["MessageAttributes"], attributes_of(number))
    expect("MD5OfMessageAttributes", message["MD5OfMessageAttributes"], md5_of(attributes_of(number)))
    handle = message["ReceiptHandle"]
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
