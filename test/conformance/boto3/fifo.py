"""FIFO queues as a boto3 program uses them: a producer that sends everything twice, and four consumers of ten groups, one
of which gives a part of each group back. Endpoint, region and credentials come from the environment alone."""

import hashlib
import json
import threading
import time
import uuid

import boto3

import endpoint
from checks import check, check_equal, check_refused

GROUPS = [f"group-{number}" for number in range(10)]
EACH = 12
CONSUMERS = 4
GIVEN_BACK_ONCE = 5

prefix = f"boto3-fifo-{uuid.uuid4().hex[:12]}"
sqs = boto3.client("sqs", **endpoint.options)
# The versions that speak the query protocol know only the older name.
receive_parameters = sqs.meta.service_model.operation_model("ReceiveMessage").input_shape.members
SYSTEM_ATTRIBUTE_NAMES = next(n for n in ("MessageSystemAttributeNames", "AttributeNames") if n in receive_parameters)


def create(name, **attributes):
    return sqs.create_queue(QueueName=f"{prefix}-{name}.fifo", Attributes={"FifoQueue": "true", **attributes})["QueueUrl"]


def attributes_of(url, *names):
    return sqs.get_queue_attributes(QueueUrl=url, AttributeNames=list(names or ["All"]))["Attributes"]


def receive(url, client=sqs, **options):
    options.setdefault("WaitTimeSeconds", 5)
    return client.receive_message(QueueUrl=url, **{SYSTEM_ATTRIBUTE_NAMES: ["All"]}, **options).get("Messages", [])


def delete(url, message):
    sqs.delete_message(QueueUrl=url, ReceiptHandle=message["ReceiptHandle"])


def entries(messages, **more):
    return [{"Id": str(n), "ReceiptHandle": message["ReceiptHandle"], **more} for n, message in enumerate(messages)]


def md5(text):
    return hashlib.md5(text.encode()).hexdigest()


def queues():
    url = create("queues", ContentBasedDeduplication="true")
    check("the URL ends in .fifo", url.endswith("-queues.fifo"), url)
    check_equal("create it again", create("queues"), url)
    seen = attributes_of(url)
    for name, value in {
        "FifoQueue": "true",
        "ContentBasedDeduplication": "true",
        "DeduplicationScope": "queue",
        "FifoThroughputLimit": "perQueue",
    }.items():
        check_equal(f"All: {name}", seen.get(name), value)
    refused = lambda **options: lambda: sqs.send_message(QueueUrl=url, MessageBody="x", **options)
    check_refused("no group", refused(), "MissingParameter")
    check_refused("a group with a space", refused(MessageGroupId="a b"), "InvalidParameterValue")
    check_refused("DelaySeconds", refused(MessageGroupId="g", DelaySeconds=1), "InvalidParameterValue")
    check_refused(
        "a change of its type",
        lambda: sqs.set_queue_attributes(QueueUrl=url, Attributes={"FifoQueue": "false"}),
        "InvalidAttributeValue",
    )
    check_refused(
        "a name without .fifo",
        lambda: sqs.create_queue(QueueName=f"{prefix}-bad", Attributes={"FifoQueue": "true"}),
        "InvalidParameterValue",
    )
    sqs.delete_queue(QueueUrl=url)
    name = f"{prefix}-tags.fifo"
    url = sqs.create_queue(QueueName=name, Attributes={"FifoQueue": "true"}, tags={"team": "blue"})["QueueUrl"]
    sqs.tag_queue(QueueUrl=url, Tags={"path/to": ""})
    check_equal("its tags", sqs.list_queue_tags(QueueUrl=url).get("Tags"), {"team": "blue", "path/to": ""})
    sqs.add_permission(QueueUrl=url, Label="one", AWSAccountIds=["111111111111"], Actions=["SendMessage"])
    seen = attributes_of(url)
    check_equal("its policy", json.loads(seen["Policy"])["Statement"][0]["Resource"], seen["QueueArn"])
    sqs.remove_permission(QueueUrl=url, Label="one")
    check("no policy any more", "Policy" not in attributes_of(url))
    sqs.delete_queue(QueueUrl=url)


def produce(url):
    """Every batch goes out twice, as by a producer that saw no answer; the second one is answered like the first."""
    sent = {}
    for number in range(EACH):
        batch = [
            {
                "Id": group,
                "MessageBody": json.dumps([group, number]),
                "MessageGroupId": group,
                "MessageDeduplicationId": f"{group}/{number}",
                "MessageAttributes": {"number": {"DataType": "Number", "StringValue": str(number)}},
            }
            for group in GROUPS
        ]
        first, second = (sqs.send_message_batch(QueueUrl=url, Entries=batch)["Successful"] for _ in range(2))
        check_equal(f"round {number}: a duplicate is answered like the first", second, first)
        for entry, answer in zip(batch, first):
            if answer["MD5OfMessageBody"] != md5(entry["MessageBody"]):
                check("MD5OfMessageBody", False, answer)
            sent[answer["MessageId"]] = answer["SequenceNumber"]
    check_equal("as many messages as were meant", len(sent), len(GROUPS) * EACH)
    check_equal("numbers of 20 digits", {len(number) for number in sent.values()}, {20})
    check_equal("rising numbers", sorted(sent.values()), list(sent.values()))
    return sent


class Consumers:
    def __init__(self, url, sent):
        self.url = url
        self.sent = sent
        self.lock = threading.Lock()
        self.held = set()
        self.given_back = set()
        self.done = {group: [] for group in GROUPS}
        self.wrong = []

    def take(self, messages):
        with self.lock:
            for message in messages:
                group, number = json.loads(message["Body"])
                shown = message["Attributes"]
                if shown["MessageGroupId"] != group or shown["MessageDeduplicationId"] != f"{group}/{number}":
                    self.wrong.append(("ids", shown))
                if shown["SequenceNumber"] != self.sent.get(message["MessageId"]):
                    self.wrong.append(("number", shown))
                if message["MD5OfBody"] != md5(message["Body"]):
                    self.wrong.append(("MD5OfBody", message))
            groups = {json.loads(message["Body"])[0] for message in messages}
            self.wrong += [("in two hands", group) for group in groups & self.held]
            self.held |= groups
            return groups

    def finish(self, messages):
        """The fifth of each group and what follows it go back the first time; the rest is done."""
        keep, back = [], []
        with self.lock:
            for message in messages:
                group, number = json.loads(message["Body"])
                stop = number == GIVEN_BACK_ONCE and group not in self.given_back
                if stop or any(json.loads(other["Body"])[0] == group for other in back):
                    self.given_back.add(group)
                    back.append(message)
                else:
                    keep.append(message)
                    self.done[group].append(number)
            self.held -= {json.loads(message["Body"])[0] for message in messages}
        if keep:
            answer = sqs.delete_message_batch(QueueUrl=self.url, Entries=entries(keep))
            self.wrong += [("delete", failure) for failure in answer.get("Failed", [])]
        if back:
            batch = entries(back, VisibilityTimeout=0)
            answer = sqs.change_message_visibility_batch(QueueUrl=self.url, Entries=batch)
            self.wrong += [("give back", failure) for failure in answer.get("Failed", [])]

    def work(self):
        client = boto3.client("sqs", **endpoint.options)
        while sum(len(numbers) for numbers in self.done.values()) < len(GROUPS) * EACH:
            messages = receive(self.url, client, WaitTimeSeconds=2, MaxNumberOfMessages=10)
            self.take(messages)
            time.sleep(0.01)
            if messages:
                self.finish(messages)


def groups():
    url = create("groups", VisibilityTimeout="60")
    sent = produce(url)
    consumers = Consumers(url, sent)
    threads = [threading.Thread(target=consumers.work) for _ in range(CONSUMERS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    check_equal("nothing was wrong with what came", consumers.wrong, [])
    for group, numbers in consumers.done.items():
        check_equal(f"{group} in order", numbers, list(range(EACH)))
    check_equal("every group was given back once", sorted(consumers.given_back), sorted(GROUPS))
    again = sqs.send_message(
        QueueUrl=url, MessageBody="late", MessageGroupId=GROUPS[0], MessageDeduplicationId=f"{GROUPS[0]}/0"
    )
    check("a duplicate of what was deleted is answered like it", again["MessageId"] in sent, again)
    check_equal("and is not there", receive(url, WaitTimeSeconds=1), [])
    sqs.delete_queue(QueueUrl=url)


def locks():
    url = create("locks", ContentBasedDeduplication="true")
    for body in ("1", "2", "3"):
        sqs.send_message(QueueUrl=url, MessageBody=body, MessageGroupId="g")
    (first,) = receive(url, MaxNumberOfMessages=1, VisibilityTimeout=2)
    hashed = hashlib.sha256(b"1").hexdigest()
    check_equal("deduplicated by content", first["Attributes"]["MessageDeduplicationId"], hashed)
    check_equal("a group in flight yields nothing", receive(url, WaitTimeSeconds=0, MaxNumberOfMessages=10), [])
    messages = receive(url, WaitTimeSeconds=10, MaxNumberOfMessages=2)
    check_equal("after its timeout it comes from its head", [m["Body"] for m in messages], ["1", "2"])
    check_refused("an expired handle", lambda: delete(url, first), "InvalidParameterValue")
    answer = sqs.delete_message_batch(QueueUrl=url, Entries=entries([first, *messages]))
    check_equal("an expired handle in a batch", [e["Code"] for e in answer["Failed"]], ["InvalidParameterValue"])
    check_equal("the others of it", [e["Id"] for e in answer["Successful"]], ["1", "2"])
    (third,) = receive(url, MaxNumberOfMessages=10)
    check_equal("then the rest", third["Body"], "3")
    sqs.delete_queue(QueueUrl=url)


def dead_letters():
    dead = create("dead")
    policy = {"deadLetterTargetArn": attributes_of(dead)["QueueArn"], "maxReceiveCount": 1}
    url = create("work", RedrivePolicy=json.dumps(policy))
    check_equal("its sources", sqs.list_dead_letter_source_queues(QueueUrl=dead).get("queueUrls"), [url])
    closed = create("closed", RedriveAllowPolicy=json.dumps({"redrivePermission": "denyAll"}))
    policy = json.dumps({**policy, "deadLetterTargetArn": attributes_of(closed)["QueueArn"]})
    check_refused(
        "a dead-letter queue that allows none",
        lambda: sqs.set_queue_attributes(QueueUrl=url, Attributes={"RedrivePolicy": policy}),
        "InvalidParameterValue",
    )
    for body in ("poison", "next"):
        sqs.send_message(QueueUrl=url, MessageBody=body, MessageGroupId="g", MessageDeduplicationId=body)
    (poison,) = receive(url, MaxNumberOfMessages=1)
    sqs.change_message_visibility(QueueUrl=url, ReceiptHandle=poison["ReceiptHandle"], VisibilityTimeout=0)
    messages = receive(url, WaitTimeSeconds=20)
    check_equal("its group goes on without it", [m["Body"] for m in messages], ["next"])
    (letter,) = receive(dead, WaitTimeSeconds=10)
    check_equal("the same message", letter["MessageId"], poison["MessageId"])
    check_equal("in its group", letter["Attributes"]["MessageGroupId"], "g")
    check_equal("deduplicated by its own id", letter["Attributes"]["MessageDeduplicationId"], letter["MessageId"])
    for each in (url, dead, closed):
        sqs.delete_queue(QueueUrl=each)


for part in (queues, groups, locks, dead_letters):
    part()
for deed in ("10 groups in order", "deduplication", "expired handles", "attributes with MD5", "dead letters"):
    print(f"did {deed}")
