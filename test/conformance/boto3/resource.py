"""The same through boto3's resource interface, as many older programs use it."""

import uuid

import boto3

import endpoint
from checks import check, check_equal

sqs = boto3.resource("sqs", **endpoint.options)
name = f"boto3-resource-{uuid.uuid4().hex[:12]}"

queue = sqs.create_queue(QueueName=name, Attributes={"VisibilityTimeout": "20"})
check_equal("get_queue_by_name", sqs.get_queue_by_name(QueueName=name).url, queue.url)
check_equal("queues.filter", [each.url for each in sqs.queues.filter(QueueNamePrefix=name)], [queue.url])
check_equal("queue.attributes", queue.attributes["VisibilityTimeout"], "20")
queue.set_attributes(Attributes={"VisibilityTimeout": "25"})
queue.reload()
check_equal("queue.reload after set_attributes", queue.attributes["VisibilityTimeout"], "25")

sent = queue.send_message(MessageBody="one", MessageAttributes={"author": {"DataType": "String", "StringValue": "ann"}})
batch = queue.send_messages(Entries=[{"Id": str(number), "MessageBody": f"batch {number}"} for number in range(9)])
check_equal("send_messages", len(batch["Successful"]), 9)
ids = {sent["MessageId"], *(entry["MessageId"] for entry in batch["Successful"])}

seen = {}
while len(seen) < 10:
    messages = queue.receive_messages(MaxNumberOfMessages=10, WaitTimeSeconds=5, MessageAttributeNames=["All"], AttributeNames=["All"])
    check("receive_messages returns some", len(messages) > 0, len(seen))
    seen.update({message.message_id: message for message in messages})
check_equal("every message came once", set(seen), ids)
check_equal("message_attributes", seen[sent["MessageId"]].message_attributes["author"]["StringValue"], "ann")
check_equal("attributes", seen[sent["MessageId"]].attributes["ApproximateReceiveCount"], "1")

first = seen.pop(sent["MessageId"])
first.change_visibility(VisibilityTimeout=0)
(again,) = queue.receive_messages(WaitTimeSeconds=5, AttributeNames=["ApproximateReceiveCount"])
check_equal("change_visibility(0) gives it back", (again.message_id, again.attributes["ApproximateReceiveCount"]), (sent["MessageId"], "2"))
again.delete()
removed = queue.delete_messages(Entries=[{"Id": str(n), "ReceiptHandle": m.receipt_handle} for n, m in enumerate(seen.values())])
check_equal("delete_messages", len(removed["Successful"]), 9)
queue.reload()
check_equal("nothing is left", (queue.attributes["ApproximateNumberOfMessages"], queue.attributes["ApproximateNumberOfMessagesNotVisible"]), ("0", "0"))

queue.send_message(MessageBody="purged")
queue.purge()
check_equal("purge", queue.receive_messages(WaitTimeSeconds=1), [])
queue.delete()
try:
    sqs.get_queue_by_name(QueueName=name)
    check("a deleted queue is gone", False, "found")
except sqs.meta.client.exceptions.QueueDoesNotExist as error:
    check_equal("a deleted queue is gone", error.response["Error"]["Code"], "AWS.SimpleQueueService.NonExistentQueue")
for deed in ("the resource interface", "batches", "attributes", "redeliveries"):
    print(f"did {deed}")
