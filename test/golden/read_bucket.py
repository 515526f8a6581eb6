"""Reads the golden buckets by docs/storage-format.md alone, with nothing of okuri's code and no protobuf library.

    python3 test/golden/read_bucket.py

Proves that the page is enough for another program: every queue's attributes and counts, and every message with its stamp,
come out as expected.json says. A new format version needs what its page says, here too.
"""

import hashlib
import json
import pathlib
import struct
import uuid

BUCKETS = pathlib.Path(__file__).parent / "buckets"
ORIGIN_MILLIS = 1_800_000_000_000
MANIFEST, TOMBSTONE, SEGMENT = 1, 2, 3


def crc32c(data):
    crc = 0xFFFFFFFF
    for byte in data:
        crc ^= byte
        for _ in range(8):
            crc = crc >> 1 ^ (0x82F63B78 if crc & 1 else 0)
    return crc ^ 0xFFFFFFFF


def varint(data, at):
    value = shift = 0
    while True:
        byte = data[at]
        at += 1
        value |= (byte & 0x7F) << shift
        shift += 7
        if byte < 0x80:
            return value, at


def fields(data):
    """Field number -> values in order: numbers, or bytes."""
    found, at = {}, 0
    while at < len(data):
        tag, at = varint(data, at)
        if tag % 8 == 0:
            value, at = varint(data, at)
        elif tag % 8 == 2:
            length, at = varint(data, at)
            value, at = data[at : at + length], at + length
            assert len(value) == length, "cut off"
        else:
            size = {1: 8, 5: 4}[tag % 8]
            value, at = data[at : at + size], at + size
        found.setdefault(tag // 8, []).append(value)
    return found


def number(message, field):
    return message.get(field, [0])[0]


def text(message, field):
    return message[field][0].decode() if field in message else None


def opened(data, kind):
    assert data[0] == 0x08 and data[2] == 0x10 and data[4] == 0x1D and data[9] == 0x22, "not an envelope"
    version, found_kind = data[1], data[3]
    length, at = varint(data, 10)
    payload = data[at:]
    assert len(payload) == length, "cut off, or followed by more"
    assert struct.unpack("<I", data[5:9])[0] == crc32c(bytes([found_kind, version]) + payload), "checksum"
    assert version == 1 and found_kind == kind, (version, found_kind)
    return fields(payload)


def stored(data, shift=0):
    message = fields(data)
    attributes = {}
    for each in map(fields, message.get(5, [])):
        value = each[3][0].decode() if 3 in each else "hex:" + each[4][0].hex()
        attributes[text(each, 1) or ""] = [text(each, 2), value]
    return {
        "messageId": str(uuid.UUID(bytes=message[1][0])),
        "body": text(message, 2) or "",
        "attributes": attributes,
        "traceHeader": text(message, 6),
        "groupId": text(message, 7),
        "senderId": text(message, 4) or "",
        "sentAtMillis": number(message, 3) + shift,
        "deadLetterSourceArn": text(message, 8),
    }


def ready_sequences(manifest):
    flat, at, position = manifest.get(15, [b""])[0], 0, 0
    boundaries = []
    while at < len(flat):
        step, at = varint(flat, at)
        position += step
        boundaries.append(position)
    return [n for start, end in zip(boundaries[::2], boundaries[1::2]) for n in range(start, end)]


def bodies_of(bucket, name, manifest):
    bodies = {number(entry, 1): stored(entry[2][0]) for entry in map(fields, manifest.get(18, []))}
    place = f"s/{hashlib.sha256(name.encode()).hexdigest()[:8]}-{name}/{manifest[1][0].hex()}/seg"
    for reference in map(fields, manifest.get(19, [])):
        data = (bucket / place / f"{number(reference, 1):016}-{reference[2][0].hex()}").read_bytes()
        segment = opened(data, SEGMENT)
        assert segment[1] == manifest[1], "a segment of another incarnation"
        for run in map(fields, reference.get(6, [])):
            for i in range(number(run, 3)):
                ordinal, shift = number(run, 2) + i, number(run, 4)
                bodies[number(run, 1) + i] = stored(segment[2][ordinal], shift)
    return bodies


def check_queue(bucket, name, expected, now):
    manifest = opened((bucket / "m" / name).read_bytes(), MANIFEST)
    bodies = bodies_of(bucket, name, manifest)
    ready = ready_sequences(manifest)
    delayed = {number(e, 1): number(e, 2) for e in map(fields, manifest.get(16, []))}
    deliveries = {number(e, 1): e for e in map(fields, manifest.get(17, []))}
    due = [n for n, at in delayed.items() if at <= now]
    visible_again = [n for n, e in deliveries.items() if number(e, 2) <= now]
    counts = [
        len(ready) + len(due) + len(visible_again),
        len(deliveries) - len(visible_again),
        len(delayed) - len(due),
    ]
    assert counts == expected["counts"], (name, counts)
    for attribute in map(fields, manifest.get(7, [])):
        assert expected["attributes"][text(attribute, 1)] == (text(attribute, 2) or ""), name
    found = {}
    for sequence in [*ready, *delayed, *deliveries]:
        message = bodies[sequence]
        received = number(deliveries.get(sequence, {}), 3)
        found[message["messageId"]] = {**message, "receiveCount": received + 1}
    moving = [bodies[number(intent, 1)] for intent in map(fields, manifest.get(20, []))]
    return found, moving


def check_bucket(bucket):
    expected = json.loads((bucket / "expected.json").read_text())
    now = ORIGIN_MILLIS + expected["leftAtMillis"]
    found, moving = {}, []
    for name, queue in expected["queues"].items():
        found[name], under_way = check_queue(bucket, name, queue, now)
        moving += under_way
    # What was under way is a dead letter by the time that everything was taken out.
    for letter in moving:
        found["letters"][letter["messageId"]] = letter
    for name, queue in expected["queues"].items():
        assert set(found[name]) == {message["messageId"] for message in queue["messages"]}, name
        for message in queue["messages"]:
            seen = found[name][message["messageId"]]
            arrived = message["messageId"] not in {letter["messageId"] for letter in moving}
            for key, value in seen.items():
                if arrived or key not in ("deadLetterSourceArn", "receiveCount"):
                    assert message.get(key) == value, (name, key, message.get(key), value)
    for name in expected["deleted"]:
        data = (bucket / "m" / name).read_bytes()
        assert len(data) == 192 and len(opened(data, TOMBSTONE)[2][0]) == 16, name
    return sum(len(queue["messages"]) for queue in expected["queues"].values())


read = {bucket.name: check_bucket(bucket) for bucket in sorted(BUCKETS.iterdir())}
assert read
for name, messages in read.items():
    print(f"{name}: {messages} messages read by docs/storage-format.md")
