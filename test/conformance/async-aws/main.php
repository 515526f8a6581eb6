<?php
// An ordinary program on async-aws/sqs of the Linux distribution, which speaks the query protocol. Endpoint, region and
// credentials come from the environment. One line a check; the first wrong answer ends the program with status 1.
declare(strict_types=1);

require_once 'AsyncAws/Sqs/autoload.php';

use AsyncAws\Core\Exception\Http\ClientException;
use AsyncAws\Sqs\Exception\BatchEntryIdsNotDistinctException;
use AsyncAws\Sqs\Exception\InvalidMessageContentsException;
use AsyncAws\Sqs\Exception\QueueDoesNotExistException;
use AsyncAws\Sqs\Exception\QueueNameExistsException;
use AsyncAws\Sqs\Exception\ReceiptHandleIsInvalidException;
use AsyncAws\Sqs\SqsClient;

function check(string $what, bool $holds, $seen = null): void
{
    if (!$holds) {
        echo "FAILED $what: saw ", var_export($seen, true), "\n";
        exit(1);
    }
    echo "ok $what\n";
}

function checkEqual(string $what, $seen, $expected): void
{
    check($what, $seen === $expected, $seen);
}

/** A program may name the class or the code. */
function checkRefused(string $what, callable $call, string $code, string $class): void
{
    try {
        $call();
    } catch (ClientException $error) {
        checkEqual("$what: $code", $error->getAwsCode(), $code);
        check("$what: as $class", $error instanceof $class, get_class($error));
        return;
    }
    check($what, false, 'no refusal');
}

$sqs = new SqsClient(['endpoint' => getenv('AWS_ENDPOINT_URL'), 'region' => getenv('AWS_REGION')]);
$prefix = 'async-aws-' . bin2hex(random_bytes(6));

function receive(string $url, int $limit = 1, int $wait = 10): array
{
    global $sqs;
    $input = [
        'QueueUrl' => $url,
        'MaxNumberOfMessages' => $limit,
        'WaitTimeSeconds' => $wait,
        'AttributeNames' => ['All'],
        'MessageAttributeNames' => ['All'],
    ];
    return $sqs->receiveMessage($input)->getMessages();
}

function receiveOne(string $what, string $url)
{
    $messages = receive($url);
    checkEqual("$what: one message comes", count($messages), 1);
    return $messages[0];
}

/** Visible, in flight and delayed. */
function counts(string $url): array
{
    global $sqs;
    $seen = $sqs->getQueueAttributes(['QueueUrl' => $url, 'AttributeNames' => ['All']])->getAttributes();
    $name = 'ApproximateNumberOfMessages';
    return [$seen[$name], $seen["{$name}NotVisible"], $seen["{$name}Delayed"]];
}

$url = $sqs->createQueue(['QueueName' => $prefix, 'Attributes' => ['VisibilityTimeout' => '45']])->getQueueUrl();
check('the URL ends in the name', str_ends_with($url, "/$prefix"), $url);
checkEqual('getQueueUrl', $sqs->getQueueUrl(['QueueName' => $prefix])->getQueueUrl(), $url);
$listed = iterator_to_array($sqs->listQueues(['QueueNamePrefix' => $prefix])->getQueueUrls(), false);
checkEqual('listQueues', $listed, [$url]);
$different = fn () => $sqs->createQueue(['QueueName' => $prefix, 'Attributes' => ['VisibilityTimeout' => '4']])->resolve();
checkRefused('createQueue with another value', $different, 'QueueAlreadyExists', QueueNameExistsException::class);
$missing = fn () => $sqs->getQueueUrl(['QueueName' => "$prefix-none"])->resolve();
$gone = 'AWS.SimpleQueueService.NonExistentQueue';
checkRefused('getQueueUrl of a missing queue', $missing, $gone, QueueDoesNotExistException::class);
checkEqual('queueExists', $sqs->queueExists(['QueueName' => $prefix])->isSuccess(), true);
checkEqual('queueExists of a missing queue', $sqs->queueExists(['QueueName' => "$prefix-none"])->isSuccess(), false);

$attributes = [
    'text' => ['DataType' => 'String', 'StringValue' => 'grüße & <😀>'],
    'count' => ['DataType' => 'Number', 'StringValue' => '42'],
    'bytes' => ['DataType' => 'Binary', 'BinaryValue' => "\x00\x01\x7f\x80\xff"],
];
foreach (["plain", "tab\tline\nreturn\r\r\n", "emoji 😀", "<&>\"' ]]> &#xd;", " spaces + % ", "\n"] as $body) {
    $sent = $sqs->sendMessage(['QueueUrl' => $url, 'MessageBody' => $body, 'MessageAttributes' => $attributes]);
    checkEqual('MD5OfMessageBody', $sent->getMD5OfMessageBody(), md5($body));
    $message = receiveOne('send and receive', $url);
    checkEqual('the body round trips', $message->getBody(), $body);
    checkEqual('MessageId', $message->getMessageId(), $sent->getMessageId());
    checkEqual('MD5OfBody', $message->getMD5OfBody(), md5($body));
    checkEqual('MD5OfMessageAttributes', $message->getMD5OfMessageAttributes(), $sent->getMD5OfMessageAttributes());
    $seen = $message->getMessageAttributes();
    checkEqual('a text attribute', $seen['text']->getStringValue(), $attributes['text']['StringValue']);
    checkEqual('a number attribute', $seen['count']->getDataType() . $seen['count']->getStringValue(), 'Number42');
    checkEqual('a binary attribute', $seen['bytes']->getBinaryValue(), $attributes['bytes']['BinaryValue']);
    checkEqual('the receive count', $message->getAttributes()['ApproximateReceiveCount'], '1');
    $sqs->deleteMessage(['QueueUrl' => $url, 'ReceiptHandle' => $message->getReceiptHandle()])->resolve();
}

$entries = array_map(fn ($n) => ['Id' => "e$n", 'MessageBody' => "batch $n"], range(0, 8));
$batch = $sqs->sendMessageBatch(['QueueUrl' => $url, 'Entries' => [...$entries, ['Id' => 'bad', 'MessageBody' => "\x01"]]]);
checkEqual('sendMessageBatch: what went', array_map(fn ($e) => $e->getId(), $batch->getSuccessful()), array_column($entries, 'Id'));
$failed = array_map(fn ($e) => [$e->getId(), $e->getCode(), $e->getSenderFault()], $batch->getFailed());
checkEqual('sendMessageBatch: what did not', $failed, [['bad', 'InvalidMessageContents', true]]);
$taken = [];
while (count($taken) < 9) {
    $messages = receive($url, 10);
    check('receive some', count($messages) > 0, count($taken));
    foreach ($messages as $message) {
        $taken[$message->getMessageId()] = $message;
    }
}
$handles = array_map(fn ($m) => ['Id' => $m->getMessageId(), 'ReceiptHandle' => $m->getReceiptHandle()], array_values($taken));
$changes = array_map(fn ($h) => $h + ['VisibilityTimeout' => 30], $handles);
$changed = $sqs->changeMessageVisibilityBatch(['QueueUrl' => $url, 'Entries' => $changes]);
checkEqual('changeMessageVisibilityBatch', count($changed->getSuccessful()), 9);
$deleted = $sqs->deleteMessageBatch(['QueueUrl' => $url, 'Entries' => $handles]);
checkEqual('deleteMessageBatch', [count($deleted->getSuccessful()), $deleted->getFailed()], [9, []]);
checkEqual('nothing is left', counts($url), ['0', '0', '0']);

$twice = fn () => $sqs->sendMessageBatch(['QueueUrl' => $url, 'Entries' => [$entries[0], $entries[0]]])->resolve();
checkRefused('an id twice', $twice, 'AWS.SimpleQueueService.BatchEntryIdsNotDistinct', BatchEntryIdsNotDistinctException::class);
$control = fn () => $sqs->sendMessage(['QueueUrl' => $url, 'MessageBody' => "\x01"])->resolve();
checkRefused('a control character', $control, 'InvalidMessageContents', InvalidMessageContentsException::class);
$nonsense = fn () => $sqs->deleteMessage(['QueueUrl' => $url, 'ReceiptHandle' => 'nonsense'])->resolve();
checkRefused('a bad handle', $nonsense, 'ReceiptHandleIsInvalid', ReceiptHandleIsInvalidException::class);
checkRefused('eleven messages', fn () => receive($url, 11), 'InvalidParameterValue', ClientException::class);

$sqs->sendMessage(['QueueUrl' => $url, 'MessageBody' => 'given back'])->resolve();
$first = receiveOne('first delivery', $url);
$back = ['QueueUrl' => $url, 'ReceiptHandle' => $first->getReceiptHandle(), 'VisibilityTimeout' => 0];
$sqs->changeMessageVisibility($back)->resolve();
$second = receiveOne('visibility 0', $url);
checkEqual('it is counted', $second->getAttributes()['ApproximateReceiveCount'], '2');
$sqs->deleteMessage(['QueueUrl' => $url, 'ReceiptHandle' => $first->getReceiptHandle()])->resolve();
checkEqual('a superseded handle deletes nothing', counts($url), ['0', '1', '0']);
$sqs->sendMessage(['QueueUrl' => $url, 'MessageBody' => 'late', 'DelaySeconds' => 2])->resolve();
checkEqual('delayed', counts($url), ['0', '1', '1']);
checkEqual('a long poll is woken by the delay\'s end', receiveOne('late', $url)->getBody(), 'late');
$sqs->purgeQueue(['QueueUrl' => $url])->resolve();
checkEqual('purge', [counts($url), receive($url, 1, 0)], [['0', '0', '0'], []]);
$sqs->deleteQueue(['QueueUrl' => $url])->resolve();
$send = fn () => $sqs->sendMessage(['QueueUrl' => $url, 'MessageBody' => 'x'])->resolve();
// This version has no class for it here.
checkRefused('a deleted queue is gone', $send, $gone, ClientException::class);

$fifo = $sqs->createQueue(['QueueName' => "$prefix.fifo", 'Attributes' => ['FifoQueue' => 'true', 'ContentBasedDeduplication' => 'true']])->getQueueUrl();
$put = fn ($body, $group) => $sqs->sendMessage(['QueueUrl' => $fifo, 'MessageBody' => $body, 'MessageGroupId' => $group]);
$first = $put('1', 'g');
check('a sequence number', preg_match('/^[0-9]{20}$/', $first->getSequenceNumber()) === 1, $first->getSequenceNumber());
checkEqual('a duplicate', $put('1', 'g')->getMessageId(), $first->getMessageId());
$put('2', 'g')->resolve();
$put('other', 'h')->resolve();
$head = receiveOne('the head of the group', $fifo);
$of = fn ($message) => [$message->getBody(), $message->getAttributes()['MessageGroupId'], $message->getAttributes()['MessageDeduplicationId']];
checkEqual('its group and id', $of($head), ['1', 'g', hash('sha256', '1')]);
checkEqual('a locked group lets others by', array_map(fn ($m) => $m->getBody(), receive($fifo, 10)), ['other']);
$sqs->deleteMessage(['QueueUrl' => $fifo, 'ReceiptHandle' => $head->getReceiptHandle()])->resolve();
checkEqual('then comes the next', receiveOne('the next of the group', $fifo)->getBody(), '2');
checkRefused('no group', fn () => $sqs->sendMessage(['QueueUrl' => $fifo, 'MessageBody' => 'x'])->resolve(), 'MissingParameter', ClientException::class);
$sqs->deleteQueue(['QueueUrl' => $fifo])->resolve();
foreach (['actions on queues and messages but SetQueueAttributes', 'errors', 'batches', 'attributes', 'redeliveries', 'long poll', 'a FIFO queue'] as $deed) {
    echo "did $deed\n";
}
