"""What a job of a Python worker looks like as an SQS message: its attributes, and their MD5, computed by hand."""

import hashlib
import struct
import sys


def attributes_of(number):
    return {
        "kind": {"DataType": "String", "StringValue": "größe 😀"},
        "number": {"DataType": "Number.int", "StringValue": str(number)},
        "bytes": {"DataType": "Binary", "BinaryValue": bytes([0, 255])},
    }


def batches_of(first, count):
    """The entries of SendMessageBatch, ten at a time."""
    for start in range(first, first + count, 10):
        numbers = range(start, min(start + 10, first + count))
        yield [{"Id": str(n), "MessageBody": str(n), "MessageAttributes": attributes_of(n)} for n in numbers]


def check_sent(entries, answer):
    for entry, sent in zip(entries, answer["Successful"], strict=True):
        expect("MD5OfMessageBody", sent["MD5OfMessageBody"], hashlib.md5(entry["MessageBody"].encode()).hexdigest())
        expect("MD5OfMessageAttributes", sent["MD5OfMessageAttributes"], md5_of(entry["MessageAttributes"]))


def number_of(message):
    """The job's, once the rest of the message is what was sent."""
    number = int(message["Body"])
    expect("MD5OfBody", message["MD5OfBody"], hashlib.md5(message["Body"].encode()).hexdigest())
    expect("MessageAttributes", message["MessageAttributes"], attributes_of(number))
    expect("MD5OfMessageAttributes", message["MD5OfMessageAttributes"], md5_of(attributes_of(number)))
    return number


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
        raise AssertionError(f"{what}: saw {seen!r}, not {expected!r}")
