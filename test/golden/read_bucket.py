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
# Kind in the key -> field of the manifest, kind in the envelope.
PAGES = {"delayed": (23, 5), "lease": (24, 6), "ready": (25, 7), "segments": (26, 8), "deduplication": (28, 9)}
# What FIFO queues write in a format of their own: manifests, lease pages, pages of deduplication ids.
FIFO_KINDS = (MANIFEST, 6, 9)
DEDUPLICATION_MILLIS = 300_000
CHANGED_BY_MOVE = ("deadLetterSourceArn", "receiveCount", "deduplicationId", "sequenceNumber")


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


def is_fifo(manifest):
    return any((text(e, 1), text(e, 2)) == ("FifoQueue", "true") for e in map(fields, manifest.get(7, [])))


def group_of(group_id):
    return hashlib.sha256(group_id.encode()).digest()[:8]


def opened(data, kind, fifo=False):
    """`fifo`: of a page, whether its queue is one; a manifest says it itself."""
    assert data[0] == 0x08 and data[2] == 0x10 and data[4] == 0x1D and data[9] == 0x22, "not an envelope"
    version, found_kind = data[1], data[3]
    length, at = varint(data, 10)
    payload = data[at:]
    assert len(payload) == length, "cut off, or followed by more"
    assert struct.unpack("<I", data[5:9])[0] == crc32c(bytes([found_kind, version]) + payload), "checksum"
    assert found_kind == kind, (version, found_kind)
    message = fields(payload)
    has_pages = kind > 4 or kind == MANIFEST and any(field in message for field, _ in PAGES.values())
    has_ranges = kind == MANIFEST and any(9 in fields(reference) for reference in message.get(24, []))
    of_fifo = kind in FIFO_KINDS and (is_fifo(message) if kind == MANIFEST else fifo)
    # A move task is under way while its status is 1 or 2.
    tasks = list(map(fields, message.get(29, []))) if kind == MANIFEST else []
    under_way = [number(task, 2) in (1, 2) for task in tasks]
    assert not any(under_way[:-1]) and len(tasks) <= 10
    assert version == (5 if any(under_way) else 4 if of_fifo else 3 if has_ranges else 2 if has_pages else 1), (version, found_kind)
    assert of_fifo or 27 not in message or kind != MANIFEST
    return message


def stored(data, shift=0):
    message = fields(data)
    attributes, moved = {}, number(message, 10)
    # A shift is of the stamp that retention counts from; a run without one has 0.
    assert moved == 0 or 8 in message and moved >= number(message, 3)
    for each in map(fields, message.get(5, [])):
        value = each[3][0].decode() if 3 in each else "hex:" + each[4][0].hex()
        attributes[text(each, 1) or ""] = [text(each, 2), value]
    return {
        "messageId": str(uuid.UUID(bytes=message[1][0])),
        "body": text(message, 2) or "",
        "attributes": attributes,
        "traceHeader": text(message, 6),
        "groupId": text(message, 7),
        "deduplicationId": text(message, 9),
        "senderId": text(message, 4) or "",
        "sentAtMillis": number(message, 3) + (0 if moved else shift),
        "deadLetterSourceArn": text(message, 8),
    }


def ranges(flat):
    at, position, boundaries = 0, 0, []
    while at < len(flat):
        step, at = varint(flat, at)
        position += step
        boundaries.append(position)
    return [n for start, end in zip(boundaries[::2], boundaries[1::2]) for n in range(start, end)]


def ordinals_left(reference, count):
    if 9 in reference:
        assert 8 not in reference
        return set(ranges(reference[9][0]))
    bits = reference.get(8, [bytes(count + 7 >> 3)])[0]
    assert len(bits) == count + 7 >> 3
    return {i for i in range(len(bits) * 8) if bits[i >> 3] >> (i & 7) & 1}


def object_at(bucket, name, manifest, folder, reference, kind):
    """The object that a reference to a segment or a page names."""
    queue = f"s/{hashlib.sha256(name.encode()).hexdigest()[:8]}-{name}/{manifest[1][0].hex()}"
    key = f"{folder}/{number(reference, 1):016}-{reference[2][0].hex()}"
    found = opened((bucket / queue / key).read_bytes(), kind, is_fifo(manifest))
    assert found[1] == manifest[1], "of another incarnation"
    return found


def pages_of(bucket, name, manifest, folder):
    """Each reference with the entries of its page, undecoded."""
    field, kind = PAGES[folder]
    for reference in map(fields, manifest.get(field, [])):
        yield reference, object_at(bucket, name, manifest, folder, reference, kind).get(2, [])


def check_says(reference, first_field, *values):
    """The fields from the first one on say these."""
    says = [number(reference, first_field + i) for i in range(len(values))]
    assert says == list(values), (says, values)


def unfold(bucket, name, manifest):
    """The whole state: ready sequences, delayed, deliveries, segment references."""
    ready = ranges(manifest.get(15, [b""])[0])
    delayed = {number(e, 1): number(e, 2) for e in map(fields, manifest.get(16, []))}
    deliveries = {number(e, 1): e for e in map(fields, manifest.get(17, []))}
    segments = [fields(reference) for reference in manifest.get(19, [])]
    hulls = []
    for reference, (flat,) in pages_of(bucket, name, manifest, "ready"):
        more = ranges(flat)
        check_says(reference, 3, len(more), more[0], more[-1])
        ready += more
    for reference, entries in pages_of(bucket, name, manifest, "delayed"):
        more = {number(e, 1): number(e, 2) for e in map(fields, entries)}
        due = more.values()
        check_says(reference, 3, len(more), min(more), max(more), min(due), max(due))
        delayed |= more
    for reference, entries in pages_of(bucket, name, manifest, "lease"):
        more = [(number(e, 1), e) for e in map(fields, entries)]
        check_says(reference, 3, len(more), more[0][0], more[-1][0])
        left = ordinals_left(reference, len(more))
        assert not left or max(left) < len(more)
        there = {n: e for i, (n, e) in enumerate(more) if i not in left}
        visible = [number(e, 2) for e in there.values()]
        check_says(reference, 6, min(visible), max(visible))
        assert not set(there) & set(deliveries)
        deliveries |= there
    for reference, entries in pages_of(bucket, name, manifest, "segments"):
        more = list(map(fields, entries))
        runs = [run for segment in more for run in map(fields, segment[6])]
        first = min(number(run, 1) for run in runs)
        last = max(number(run, 1) + number(run, 3) - 1 for run in runs)
        stamps = [number(segment, 4) for segment in more]
        total = sum(number(segment, 5) for segment in more)
        check_says(reference, 3, len(more), number(reference, 4), first, last, min(stamps), max(stamps), total)
        hulls.append((first, last, number(reference, 4), sum(number(segment, 3) for segment in more)))
        segments += more
    assert len(set(ready)) == len(ready)
    for first, last, live, live_of_segments in hulls:
        assert live == live_of_segments == sum(first <= n <= last for n in ready)
        assert not any(first <= n <= last for n in [*delayed, *deliveries])
    return ready, delayed, deliveries, segments


def taken_ids(bucket, name, manifest):
    """Key -> the entry that counts: an id that was over may have been taken again."""
    inline = [fields(entry) for entry in manifest.get(27, [])]
    sequences, keys = [number(e, 2) for e in inline], [e[1][0] for e in inline]
    assert sequences == sorted(sequences) and len(set(keys)) == len(keys)
    entries = list(inline)
    for reference, page in pages_of(bucket, name, manifest, "deduplication"):
        more = list(map(fields, page))
        keys = [e[1][0] for e in more]
        assert all(a < b for a, b in zip(keys, keys[1:]))
        check_says(reference, 3, len(more), max(number(e, 4) for e in more))
        entries += more
    assert all(len(e[1][0]) == 16 for e in entries)
    return {e[1][0]: e for e in sorted(entries, key=lambda e: number(e, 2))}


def check_groups(bodies, *held):
    """Deliveries or intents, by sequence: the field with their group is the group of their message."""
    for entries, field in held:
        for sequence, entry in entries.items():
            assert entry[field][0] == group_of(bodies[sequence]["groupId"])


def check_fairness(manifest, ready, delayed):
    """A hint; what okuri itself has written last keeps these."""
    for fairness in map(fields, manifest.get(31, [])):
        rates = [fields(rate) for rate in fairness.get(4, [])]
        assert 0 < len(rates) <= 128 and number(fairness, 3) <= 3
        assert sorted({rate[1][0] for rate in rates}) == [rate[1][0] for rate in rates]
        quiet = ranges(fairness.get(1, [b""])[0])
        assert {*quiet} <= {*ready, *delayed} and number(fairness, 2) <= number(manifest, 11)
        assert number(fairness, 2) > 0 or not quiet and not any(number(rate, 3) for rate in rates)


def bodies_of(bucket, name, manifest, segments, live):
    bodies = {number(entry, 1): stored(entry[2][0]) for entry in map(fields, manifest.get(18, []))}
    for reference in segments:
        segment = object_at(bucket, name, manifest, "seg", reference, SEGMENT)
        runs = list(map(fields, reference[6]))
        places = {number(run, 1) + i: (run, number(run, 2) + i) for run in runs for i in range(number(run, 3))}
        assert number(reference, 3) == len(live & set(places))
        if 7 in reference:
            assert number(reference, 7) == sum(body != b"" for body in segment[2]) < len(places)
        for sequence in live & set(places):
            run, ordinal = places[sequence]
            assert sequence not in bodies
            bodies[sequence] = stored(segment[2][ordinal], number(run, 4))
    return bodies


def check_queue(bucket, name, expected, now):
    manifest = opened((bucket / "m" / name).read_bytes(), MANIFEST)
    ready, delayed, deliveries, segments = unfold(bucket, name, manifest)
    intents = {number(intent, 1): intent for intent in map(fields, manifest.get(20, []))}
    targets = {link[1][0]: text(link, 2) for link in map(fields, manifest.get(21, []))}
    check_fairness(manifest, ready, delayed)
    fifo = is_fifo(manifest)
    assert fifo == name.endswith(".fifo")
    live = {*ready, *delayed, *deliveries, *intents}
    assert len(live) == len(ready) + len(delayed) + len(deliveries) + len(intents)
    bodies = bodies_of(bucket, name, manifest, segments, live)
    due = [n for n, at in delayed.items() if at <= now]
    visible_again = [n for n, e in deliveries.items() if number(e, 2) <= now]
    if fifo:
        check_groups(bodies, (deliveries, 8), (intents, 6))
    else:
        assert not any(8 in e for e in deliveries.values()) and not any(6 in e for e in intents.values())
    counts = [
        len(ready) + len(due) + len(visible_again),
        len(deliveries) - len(visible_again),
        len(delayed) - len(due),
    ]
    assert counts == expected["counts"], (name, counts)
    for attribute in map(fields, manifest.get(7, [])):
        assert expected["attributes"][text(attribute, 1)] == (text(attribute, 2) or ""), name
    found = {}
    for entry in [*deliveries.values(), *intents.values()]:
        # What it came from another queue with: a field of each of the two messages.
        assert number(entry, 7 if entry in intents.values() else 9) <= number(entry, 4 if entry in intents.values() else 3)
    for sequence in [*ready, *delayed, *deliveries]:
        message = bodies[sequence]
        received = number(deliveries.get(sequence, {}), 3)
        shown = {"receiveCount": received + 1, "sequenceNumber": f"{sequence:020}" if fifo else None}
        found[message["messageId"]] = {**message, **shown}
    return found, [(targets[intent[2][0]], bodies[sequence]) for sequence, intent in intents.items()]


def check_fifo(bucket, expected, now):
    """Which messages may be received, and which ids are taken by what."""
    name = expected["queue"]
    manifest = opened((bucket / "m" / name).read_bytes(), MANIFEST)
    tags = {text(tag, 1): text(tag, 2) or "" for tag in map(fields, manifest.get(8, []))}
    assert tags == expected["tags"]
    ready, delayed, deliveries, segments = unfold(bucket, name, manifest)
    assert not delayed and 20 not in manifest
    bodies = bodies_of(bucket, name, manifest, segments, {*ready, *deliveries})
    locks = [(n, e[8][0]) for n, e in deliveries.items() if number(e, 2) > now]
    visible = sorted({*ready, *deliveries} - {n for n, _ in locks})

    def free(locks):
        groups = {n: group_of(bodies[n]["groupId"]) for n in visible}
        return [bodies[n]["body"] for n in visible if not any(at < n and g == groups[n] for at, g in locks)]

    assert free(locks) == expected["receivable"]
    unlocked = [free([lock for lock in locks if lock != each]) for each in locks]
    assert sorted(expected["receivable"] + expected["holder"]["unlocks"]) in map(sorted, unlocked)
    for each in expected["taken"]:
        manifest = opened((bucket / "m" / each["queue"]).read_bytes(), MANIFEST)
        attributes = {text(e, 1): text(e, 2) for e in map(fields, manifest[7])}
        by_group = attributes.get("DeduplicationScope") == "messageGroup"
        named = each["groupId"] + "\0" + each["id"] if by_group else each["id"]
        entry = taken_ids(bucket, each["queue"], manifest)[hashlib.sha256(named.encode()).digest()[:16]]
        assert f"{number(entry, 2):020}" == each["sequenceNumber"]
        assert str(uuid.UUID(bytes=entry[3][0])) == each["messageId"]
        assert number(entry, 4) + DEDUPLICATION_MILLIS > number(manifest, 4)


def check_tasks(bucket, expected):
    manifest = opened((bucket / "m" / expected["queue"]).read_bytes(), MANIFEST)
    statuses = ["", "running", "cancelling", "completed", "cancelled", "failed"]
    found = []
    for task in map(fields, manifest[29]):
        shown = {
            "id": str(uuid.UUID(bytes=task[1][0])),
            "status": statuses[number(task, 2)],
            "destinationArn": text(task, 3),
            "messagesPerSecond": number(task, 4) or None,
            "startedAtMillis": number(task, 5),
            "moved": number(task, 6),
            "toMove": number(task, 7),
            "through": number(task, 8),
            "failureReason": text(task, 9),
            "pacedUntilMillis": number(task, 10),
            "runner": task[11][0].hex(),
        }
        found.insert(0, {key: value for key, value in shown.items() if value is not None})
    assert found == expected["tasks"]


def check_bucket(bucket):
    expected = json.loads((bucket / "expected.json").read_text())
    now = ORIGIN_MILLIS + expected["leftAtMillis"]
    found, moving = {}, []
    for name, queue in expected["queues"].items():
        found[name], under_way = check_queue(bucket, name, queue, now)
        moving += under_way
    # What was under way is a dead letter by the time that everything was taken out.
    for target, letter in moving:
        found[target][letter["messageId"]] = letter
    for name, queue in expected["queues"].items():
        assert set(found[name]) == {message["messageId"] for message in queue["messages"]}, name
        for message in queue["messages"]:
            seen = found[name][message["messageId"]]
            arrived = message["messageId"] not in {letter["messageId"] for _, letter in moving}
            for key, value in seen.items():
                if arrived or key not in CHANGED_BY_MOVE:
                    assert message.get(key) == value, (name, key, message.get(key), value)
    if "fifo" in expected:
        check_fifo(bucket, expected["fifo"], now)
    if "tasks" in expected:
        check_tasks(bucket, expected["tasks"])
    for name in expected["deleted"]:
        data = (bucket / "m" / name).read_bytes()
        assert len(data) == 192 and len(opened(data, TOMBSTONE)[2][0]) == 16, name
    return sum(len(queue["messages"]) for queue in expected["queues"].values())


read = {bucket.name: check_bucket(bucket) for bucket in sorted(BUCKETS.iterdir())}
assert read
for name, messages in read.items():
    print(f"{name}: {messages} messages read by docs/storage-format.md")
