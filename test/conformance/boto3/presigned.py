"""URLs of the query protocol, which anybody may fetch who has one; in JSON the body would have to be signed as well."""

import hashlib
import urllib.error
import urllib.request

from checks import check, check_equal


def run(sqs, prefix):
    url = sqs.create_queue(QueueName=f"{prefix}-presigned")["QueueUrl"]
    body = "from a URL: a+b & 100% \r\n😀"
    send = sqs.generate_presigned_url("send_message", Params={"QueueUrl": url, "MessageBody": body}, HttpMethod="GET")
    answer = urllib.request.urlopen(send).read().decode()
    check("a presigned URL sends", hashlib.md5(body.encode()).hexdigest() in answer, answer)
    messages = sqs.receive_message(QueueUrl=url, WaitTimeSeconds=5).get("Messages", [])
    check_equal("what it says", [message["Body"] for message in messages], [body])
    try:
        urllib.request.urlopen(send.replace("SendMessage", "PurgeQueue"))
        check("a presigned URL for another action", False, "an answer")
    except urllib.error.HTTPError as error:
        check_equal("a presigned URL for another action is refused", error.code, 403)
    sqs.delete_queue(QueueUrl=url)
