"""An ordinary boto3 program on the client interface. Endpoint, region and credentials come from the environment alone.
It runs on current versions, which speak JSON, and on old ones, which speak the query protocol.

Over 300 lines because it is one program, read from top to bottom like a user's own.
"""

import hashlib
import json
import os
import struct
import threading
import time
import uuid

import boto3
from botocore.config import Config
from botocore.exceptions import ReadTimeoutError

import endpoint
import moves
import presigned
from checks import check, check_equal, check_refused

MEBIBYTE = 1048576


def client(**options):
    return boto3.client("sqs", **endpoint.options, **options)


sqs = client()
prefix = f"boto3-{uuid.uuid4().hex[:12]}"
# The versions that speak the query protocol know only the older name.
receive_parameters = sqs.meta.service_model.operation_model("ReceiveMessage").input_shape.members
SYSTEM_ATTRIBUTE_NAMES = next(n for n in ("MessageSystemAttributeNames", "AttributeNames") if n in receive_parameters)


def attributes_of(url, *names):
    return sqs.get_queue_attributes(QueueUrl=url, AttributeNames=list(names or ["All"])).get("Attributes", {})


def receive(url, **options):
    options.setdefault("WaitTimeSeconds", 5)
    return sqs.receive_message(QueueUrl=url, **{SYSTEM_ATTRIBUTE_NAMES: ["All"]}, **options).get("Messages", [])


def receive_one(what, url, **options):
    messages = receive(url, **options)
    check_equal(f"{what}: one message comes", len(messages), 1)
    return messages[0]


def receive_count(message):
    return message["Attributes"]["ApproximateReceiveCount"]


def visible_and_in_flight_and_delayed(url):
    seen = attributes_of(url)
    names = ("ApproximateNumberOfMessages", "ApproximateNumberOfMessagesNotVisible", "ApproximateNumberOfMessagesDelayed")
    return tuple(int(seen[name]) for name in names)


def md5_of_attributes(attributes):
    digest = hashlib.md5()

    def update(data):
        digest.update(struct.pack("!I", len(data)) + data)

    for name, value in sorted(attributes.items()):
        update(name.encode())
        update(value["DataType"].encode())
        if "StringValue" in value:
            digest.update(b"\x01")
            update(value["StringValue"].encode())
        else:
            digest.update(b"\x02")
            update(value["BinaryValue"])
    return digest.hexdigest()


def queues():
    name = f"{prefix}-queues"
    url = sqs.create_queue(QueueName=name, Attributes={"VisibilityTimeout": "45", "DelaySeconds": "0"})["QueueUrl"]
    check("create_queue: the URL ends in the name", url.endswith("/" + name), url)
    check_equal("create_queue again", sqs.create_queue(QueueName=name)["QueueUrl"], url)
    same = sqs.create_queue(QueueName=name, Attributes={"VisibilityTimeout": "45"})["QueueUrl"]
    check_equal("create_queue again with an equal attribute", same, url)
    check_refused(
        "create_queue with another value",
        lambda: sqs.create_queue(QueueName=name, Attributes={"VisibilityTimeout": "46"}),
        "QueueAlreadyExists",
        sqs.exceptions.QueueNameExists,
    )
    check_equal("get_queue_url", sqs.get_queue_url(QueueName=name)["QueueUrl"], url)
    check_refused(
        "get_queue_url of a missing queue",
        lambda: sqs.get_queue_url(QueueName=f"{prefix}-none"),
        "AWS.SimpleQueueService.NonExistentQueue",
        sqs.exceptions.QueueDoesNotExist,
    )

    listed = [sqs.create_queue(QueueName=f"{prefix}-list-{number}")["QueueUrl"] for number in range(5)]
    check_equal("list_queues by prefix, in name order", sqs.list_queues(QueueNamePrefix=f"{prefix}-list-")["QueueUrls"], listed)
    first = sqs.list_queues(QueueNamePrefix=f"{prefix}-list-", MaxResults=2)
    check("list_queues: a full page has a token", len(first["QueueUrls"]) == 2 and "NextToken" in first, first)
    pages = sqs.get_paginator("list_queues").paginate(
        QueueNamePrefix=f"{prefix}-list-", PaginationConfig={"PageSize": 2}
    )
    check_equal("list_queues through the paginator", [u for page in pages for u in page["QueueUrls"]], listed)
    check("list_queues of nothing has no key", "QueueUrls" not in sqs.list_queues(QueueNamePrefix=f"{prefix}-zzz"))

    seen = attributes_of(url)
    check_equal("All: VisibilityTimeout", seen.get("VisibilityTimeout"), "45")
    check_equal("All: MaximumMessageSize", seen.get("MaximumMessageSize"), "1048576")
    check_equal("All: MessageRetentionPeriod", seen.get("MessageRetentionPeriod"), "345600")
    check_equal("All: SqsManagedSseEnabled", seen.get("SqsManagedSseEnabled"), "true")
    check("All: QueueArn", seen.get("QueueArn", "").startswith("arn:aws:sqs:") and seen["QueueArn"].endswith(":" + name), seen)
    check("All: CreatedTimestamp in seconds", abs(int(seen["CreatedTimestamp"]) - time.time()) < 300, seen)
    sqs.set_queue_attributes(
        QueueUrl=url, Attributes={"VisibilityTimeout": "7", "ReceiveMessageWaitTimeSeconds": "1", "DelaySeconds": "2"}
    )
    check_equal(
        "set_queue_attributes is read back",
        attributes_of(url, "VisibilityTimeout", "ReceiveMessageWaitTimeSeconds", "DelaySeconds"),
        {"VisibilityTimeout": "7", "ReceiveMessageWaitTimeSeconds": "1", "DelaySeconds": "2"},
    )
    stored = {"KmsMasterKeyId": "alias/aws/sqs", "KmsDataKeyReusePeriodSeconds": "60", "Policy": '{"Version":"2012-10-17","Statement":[]}'}
    sqs.set_queue_attributes(QueueUrl=url, Attributes=stored)
    seen = attributes_of(url)
    check_equal("a key and a policy are stored and returned", {name: seen.get(name) for name in stored}, stored)
    check_equal("a key turns managed encryption off", seen.get("SqsManagedSseEnabled"), "false")
    sqs.set_queue_attributes(QueueUrl=url, Attributes={"SqsManagedSseEnabled": "true", "Policy": ""})
    seen = attributes_of(url)
    check_equal("and on again", (seen.get("SqsManagedSseEnabled"), "KmsMasterKeyId" in seen, "Policy" in seen), ("true", False, False))
    check_refused(
        "create_queue with an unknown attribute",
        lambda: sqs.create_queue(QueueName=f"{prefix}-bad", Attributes={"Colour": "red"}),
        "InvalidAttributeName",
        sqs.exceptions.InvalidAttributeName,
    )
    check_refused(
        "set_queue_attributes out of range",
        lambda: sqs.set_queue_attributes(QueueUrl=url, Attributes={"VisibilityTimeout": "43201"}),
        "InvalidAttributeValue",
    )
    check_refused("create_queue with a bad name", lambda: sqs.create_queue(QueueName="no spaces"), "InvalidParameterValue")

    sent = sqs.send_message(QueueUrl=url, MessageBody="held back by the queue's delay")
    check_equal("the queue's DelaySeconds holds a message back", visible_and_in_flight_and_delayed(url), (0, 0, 1))
    check_equal("and then it comes", receive_one("queue delay", url, WaitTimeSeconds=10)["MessageId"], sent["MessageId"])
    sqs.delete_queue(QueueUrl=url)
    for each in listed:
        sqs.delete_queue(QueueUrl=each)


def sending():
    url = sqs.create_queue(QueueName=f"{prefix}-sending")["QueueUrl"]
    attributes = {
        "text": {"DataType": "String", "StringValue": "grüße 😀"},
        "count": {"DataType": "Number", "StringValue": "42.5"},
        "timestamp": {"DataType": "Number.java.lang.Long", "StringValue": "1"},
        "bytes": {"DataType": "Binary", "BinaryValue": bytes(range(256))},
        "img.png": {"DataType": "Binary.png", "BinaryValue": b"\x00\xff"},
    }
    bodies = ["plain", "tab\tnewline\ncarriage\rreturn\r\n", "emoji 😀🏳️‍🌈 \U0010ffff", "Ünïcödé 漢字 \ufffd", '{"a":"<&>\\"\'"}', "  spaces  "]
    for body in bodies:
        sent = sqs.send_message(QueueUrl=url, MessageBody=body, MessageAttributes=attributes)
        check_equal("MD5OfMessageBody", sent["MD5OfMessageBody"], hashlib.md5(body.encode()).hexdigest())
        check_equal("MD5OfMessageAttributes", sent["MD5OfMessageAttributes"], md5_of_attributes(attributes))
        message = receive_one("send and receive", url, MessageAttributeNames=["All"])
        check_equal("the body round trips", message["Body"], body)
        check_equal("MessageId is the one of the send", message["MessageId"], sent["MessageId"])
        check_equal("MD5OfBody", message["MD5OfBody"], sent["MD5OfMessageBody"])
        check_equal("message attributes round trip", message["MessageAttributes"], attributes)
        check_equal("their MD5 too", message["MD5OfMessageAttributes"], sent["MD5OfMessageAttributes"])
        check_equal("ApproximateReceiveCount", receive_count(message), "1")
        for stamp in ("SentTimestamp", "ApproximateFirstReceiveTimestamp"):
            check(f"{stamp} in milliseconds", abs(int(message["Attributes"][stamp]) / 1000 - time.time()) < 300, message)
        check("SenderId", len(message["Attributes"].get("SenderId", "")) > 0, message)
        sqs.delete_message(QueueUrl=url, ReceiptHandle=message["ReceiptHandle"])

    sqs.send_message(QueueUrl=url, MessageBody="filters", MessageAttributes=attributes)
    for names, expected in (
        (["text"], {"text"}),
        (["img.*", "count"], {"img.png", "count"}),
        ([".*"], set(attributes)),
        (["none"], set()),
        ([], set()),
    ):
        message = receive_one(f"filter {names}", url, MessageAttributeNames=names)
        subset = {name: attributes[name] for name in expected}
        check_equal(f"filter {names}", message.get("MessageAttributes", {}), subset)
        expected_md5 = md5_of_attributes(subset) if subset else None
        check_equal(f"filter {names}: MD5 of the subset", message.get("MD5OfMessageAttributes"), expected_md5)
        sqs.change_message_visibility(QueueUrl=url, ReceiptHandle=message["ReceiptHandle"], VisibilityTimeout=0)
    sqs.purge_queue(QueueUrl=url)

    trace = {"AWSTraceHeader": {"DataType": "String", "StringValue": "Root=1-5759e988-bd862e3fe1be46a994272793;Sampled=1"}}
    tenant = {"QueueUrl": url, "MessageBody": "traced", "MessageGroupId": "tenant-1", "MessageSystemAttributes": trace}
    sent = sqs.send_message(**tenant, MessageAttributes={"text": attributes["text"]})
    check_equal("MD5OfMessageSystemAttributes", sent["MD5OfMessageSystemAttributes"], md5_of_attributes(trace))
    check_equal("it leaves the other MD5 alone", sent["MD5OfMessageAttributes"], md5_of_attributes({"text": attributes["text"]}))
    message = receive_one("traced", url)
    check_equal("AWSTraceHeader comes back", message["Attributes"].get("AWSTraceHeader"), trace["AWSTraceHeader"]["StringValue"])
    check_equal("MessageGroupId on a standard queue comes back", message["Attributes"].get("MessageGroupId"), "tenant-1")
    sqs.send_message(QueueUrl=url, MessageBody="of the same tenant", MessageGroupId="tenant-1")
    other = receive_one("a group in flight locks nobody out", url)
    for each in (message, other):
        sqs.delete_message(QueueUrl=url, ReceiptHandle=each["ReceiptHandle"])
    check_refused(
        "a system attribute that is none",
        lambda: sqs.send_message(QueueUrl=url, MessageBody="x", MessageSystemAttributes={"Other": trace["AWSTraceHeader"]}),
        "InvalidParameterValue",
    )

    largest = "m" * MEBIBYTE
    sqs.send_message(QueueUrl=url, MessageBody=largest)
    message = receive_one("1 MiB", url)
    check("a message of 1 MiB round trips", message["Body"] == largest, len(message["Body"]))
    sqs.delete_message(QueueUrl=url, ReceiptHandle=message["ReceiptHandle"])
    check_refused("one byte more", lambda: sqs.send_message(QueueUrl=url, MessageBody=largest + "m"), "InvalidParameterValue")

    entries = [{"Id": f"e{number}", "MessageBody": chr(97 + number) * 104857} for number in range(10)]
    answer = sqs.send_message_batch(QueueUrl=url, Entries=entries)
    check_equal("a full batch of 1 MiB: all sent, in order", [e["Id"] for e in answer["Successful"]], [e["Id"] for e in entries])
    check("no Failed key", "Failed" not in answer, answer)
    got = {}
    while len(got) < 10:
        messages = receive(url, MaxNumberOfMessages=10)
        check("the batch comes back", len(messages) > 0, len(got))
        got.update({message["MessageId"]: message for message in messages})
    check_equal("every body of it", sorted(m["Body"][0] + str(len(m["Body"])) for m in got.values()), [f"{c}104857" for c in "abcdefghij"])
    deleted = sqs.delete_message_batch(
        QueueUrl=url,
        Entries=[{"Id": str(n), "ReceiptHandle": m["ReceiptHandle"]} for n, m in enumerate(got.values())],
    )
    check_equal("delete_message_batch of ten", len(deleted["Successful"]), 10)
    check_equal("the queue is empty", visible_and_in_flight_and_delayed(url), (0, 0, 0))
    sqs.delete_queue(QueueUrl=url)


def groups():
    """MessageGroupId on a standard queue (fair queues): accepted and returned; orders and blocks nothing."""
    url = sqs.create_queue(QueueName=f"{prefix}-groups")["QueueUrl"]
    sent = sqs.send_message(QueueUrl=url, MessageBody="tenant-1", MessageGroupId="tenant-1")
    check("no SequenceNumber on a standard queue", "SequenceNumber" not in sent, sent)
    entries = [{"Id": f"{n}", "MessageBody": f"tenant-{n % 2}", "MessageGroupId": f"tenant-{n % 2}"} for n in range(9)]
    check_equal("a batch with groups", len(sqs.send_message_batch(QueueUrl=url, Entries=entries)["Successful"]), 9)
    sqs.send_message(QueueUrl=url, MessageBody="None")
    messages = []
    while len(messages) < 11:
        more = receive(url, MaxNumberOfMessages=10)
        check("several messages of a group are out at once", len(more) > 0, len(messages))
        messages += more
    check_equal(
        "each comes with its group",
        sorted(str(message["Attributes"].get("MessageGroupId")) for message in messages),
        sorted(message["Body"] for message in messages),
    )
    sqs.delete_queue(QueueUrl=url)


def mistakes():
    url = sqs.create_queue(QueueName=f"{prefix}-mistakes")["QueueUrl"]
    errors = sqs.exceptions
    check_refused("empty body", lambda: sqs.send_message(QueueUrl=url, MessageBody=""), "MissingParameter")
    check_refused(
        "a control character",
        lambda: sqs.send_message(QueueUrl=url, MessageBody="a\x01"),
        "InvalidMessageContents",
        errors.InvalidMessageContents,
    )
    check_refused("DelaySeconds 901", lambda: sqs.send_message(QueueUrl=url, MessageBody="a", DelaySeconds=901), "InvalidParameterValue")
    check_refused("11 messages", lambda: receive(url, MaxNumberOfMessages=11), "InvalidParameterValue")
    check_refused("21 seconds", lambda: receive(url, WaitTimeSeconds=21), "InvalidParameterValue")
    check_refused(
        "a handle that is none",
        lambda: sqs.delete_message(QueueUrl=url, ReceiptHandle="nonsense"),
        "ReceiptHandleIsInvalid",
        errors.ReceiptHandleIsInvalid,
    )

    def batch(*ids):
        return lambda: sqs.send_message_batch(QueueUrl=url, Entries=[{"Id": i, "MessageBody": "x"} for i in ids])

    eleven = [str(number) for number in range(11)]
    simple = "AWS.SimpleQueueService."
    check_refused("a batch of none", batch(), simple + "EmptyBatchRequest", errors.EmptyBatchRequest)
    check_refused("a batch of eleven", batch(*eleven), simple + "TooManyEntriesInBatchRequest", errors.TooManyEntriesInBatchRequest)
    check_refused("an id twice", batch("a", "a"), simple + "BatchEntryIdsNotDistinct", errors.BatchEntryIdsNotDistinct)
    check_refused("an id with a dot", batch("a.b"), simple + "InvalidBatchEntryId", errors.InvalidBatchEntryId)
    check_refused(
        "a batch over 1 MiB",
        lambda: sqs.send_message_batch(
            QueueUrl=url, Entries=[{"Id": i, "MessageBody": "x" * 600000} for i in ("a", "b")]
        ),
        simple + "BatchRequestTooLong",
        errors.BatchRequestTooLong,
    )
    answer = sqs.send_message_batch(
        QueueUrl=url,
        Entries=[{"Id": "good", "MessageBody": "x"}, {"Id": "bad", "MessageBody": "\x00"}, {"Id": "fine", "MessageBody": "y"}],
    )
    check_equal("partial failure: what went", [e["Id"] for e in answer["Successful"]], ["good", "fine"])
    failed = [(e["Id"], e["Code"], e["SenderFault"]) for e in answer["Failed"]]
    check_equal("partial failure: what did not", failed, [("bad", "InvalidMessageContents", True)])

    message = receive_one("partial delete", url, MaxNumberOfMessages=1)
    answer = sqs.delete_message_batch(
        QueueUrl=url, Entries=[{"Id": "a", "ReceiptHandle": "nonsense"}, {"Id": "b", "ReceiptHandle": message["ReceiptHandle"]}]
    )
    check_equal("partial delete: what went", [e["Id"] for e in answer["Successful"]], ["b"])
    check_equal("partial delete: what did not", [(e["Id"], e["Code"]) for e in answer["Failed"]], [("a", "ReceiptHandleIsInvalid")])
    message = receive_one("visibility out of range", url, MaxNumberOfMessages=1)
    check_refused(
        "visibility over twelve hours",
        lambda: sqs.change_message_visibility(QueueUrl=url, ReceiptHandle=message["ReceiptHandle"], VisibilityTimeout=43201),
        "InvalidParameterValue",
    )
    sqs.delete_message(QueueUrl=url, ReceiptHandle=message["ReceiptHandle"])
    check_refused(
        "visibility of a deleted message",
        lambda: sqs.change_message_visibility(QueueUrl=url, ReceiptHandle=message["ReceiptHandle"], VisibilityTimeout=1),
        "InvalidParameterValue",
    )
    check_refused(
        "a wrong secret",
        lambda: client(aws_access_key_id=os.environ["AWS_ACCESS_KEY_ID"], aws_secret_access_key="wrong").list_queues(),
        "SignatureDoesNotMatch",
    )
    sqs.delete_queue(QueueUrl=url)


def deliveries():
    url = sqs.create_queue(QueueName=f"{prefix}-deliveries")["QueueUrl"]
    sqs.send_message(QueueUrl=url, MessageBody="given back")
    check_equal("counts after a send", visible_and_in_flight_and_delayed(url), (1, 0, 0))
    first = receive_one("first delivery", url)
    check_equal("counts in flight", visible_and_in_flight_and_delayed(url), (0, 1, 0))
    check_equal("a message in flight is hidden", receive(url, WaitTimeSeconds=0), [])
    sqs.change_message_visibility(QueueUrl=url, ReceiptHandle=first["ReceiptHandle"], VisibilityTimeout=0)
    second = receive_one("visibility 0", url)
    check_equal("visibility 0: ApproximateReceiveCount 2", receive_count(second), "2")
    sqs.delete_message(QueueUrl=url, ReceiptHandle=first["ReceiptHandle"])
    check_equal("a superseded handle deletes nothing", visible_and_in_flight_and_delayed(url), (0, 1, 0))
    sqs.change_message_visibility(QueueUrl=url, ReceiptHandle=second["ReceiptHandle"], VisibilityTimeout=0)
    third = receive_one("after the superseded delete", url, VisibilityTimeout=1)
    check_equal("it is the same message", (third["MessageId"], receive_count(third)), (first["MessageId"], "3"))
    time.sleep(1.5)
    check_equal("it expires", visible_and_in_flight_and_delayed(url), (1, 0, 0))
    sqs.delete_message(QueueUrl=url, ReceiptHandle=third["ReceiptHandle"])
    check_equal("an expired handle that was not delivered again deletes", visible_and_in_flight_and_delayed(url), (0, 0, 0))
    sqs.delete_message(QueueUrl=url, ReceiptHandle=third["ReceiptHandle"])
    check("delete twice", True)

    sqs.send_message(QueueUrl=url, MessageBody="expires")
    receive_one("short visibility", url, VisibilityTimeout=1)
    again = receive_one("a long poll is woken by the expiry", url, WaitTimeSeconds=10)
    check_equal("expiry: ApproximateReceiveCount 2", receive_count(again), "2")
    sqs.delete_message(QueueUrl=url, ReceiptHandle=again["ReceiptHandle"])

    sqs.send_message(QueueUrl=url, MessageBody="later", DelaySeconds=2)
    check_equal("a delayed message is hidden", receive(url, WaitTimeSeconds=0), [])
    check_equal("counts delayed", visible_and_in_flight_and_delayed(url), (0, 0, 1))
    later = receive_one("a long poll is woken by the delay's end", url, WaitTimeSeconds=10)
    answer = sqs.change_message_visibility_batch(
        QueueUrl=url,
        Entries=[
            {"Id": "a", "ReceiptHandle": later["ReceiptHandle"], "VisibilityTimeout": 0},
            {"Id": "b", "ReceiptHandle": "nonsense", "VisibilityTimeout": 0},
        ],
    )
    check_equal("change_message_visibility_batch", [e["Id"] for e in answer["Successful"]], ["a"])
    check_equal("and its failure", [(e["Id"], e["Code"]) for e in answer["Failed"]], [("b", "ReceiptHandleIsInvalid")])

    sqs.purge_queue(QueueUrl=url)
    check_equal("purge", visible_and_in_flight_and_delayed(url), (0, 0, 0))

    def send_soon():
        time.sleep(0.7)
        client().send_message(QueueUrl=url, MessageBody="wake up")

    thread = threading.Thread(target=send_soon)
    thread.start()
    woken = receive_one("a long poll is woken by a send", url, WaitTimeSeconds=20)
    thread.join()
    check_equal("with that message", woken["Body"], "wake up")
    sqs.delete_message(QueueUrl=url, ReceiptHandle=woken["ReceiptHandle"])

    impatient = client(config=Config(read_timeout=1, retries={"total_max_attempts": 1}))
    try:
        impatient.receive_message(QueueUrl=url, WaitTimeSeconds=20)
        check("a client that times out", False, "an answer")
    except ReadTimeoutError:
        check("a client gives up its long poll", True)
    time.sleep(0.3)
    sqs.send_message(QueueUrl=url, MessageBody="not swallowed")
    kept = receive_one("after a poll whose client has gone", url)
    check_equal("its receive count is 1", receive_count(kept), "1")

    sqs.delete_queue(QueueUrl=url)
    check_refused(
        "a deleted queue is gone",
        lambda: sqs.send_message(QueueUrl=url, MessageBody="x"),
        "AWS.SimpleQueueService.NonExistentQueue",
        sqs.exceptions.QueueDoesNotExist,
    )
    check_equal("recreate at once", sqs.create_queue(QueueName=f"{prefix}-deliveries")["QueueUrl"], url)
    check_equal("the new queue is empty", visible_and_in_flight_and_delayed(url), (0, 0, 0))
    sqs.delete_message(QueueUrl=url, ReceiptHandle=kept["ReceiptHandle"])
    check("a handle of the deleted queue is harmless", True)
    sqs.delete_queue(QueueUrl=url)


def dead_letters():
    dead = sqs.create_queue(QueueName=f"{prefix}-dead")["QueueUrl"]
    policy = {"deadLetterTargetArn": attributes_of(dead, "QueueArn")["QueueArn"], "maxReceiveCount": 2}
    url = sqs.create_queue(QueueName=f"{prefix}-work", Attributes={"RedrivePolicy": json.dumps(policy)})["QueueUrl"]
    check_equal("RedrivePolicy is read back", json.loads(attributes_of(url)["RedrivePolicy"]), policy)
    value = {"why": {"DataType": "String", "StringValue": "kept"}}
    sent = sqs.send_message(QueueUrl=url, MessageBody="poison", MessageAttributes=value)
    for number in ("1", "2"):
        message = receive_one(f"attempt {number}", url)
        check_equal("its count", receive_count(message), number)
        sqs.change_message_visibility(QueueUrl=url, ReceiptHandle=message["ReceiptHandle"], VisibilityTimeout=0)
    check_equal("the third receive returns nothing", receive(url, WaitTimeSeconds=1), [])
    message = receive_one("the dead-letter queue has it", dead, MessageAttributeNames=["All"], WaitTimeSeconds=10)
    check_equal("the same MessageId", message["MessageId"], sent["MessageId"])
    check_equal("the same body and attributes", (message["Body"], message["MessageAttributes"]), ("poison", value))
    check_equal("DeadLetterQueueSourceArn", message["Attributes"].get("DeadLetterQueueSourceArn"), attributes_of(url)["QueueArn"])
    check_equal("its receive count goes on", receive_count(message), "3")
    sqs.delete_message(QueueUrl=dead, ReceiptHandle=message["ReceiptHandle"])
    check_equal("the source is empty", visible_and_in_flight_and_delayed(url), (0, 0, 0))
    check_equal("the dead-letter queue is empty", visible_and_in_flight_and_delayed(dead), (0, 0, 0))
    found = sqs.list_dead_letter_source_queues(QueueUrl=dead)
    check_equal("list_dead_letter_source_queues", found.get("queueUrls"), [url])
    sqs.set_queue_attributes(QueueUrl=dead, Attributes={"RedriveAllowPolicy": '{"redrivePermission":"denyAll"}'})
    check_refused(
        "a source that the dead-letter queue does not allow",
        lambda: sqs.set_queue_attributes(QueueUrl=url, Attributes={"RedrivePolicy": json.dumps(policy)}),
        "InvalidParameterValue",
    )
    sqs.set_queue_attributes(QueueUrl=url, Attributes={"RedrivePolicy": ""})
    check("no sources, no queues", not sqs.list_dead_letter_source_queues(QueueUrl=dead).get("queueUrls"))
    check("RedrivePolicy is removed by an empty value", "RedrivePolicy" not in attributes_of(url))
    for each in (url, dead):
        sqs.delete_queue(QueueUrl=each)


def tags():
    name = f"{prefix}-tags"
    given = {"team": "blue", "Kosten stelle": "", "path/to:x": "a+b=c@d"}
    url = sqs.create_queue(QueueName=name, tags=given)["QueueUrl"]
    check_equal("tags of create_queue are read back", sqs.list_queue_tags(QueueUrl=url).get("Tags"), given)
    sqs.tag_queue(QueueUrl=url, Tags={"team": "red", "Team": "another key"})
    changed = {**given, "team": "red", "Team": "another key"}
    check_equal("tag_queue adds and overwrites", sqs.list_queue_tags(QueueUrl=url).get("Tags"), changed)
    check_equal("create_queue again leaves them", sqs.create_queue(QueueName=name)["QueueUrl"], url)
    sqs.untag_queue(QueueUrl=url, TagKeys=["team", "Kosten stelle", "path/to:x", "never there"])
    check_equal("untag_queue removes", sqs.list_queue_tags(QueueUrl=url).get("Tags"), {"Team": "another key"})
    for what, bad in (("reserved", {"aws:x": "1"}), ("a bad character", {"a*": "1"}), ("too long", {"k" * 129: "1"})):
        check_refused(f"a tag key: {what}", lambda bad=bad: sqs.tag_queue(QueueUrl=url, Tags=bad), "InvalidParameterValue")
    many = {f"k{number}": "v" for number in range(50)}
    check_refused("a 51st tag", lambda: sqs.tag_queue(QueueUrl=url, Tags=many), "InvalidParameterValue")
    sqs.untag_queue(QueueUrl=url, TagKeys=["Team"])
    check("no tags, no key", "Tags" not in sqs.list_queue_tags(QueueUrl=url))

    grant = {"QueueUrl": url, "Label": "one", "AWSAccountIds": ["111111111111", "222222222222"], "Actions": ["SendMessage"]}
    sqs.add_permission(**grant)
    statement = json.loads(attributes_of(url, "Policy")["Policy"])["Statement"][0]
    check_equal("add_permission writes the policy", (statement["Sid"], statement["Action"]), ("one", "SQS:SendMessage"))
    check_equal("its principals", statement["Principal"]["AWS"], [f"arn:aws:iam::{n * 12}:root" for n in "12"])
    check_refused(
        "add_permission of a label once more",
        lambda: sqs.add_permission(**{**grant, "Actions": ["*"]}),
        "InvalidParameterValue",
    )
    sqs.remove_permission(QueueUrl=url, Label="one")
    check("remove_permission removes the policy", "Policy" not in attributes_of(url))
    check_refused(
        "remove_permission of no label", lambda: sqs.remove_permission(QueueUrl=url, Label="one"), "InvalidParameterValue"
    )
    sqs.delete_queue(QueueUrl=url)


for part in (queues, sending, groups, mistakes, deliveries, dead_letters, tags):
    part()
if sqs.meta.service_model.metadata["protocol"] == "query":
    presigned.run(sqs, prefix)
    print("did presigned URLs")
if hasattr(sqs, "start_message_move_task"):
    moves.run(sqs, prefix)
    print("did message move tasks")
for deed in ("every action", "errors", "batches", "attributes with MD5", "redeliveries", "long poll", "dead letters", "tags and permissions"):
    print(f"did {deed}")
