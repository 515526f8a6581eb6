<?php
// Jobs on Symfony Messenger and its Amazon SQS transport, for worker-trial.ts: what FrameworkBundle wires by
// configuration is wired by hand, and the worker is the command messenger:consume. A failed message is sent again.
declare(strict_types=1);

require_once 'AsyncAws/Sqs/autoload.php';
require_once 'Symfony/Component/Messenger/autoload.php';
require_once 'Symfony/Component/Messenger/Bridge/AmazonSqs/autoload.php';
require_once 'Symfony/Component/Console/autoload.php';
require_once 'Symfony/Component/EventDispatcher/autoload.php';
require_once 'Symfony/Component/HttpClient/autoload.php';
require_once __DIR__ . '/job.php';

use Psr\Container\ContainerInterface;
use Symfony\Component\Console\Application;
use Symfony\Component\Console\Input\ArrayInput;
use Symfony\Component\Console\Output\ConsoleOutput;
use Symfony\Component\EventDispatcher\EventDispatcher;
use Symfony\Component\Messenger\Bridge\AmazonSqs\Transport\AmazonSqsTransportFactory;
use Symfony\Component\Messenger\Command\ConsumeMessagesCommand;
use Symfony\Component\Messenger\EventListener\DispatchPcntlSignalListener;
use Symfony\Component\Messenger\EventListener\SendFailedMessageForRetryListener;
use Symfony\Component\Messenger\EventListener\StopWorkerOnSigtermSignalListener;
use Symfony\Component\Messenger\Handler\HandlersLocator;
use Symfony\Component\Messenger\MessageBus;
use Symfony\Component\Messenger\Middleware\HandleMessageMiddleware;
use Symfony\Component\Messenger\Middleware\SendMessageMiddleware;
use Symfony\Component\Messenger\Retry\MultiplierRetryStrategy;
use Symfony\Component\Messenger\RoutableMessageBus;
use Symfony\Component\Messenger\Transport\Sender\SendersLocator;
use Symfony\Component\Messenger\Transport\Serialization\PhpSerializer;

final class Job
{
    public int $number;

    public function __construct(int $number)
    {
        $this->number = $number;
    }
}

/** Of a single transport: its name stands for the receiver, the sender and the retry strategy. */
final class Only implements ContainerInterface
{
    private object $service;

    public function __construct(object $service)
    {
        $this->service = $service;
    }

    public function get(string $id)
    {
        return $this->service;
    }

    public function has(string $id): bool
    {
        return $id === 'sqs';
    }
}

$endpoint = parse_url(getenv('AWS_ENDPOINT_URL'));
$dsn = sprintf('sqs://%s:%d/%s?sslmode=disable', $endpoint['host'], $endpoint['port'], getenv('JOB_QUEUE'));
$options = [
    'region' => getenv('AWS_REGION'),
    'access_key' => getenv('AWS_ACCESS_KEY_ID'),
    'secret_key' => getenv('AWS_SECRET_ACCESS_KEY'),
];
$transport = (new AmazonSqsTransportFactory())->createTransport($dsn, $options, new PhpSerializer());
$bus = new MessageBus([
    new SendMessageMiddleware(new SendersLocator([Job::class => ['sqs']], new Only($transport))),
    new HandleMessageMiddleware(new HandlersLocator([Job::class => [static fn (Job $job) => run($job->number)]])),
]);

if ($argv[1] === 'send') {
    for ($number = (int) $argv[2]; $number < $argv[2] + $argv[3]; ++$number) {
        $bus->dispatch(new Job($number));
    }
    exit(0);
}

$events = new EventDispatcher();
$strategy = new MultiplierRetryStrategy(3, 1000);
$events->addSubscriber(new SendFailedMessageForRetryListener(new Only($transport), new Only($strategy)));
$events->addSubscriber(new StopWorkerOnSigtermSignalListener());
$events->addSubscriber(new DispatchPcntlSignalListener());
$application = new Application();
$application->setAutoExit(true);
$application->add(new ConsumeMessagesCommand(new RoutableMessageBus(new Only($bus), $bus), new Only($transport), $events));
$application->run(new ArrayInput(['command' => 'messenger:consume', 'receivers' => ['sqs']]), new ConsoleOutput());
