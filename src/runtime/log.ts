/**
 * Log lines through LogTape, on standard error: JSON for collectors, colours for people at a terminal.
 *
 * Nothing okuri logs carries a secret. Should an error of a library carry one all the same, every secret this process
 * was configured with is blotted out of the finished line.
 */
import process from 'node:process';
import { inspect } from 'node:util';
import { configureSync, getAnsiColorFormatter, getJsonLinesFormatter, getLogger } from '@logtape/logtape';
import type { Log } from '../engine/environment.ts';

export type LogLevel = 'debug' | 'info' | 'warning' | 'error';

export interface LogOptions {
  readonly level: LogLevel;
  readonly pretty: boolean;
  readonly secrets: readonly string[];
  readonly write: (line: string) => void;
}

const people = getAnsiColorFormatter({
  timestamp: 'time',
  category: () => '',
  format: ({ timestamp, level, message, record }) => {
    const fields = Object.entries(record.properties).map(([name, value]) => `${name}=${shown(value)}`);
    return [timestamp, level, message, ...fields].join(' ');
  },
});
const collectors = getJsonLinesFormatter({ properties: 'nest:fields' });

/** LogTape's configuration is one for the process: the last call holds. */
export function createLog(options: LogOptions): Log {
  const format = options.pretty ? people : collectors;
  // As written, and as JSON would write them.
  const secrets = options.secrets
    .filter((secret) => secret.length > 0)
    .flatMap((secret) => [secret, JSON.stringify(secret).slice(1, -1)]);
  configureSync({
    reset: true,
    sinks: {
      line: (record) => {
        let line = format(record);
        for (const secret of secrets) line = line.replaceAll(secret, '[secret]');
        options.write(line);
      },
    },
    loggers: [
      { category: 'okuri', lowestLevel: options.level, sinks: ['line'] },
      { category: ['logtape', 'meta'], lowestLevel: 'error', sinks: ['line'] },
    ],
  });
  const logger = getLogger('okuri');
  return {
    debug: (message, fields) => logger.debug(message, { ...fields }),
    info: (message, fields) => logger.info(message, { ...fields }),
    warn: (message, fields) => logger.warn(message, { ...fields }),
    error: (message, fields) => logger.error(message, { ...fields }),
  };
}

/** Standard error is written synchronously to files, terminals and (except on Windows) pipes: the last line is not lost. */
export function writeToStandardError(line: string): void {
  process.stderr.write(line);
}

function shown(value: unknown): string {
  if (value instanceof Error) return value.stack ?? value.message;
  return typeof value === 'string'
    ? JSON.stringify(value)
    : inspect(value, { breakLength: Number.POSITIVE_INFINITY });
}
