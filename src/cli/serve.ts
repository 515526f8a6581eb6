/**
 * `okuri serve`: the process around one node. Exit codes: 0 stopped as asked, 1 could not start or failed, 2 the
 * configuration is wrong.
 *
 * A failure nobody caught ends the process: all state is in the bucket, so starting anew is always safe, and going on
 * with unknown state in memory is not.
 */
import { readFile, stat } from 'node:fs/promises';
import process from 'node:process';
import { clearTimeout, setTimeout } from 'node:timers';
import type { Log } from '../engine/environment.ts';
import { formatAddress } from '../runtime/addresses.ts';
import { type RunningNode, startNode } from '../runtime/assemble.ts';
import { type Config, type FileReading, readConfig } from '../runtime/config.ts';
import { currentPlatform } from '../runtime/current-platform.ts';
import { STOP_WITHIN_MILLIS } from '../runtime/limits.ts';
import { createLog, writeToStandardError } from '../runtime/log.ts';
import { StartFailure } from '../runtime/start-failure.ts';
import { VERSION } from '../runtime/version.ts';

const EXIT = { stopped: 0, failed: 1, misconfigured: 2 } as const;

/** Resolves only for tests of its failures; otherwise the process ends by itself. */
export async function serve(): Promise<void> {
  const outcome = await readConfig(process.env, readCredentialsFile);
  if (outcome.kind === 'mistakes') {
    const list = outcome.mistakes.map((mistake) => `  - ${mistake}`).join('\n');
    process.stderr.write(
      `okuri: the configuration has ${count(outcome.mistakes.length, 'mistake')}:\n${list}\n`,
    );
    process.exit(EXIT.misconfigured);
  }
  const { config } = outcome;
  const log = logFor(config);
  endOnUncaught(log);
  for (const warning of config.warnings) log.warn(warning);
  const stopping = { begun: false };
  const node = await start(config, log, stopping);
  log.info('okuri is ready', {
    version: VERSION,
    api: `http://${formatAddress(node.api)}`,
    health: `http://${formatAddress(node.health)}`,
    region: config.region,
    lingerMillis: config.lingerMillis,
  });
  stopOnSignals(node, log, stopping);
}

async function start(config: Config, log: Log, stopping: { begun: boolean }): Promise<RunningNode> {
  const platform = await currentPlatform();
  // Until the node runs there is nothing to finish: a signal ends the process at once.
  const quit = () => process.exit(EXIT.stopped);
  for (const signal of SIGNALS) process.on(signal, quit);
  try {
    return await startNode({
      config,
      platform,
      log,
      onLost: (error) => {
        if (stopping.begun) return;
        log.error('The data folder was taken over; this process ends', { error: error.message });
        process.exit(EXIT.failed);
      },
    });
  } catch (error) {
    if (error instanceof StartFailure) log.error(`okuri cannot start: ${error.message}`);
    else log.error('okuri cannot start, by its own mistake', { error });
    return process.exit(EXIT.failed);
  } finally {
    for (const signal of SIGNALS) process.off(signal, quit);
  }
}

const SIGNALS = ['SIGTERM', 'SIGINT'] as const;

function stopOnSignals(node: RunningNode, log: Log, stopping: { begun: boolean }): void {
  const onSignal = (signal: NodeJS.Signals) => {
    if (stopping.begun) {
      log.warn('A second signal: ending at once', { signal });
      process.exit(EXIT.failed);
    }
    stopping.begun = true;
    log.info('Stopping', { signal });
    const deadline = setTimeout(() => {
      log.error('Stopping took too long; ending with work unanswered', { millis: STOP_WITHIN_MILLIS });
      process.exit(EXIT.failed);
    }, STOP_WITHIN_MILLIS);
    node.stop().then(
      () => {
        clearTimeout(deadline);
        log.info('Stopped');
        process.exit(EXIT.stopped);
      },
      (error: unknown) => {
        log.error('Stopping failed', { error });
        process.exit(EXIT.failed);
      },
    );
  };
  for (const signal of SIGNALS) process.on(signal, onSignal);
}

function endOnUncaught(log: Log): void {
  const end = (error: unknown) => {
    log.error('A failure that nobody caught ends this process', { error });
    process.exit(EXIT.failed);
  };
  process.on('uncaughtException', end);
  process.on('unhandledRejection', end);
}

function logFor(config: Config): Log {
  const secrets = config.credentials.map((credential) => credential.secretAccessKey);
  const bucketSecret = config.store.kind === 's3' ? config.store.s3.credential?.secretAccessKey : undefined;
  return createLog({
    level: config.logLevel,
    pretty: process.stderr.isTTY === true,
    secrets: bucketSecret === undefined ? secrets : [...secrets, bucketSecret],
    write: writeToStandardError,
  });
}

async function readCredentialsFile(path: string): Promise<FileReading> {
  const [content, { mode }] = await Promise.all([readFile(path, 'utf8'), stat(path)]);
  // Windows has no such bits and shows every file as readable.
  return { content, worldReadable: process.platform !== 'win32' && (mode & 0o004) !== 0 };
}

function count(many: number, thing: string): string {
  return `${many} ${thing}${many === 1 ? '' : 's'}`;
}
