/** What a JavaScript worker tells worker-trial.ts, which see: empty files, one an event; and what its jobs carry. */
import { existsSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

const { JOB_RECORDS = '', JOB_WORKER = '', JOB_FAILS, JOB_HANGS } = process.env;

export const queueName = process.env.JOB_QUEUE ?? '';

export const attributesOf = (number: string) => ({
  bytes: { DataType: 'Binary', BinaryValue: Uint8Array.of(0, 255) },
  kind: { DataType: 'String', StringValue: 'größe 😀' },
  number: { DataType: 'Number.int', StringValue: number },
});

const fileOf = (event: string, number: string) => join(JOB_RECORDS, `${event}-${number}.${JOB_WORKER}`);
const record = (event: string, number: string) => writeFileSync(fileOf(event, number), '');
const happened = (event: string, number: string) =>
  readdirSync(JOB_RECORDS).some((name) => name.startsWith(`${event}-${number}.`));

/** Throws once for the job that fails; stays for minutes in the one that hangs. */
export async function run(number: string): Promise<void> {
  if (number === JOB_FAILS && !happened('failed', number)) {
    record('failed', number);
    throw new Error('fails once');
  }
  if (number === JOB_HANGS) {
    const elsewhere = happened('started', number) && !existsSync(fileOf('started', number));
    record('started', number);
    if (!elsewhere) await new Promise((resolve) => setTimeout(resolve, 300_000));
  }
  record('done', number);
}
