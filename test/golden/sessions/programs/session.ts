/**
 * Plays one part of script.json with aws-sdk-js, as it signs at a given time and draws its invocation ids from a seed.
 *
 *     node --import tsx session.ts SCRIPT PART
 *
 * Every call is made a second after the one before; `wait` moves the clock further.
 */
import { readFileSync } from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import os from 'node:os';
import { SeededRandom } from '../../../support/seeded-random.ts';

type Json = string | number | boolean | readonly Json[] | { readonly [name: string]: Json };
type Answer = Readonly<Record<string, unknown>>;

interface Options {
  readonly save?: Readonly<Record<string, string>>;
  readonly refused?: boolean;
  readonly as?: { readonly accessKeyId: string; readonly secretAccessKey: string };
}

let momentMillis = Date.parse('2027-01-15T08:01:00Z');
const RealDate = Date;
globalThis.Date = class extends RealDate {
  constructor(...given: [] | [number | string]) {
    super(...((given.length === 0 ? [momentMillis] : given) as [number]));
  }
  static override now(): number {
    return momentMillis;
  }
} as DateConstructor;

const random = new SeededRandom(6);
crypto.randomUUID = () => {
  const hex = Buffer.from(random.bytes(16)).toString('hex');
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-4${hex.slice(13, 16)}-8${hex.slice(17, 20)}-${hex.slice(20)}`;
};
// The one part of User-Agent that names the machine.
os.release = () => '0';
syncBuiltinESMExports();

const sdk = await import('@aws-sdk/client-sqs');
const names = new Map<string, string>();

function filled(value: Json, key?: string): unknown {
  if (Array.isArray(value)) return value.map((each: Json) => filled(each));
  if (typeof value === 'object')
    return Object.fromEntries(Object.entries(value).map(([name, each]) => [name, filled(each, name)]));
  if (typeof value !== 'string') return value;
  if (key === 'BinaryValue') return Buffer.from(value, 'base64');
  return value.replace(/\$\{(\w+)\}/g, (_, name: string) => names.get(name) ?? `no ${name}`);
}

function at(answer: unknown, path: string): string {
  let value = answer;
  for (const part of path.split('.')) value = (value as Answer | undefined)?.[part];
  if (typeof value !== 'string') throw new Error(`there is no ${path}`);
  return value;
}

async function call(action: string, given: Json, { save = {}, refused = false, as }: Options): Promise<void> {
  const sqs = new sdk.SQSClient(as === undefined ? {} : { credentials: as });
  const Command = sdk[`${action}Command` as 'ListQueuesCommand'];
  let answer: unknown;
  try {
    answer = await sqs.send(new Command(filled(given) as object));
  } catch (error) {
    if (!refused || !(error instanceof sdk.SQSServiceException)) throw error;
    console.log(`${action}: ${error.name}: ${error.message}`);
    return;
  } finally {
    sqs.destroy();
  }
  if (refused) throw new Error(`${action} ${JSON.stringify(given)} was not refused`);
  for (const [name, path] of Object.entries(save)) names.set(name, at(answer, path));
  console.log(action);
}

const [script = '', part = ''] = process.argv.slice(2);
const steps = JSON.parse(readFileSync(script, 'utf8'))[part] as readonly [string, Json, Options?][];
for (const [action, given, options = {}] of steps) {
  if (action === 'wait') momentMillis += Number(given) * 1_000;
  else {
    momentMillis += 1_000;
    await call(action, given, options);
  }
}
