<?php
// The part of aws-sdk-php's SqsClient that Laravel's queue calls, over async-aws: arrays in, arrays out.
declare(strict_types=1);

namespace Aws\Sqs;

use AsyncAws\Sqs\SqsClient as AsyncClient;
use AsyncAws\Sqs\ValueObject\Message;

final class SqsClient
{
    private AsyncClient $sqs;

    public function __construct(array $config)
    {
        $this->sqs = self::client();
    }

    /** What stands in front of the queue's name in its URL: Laravel's setting `prefix`. */
    public static function prefixOf(string $queue): string
    {
        return \dirname(self::client()->getQueueUrl(['QueueName' => $queue])->getQueueUrl());
    }

    public function sendMessage(array $input): Answer
    {
        return new Answer(['MessageId' => $this->sqs->sendMessage($input)->getMessageId()]);
    }

    public function receiveMessage(array $input): Answer
    {
        $messages = array_map(
            static fn (Message $message): array => [
                'MessageId' => $message->getMessageId(),
                'ReceiptHandle' => $message->getReceiptHandle(),
                'Body' => $message->getBody(),
                'Attributes' => $message->getAttributes(),
            ],
            $this->sqs->receiveMessage($input)->getMessages()
        );
        return new Answer($messages === [] ? [] : ['Messages' => $messages]);
    }

    public function deleteMessage(array $input): void
    {
        $this->sqs->deleteMessage($input)->resolve();
    }

    public function changeMessageVisibility(array $input): void
    {
        $this->sqs->changeMessageVisibility($input)->resolve();
    }

    private static function client(): AsyncClient
    {
        return new AsyncClient(['endpoint' => getenv('AWS_ENDPOINT_URL'), 'region' => getenv('AWS_REGION')]);
    }
}

final class Answer extends \ArrayObject
{
    public function get(string $key)
    {
        return $this[$key];
    }

    #[\ReturnTypeWillChange]
    public function offsetGet($key)
    {
        return $this->offsetExists($key) ? parent::offsetGet($key) : null;
    }
}
