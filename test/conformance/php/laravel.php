<?php
// Jobs on Laravel's queue, for worker-trial.ts: its Worker, SqsQueue and SqsJob as `artisan queue:work sqs --tries=3` runs
// them. The package aws/aws-sdk-php that they call can't be installed from Debian; sqs-client.php stands in for it.
declare(strict_types=1);

require_once 'AsyncAws/Sqs/autoload.php';
require_once 'Illuminate/Queue/autoload.php';
require_once 'Illuminate/Events/autoload.php';
require_once __DIR__ . '/sqs-client.php';
require_once __DIR__ . '/job.php';

use Illuminate\Bus\Dispatcher;
use Illuminate\Container\Container;
use Illuminate\Contracts\Bus\Dispatcher as DispatcherContract;
use Illuminate\Contracts\Debug\ExceptionHandler;
use Illuminate\Contracts\Queue\ShouldQueue;
use Illuminate\Events\Dispatcher as Events;
use Illuminate\Queue\Capsule\Manager;
use Illuminate\Queue\InteractsWithQueue;
use Illuminate\Queue\Worker;
use Illuminate\Queue\WorkerOptions;

final class Job implements ShouldQueue
{
    use InteractsWithQueue;

    public int $number;

    public function __construct(int $number)
    {
        $this->number = $number;
    }

    public function handle(): void
    {
        // Laravel counts tries by SQS's receive count.
        if ($this->number === (int) getenv('JOB_FAILS') && happened('failed', $this->number) && $this->attempts() < 2) {
            throw new LogicException('tried again, and the receive count says it is the first time');
        }
        run($this->number);
    }
}

final class Prints implements ExceptionHandler
{
    public function report(Throwable $e): void
    {
        echo get_class($e), ': ', $e->getMessage(), "\n";
    }

    public function shouldReport(Throwable $e): bool
    {
        return true;
    }

    public function render($request, Throwable $e): void
    {
    }

    public function renderForConsole($output, Throwable $e): void
    {
    }
}

$container = new Container();
Container::setInstance($container);
$events = new Events($container);
$container->instance('events', $events);
$container->instance(Illuminate\Contracts\Events\Dispatcher::class, $events);
$container->instance(Illuminate\Contracts\Container\Container::class, $container);
$container->singleton(DispatcherContract::class, static fn () => new Dispatcher($container));
$manager = new Manager($container);
$manager->addConnection([
    'driver' => 'sqs',
    'queue' => getenv('JOB_QUEUE'),
    'prefix' => Aws\Sqs\SqsClient::prefixOf(getenv('JOB_QUEUE')),
], 'sqs');

if ($argv[1] === 'send') {
    for ($number = (int) $argv[2]; $number < $argv[2] + $argv[3]; ++$number) {
        $manager->getConnection('sqs')->push(new Job($number));
    }
    exit(0);
}

$worker = new Worker($manager->getQueueManager(), $events, new Prints(), static fn (): bool => false);
// $backoff, $memory, $timeout, $sleep, $maxTries. The timeout is longer than the job that hangs, whose end is kill -9.
$options = new WorkerOptions('default', 1, 128, 600, 1, 3);
exit($worker->daemon('sqs', getenv('JOB_QUEUE'), $options));
