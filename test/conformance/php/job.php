<?php
// What a PHP worker tells worker-trial.ts, which see: empty files, one an event.
declare(strict_types=1);

function record(string $event, int $number): void
{
    touch(fileOf($event, $number));
}

function fileOf(string $event, int $number): string
{
    return sprintf('%s/%s-%d.%s', getenv('JOB_RECORDS'), $event, $number, getenv('JOB_WORKER'));
}

function happened(string $event, int $number): bool
{
    return glob(sprintf('%s/%s-%d.*', getenv('JOB_RECORDS'), $event, $number)) !== [];
}

/** Throws once for the job that fails; stays for minutes in the one that hangs. */
function run(int $number): void
{
    if ($number === (int) getenv('JOB_FAILS') && !happened('failed', $number)) {
        record('failed', $number);
        throw new RuntimeException('fails once');
    }
    if ($number === (int) getenv('JOB_HANGS')) {
        $elsewhere = happened('started', $number) && !file_exists(fileOf('started', $number));
        record('started', $number);
        if (!$elsewhere) {
            sleep(300);
        }
    }
    record('done', $number);
}
