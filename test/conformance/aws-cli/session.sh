#!/usr/bin/env bash
# The session of a first user, with the AWS CLI as PyPI ships it. Endpoint, region and credentials come from the
# environment. The endpoint is repeated as an option, because for `sqs` alone the CLI of version 1 overrides
# AWS_ENDPOINT_URL in the regions of AWS (awscli/customizations/overridesslcommonname.py).
# One line a check; the first wrong answer ends the session with status 1.
set -euo pipefail
export AWS_DEFAULT_OUTPUT=text AWS_CLI_FILE_ENCODING=UTF-8 LC_ALL=C.UTF-8

name="awscli-$(head -c 6 /dev/urandom | od -An -tx1 | tr -d ' \n')"
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

fail() { printf 'FAILED %s: saw %q\n' "$1" "$2"; exit 1; }
equal() { [ "$2" = "$3" ] || fail "$1" "$2"; printf 'ok %s\n' "$1"; }
contains() { case "$2" in *"$3"*) printf 'ok %s\n' "$1" ;; *) fail "$1" "$2" ;; esac; }
sqs() { aws --endpoint-url "$AWS_ENDPOINT_URL" sqs "$@"; }
# The command must fail, and name the error code.
refused() {
  local what=$1 code=$2 seen
  shift 2
  if seen=$(aws --endpoint-url "$AWS_ENDPOINT_URL" sqs "$@" 2>&1); then fail "$what" "$seen"; fi
  contains "$what" "$seen" "($code)"
}

url=$(sqs create-queue --queue-name "$name" --attributes VisibilityTimeout=45 --query QueueUrl)
contains 'create-queue answers the URL' "$url" "/$name"
equal 'create-queue again' "$(sqs create-queue --queue-name "$name" --query QueueUrl)" "$url"
refused 'create-queue with another value' QueueAlreadyExists create-queue --queue-name "$name" --attributes VisibilityTimeout=9
equal 'get-queue-url' "$(sqs get-queue-url --queue-name "$name" --query QueueUrl)" "$url"
equal 'list-queues' "$(sqs list-queues --queue-name-prefix "$name" --query 'QueueUrls[0]')" "$url"
equal 'list-queues of nothing' "$(sqs list-queues --queue-name-prefix "$name-none" --query QueueUrls)" None

sent=$(sqs send-message --queue-url "$url" --message-body 'Hello, 世界 😀' \
  --message-attributes '{"kind":{"DataType":"String","StringValue":"greeting"}}' --query MessageId)
[ "${#sent}" = 36 ] || fail 'send-message answers a MessageId' "$sent"
equal 'get-queue-attributes counts it' \
  "$(sqs get-queue-attributes --queue-url "$url" --attribute-names All --query Attributes.ApproximateNumberOfMessages)" 1
sqs receive-message --queue-url "$url" --wait-time-seconds 5 --message-attribute-names All \
  --attribute-names All --output json > "$folder/received.json"
field() { python3 -c 'import json,sys; value = json.load(open(sys.argv[1]))["Messages"][0]
for part in sys.argv[2].split("."): value = value[part]
print(value)' "$folder/received.json" "$1"; }
equal 'receive-message: MessageId' "$(field MessageId)" "$sent"
equal 'receive-message: Body' "$(field Body)" 'Hello, 世界 😀'
equal 'receive-message: MessageAttributes' "$(field MessageAttributes.kind.StringValue)" greeting
equal 'receive-message: ApproximateReceiveCount' "$(field Attributes.ApproximateReceiveCount)" 1
sqs change-message-visibility --queue-url "$url" --receipt-handle "$(field ReceiptHandle)" --visibility-timeout 0
again=$(sqs receive-message --queue-url "$url" --wait-time-seconds 5 --query 'Messages[0].ReceiptHandle')
sqs delete-message --queue-url "$url" --receipt-handle "$again"
equal 'delete-message: nothing is left' "$(sqs receive-message --queue-url "$url" --wait-time-seconds 1 --query 'Messages')" None

equal 'send-message-batch' "$(sqs send-message-batch --queue-url "$url" --query 'length(Successful)' --entries \
  '[{"Id":"a","MessageBody":"1"},{"Id":"b","MessageBody":"2"},{"Id":"c","MessageBody":"3","DelaySeconds":900}]')" 3
equal 'the delayed one is counted' "$(sqs get-queue-attributes --queue-url "$url" \
  --attribute-names ApproximateNumberOfMessagesDelayed --query Attributes.ApproximateNumberOfMessagesDelayed)" 1
equal 'receive-message takes the other two' \
  "$(sqs receive-message --queue-url "$url" --max-number-of-messages 10 --wait-time-seconds 5 --query 'Messages[].Body' | tr '\t' '\n' | sort | tr '\n' ' ')" '1 2 '
sqs purge-queue --queue-url "$url"
equal 'purge-queue' "$(sqs get-queue-attributes --queue-url "$url" --attribute-names All --query \
  'Attributes.[ApproximateNumberOfMessages,ApproximateNumberOfMessagesNotVisible,ApproximateNumberOfMessagesDelayed]' | tr '\t' ' ')" '0 0 0'

python3 -c 'import sys; open(sys.argv[1], "w").write("m" * 1048576)' "$folder/largest"
equal 'a message of 1 MiB from a file' \
  "$(sqs send-message --queue-url "$url" --message-body "file://$folder/largest" --query MD5OfMessageBody)" \
  "$(md5sum "$folder/largest" | cut -d ' ' -f 1)"
equal 'and back' "$(sqs receive-message --queue-url "$url" --wait-time-seconds 5 --query 'Messages[0].MD5OfBody')" \
  "$(md5sum "$folder/largest" | cut -d ' ' -f 1)"
python3 -c 'import json, sys; json.dump([{"Id": str(n), "MessageBody": str(n) * 104857} for n in range(10)], open(sys.argv[1], "w"))' \
  "$folder/batch.json"
equal 'a full batch of ten' \
  "$(sqs send-message-batch --queue-url "$url" --entries "file://$folder/batch.json" --query 'length(Successful)')" 10

sqs set-queue-attributes --queue-url "$url" --attributes DelaySeconds=3,VisibilityTimeout=5
equal 'set-queue-attributes' "$(sqs get-queue-attributes --queue-url "$url" --attribute-names DelaySeconds VisibilityTimeout \
  --query 'Attributes.[DelaySeconds,VisibilityTimeout]' | tr '\t' ' ')" '3 5'
refused 'an unknown attribute' InvalidAttributeName set-queue-attributes --queue-url "$url" --attributes Colour=red
refused 'a malformed handle' ReceiptHandleIsInvalid delete-message --queue-url "$url" --receipt-handle nonsense
refused 'too many messages' InvalidParameterValue receive-message --queue-url "$url" --max-number-of-messages 11
sqs delete-queue --queue-url "$url"
refused 'a deleted queue is gone' AWS.SimpleQueueService.NonExistentQueue get-queue-url --queue-name "$name"
AWS_SECRET_ACCESS_KEY=wrong refused 'a wrong secret' SignatureDoesNotMatch list-queues

fifo=$(sqs create-queue --queue-name "$name.fifo" --attributes FifoQueue=true,ContentBasedDeduplication=true --query QueueUrl)
put() { sqs send-message --queue-url "$fifo" --message-body "$1" --message-group-id g --query SequenceNumber; }
number=$(put 1)
[ "${#number}" = 20 ] || fail 'a FIFO queue answers a SequenceNumber' "$number"
equal 'a duplicate has the first one'"'"'s' "$(put 1)" "$number"
put 2 > "$folder/second"
head=$(sqs receive-message --queue-url "$fifo" --attribute-names All --query 'Messages[0].[Body,Attributes.MessageGroupId,ReceiptHandle]')
equal 'its head comes first' "$(cut -f 1,2 <<< "$head" | tr '\t' ' ')" '1 g'
equal 'a group in flight yields nothing' "$(sqs receive-message --queue-url "$fifo" --query Messages)" None
sqs delete-message --queue-url "$fifo" --receipt-handle "$(cut -f 3 <<< "$head")"
equal 'then comes the next' "$(sqs receive-message --queue-url "$fifo" --wait-time-seconds 5 --query 'Messages[0].Body')" 2
refused 'a message without a group' MissingParameter send-message --queue-url "$fifo" --message-body 3
sqs delete-queue --queue-url "$fifo"
printf 'did %s\n' "a first user's session" errors batches attributes 'a FIFO queue'
