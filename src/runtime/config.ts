/**
 * The configuration: environment in, either everything a server needs or every mistake at once. Nothing here touches
 * the network, and the one file it reads comes through `readFile`.
 */
import { closest, distance } from 'fastest-levenshtein';
import * as v from 'valibot';
import { collide, formatAddress, isLoopback, type ListenAddress } from './addresses.ts';
import { type Credential, DEVELOPMENT_CREDENTIAL, parseCredentialsFile } from './credentials.ts';
import type { LogLevel } from './log.ts';
import { SETTING_NAMES, SETTINGS, type SettingName, type SettingValue } from './settings.ts';

export interface S3Config {
  readonly bucket: string;
  readonly endpoint: string | undefined;
  readonly region: string;
  /** Without a slash at its end; may be empty. */
  readonly prefix: string;
  /** Undefined: the SDK's usual chain. */
  readonly credential: Credential | undefined;
  readonly forcePathStyle: boolean;
  readonly createBucket: boolean;
}

export type StoreConfig =
  | { readonly kind: 'memory' }
  | { readonly kind: 'file'; readonly folder: string }
  | { readonly kind: 's3'; readonly s3: S3Config };

export interface Config {
  readonly listen: ListenAddress;
  readonly healthListen: ListenAddress;
  readonly store: StoreConfig;
  readonly credentials: readonly Credential[];
  readonly accountId: string;
  readonly region: string;
  readonly publicUrl: string | undefined;
  readonly trustProxy: boolean;
  readonly lingerMillis: number;
  readonly cooldowns: boolean;
  readonly logLevel: LogLevel;
  /** What the operator should know but need not change. */
  readonly warnings: readonly string[];
}

export type ConfigOutcome =
  | { readonly kind: 'done'; readonly config: Config }
  | { readonly kind: 'mistakes'; readonly mistakes: readonly string[] };

export interface FileReading {
  readonly content: string;
  /** Whether every user of the machine may read it. */
  readonly worldReadable: boolean;
}

export type Environment = Readonly<Record<string, string | undefined>>;

/** A window on the embedded store only adds latency: its writes cost nothing. On S3 it is the price (DESIGN.md section 3). */
const LINGER_MILLIS = { embedded: 0, s3: 100 };

export async function readConfig(
  environment: Environment,
  readFile: (path: string) => Promise<FileReading>,
): Promise<ConfigOutcome> {
  const notes: Notes = { mistakes: [...unknownVariables(environment)], warnings: [] };
  const values = readSettings(environment, notes);
  const store = storeConfig(values, environment, notes);
  const credentials = await readCredentials(environment, values, notes, readFile);
  checkAddresses(values, notes);
  if (notes.mistakes.length > 0) return { kind: 'mistakes', mistakes: notes.mistakes };
  return {
    kind: 'done',
    config: {
      listen: values.OKURI_LISTEN!,
      healthListen: values.OKURI_HEALTH_LISTEN!,
      store,
      credentials,
      accountId: values.OKURI_ACCOUNT_ID!,
      region: values.OKURI_REGION!,
      publicUrl: values.OKURI_PUBLIC_URL,
      trustProxy: values.OKURI_TRUST_PROXY!,
      lingerMillis:
        values.OKURI_LINGER_MS ?? (store.kind === 's3' ? LINGER_MILLIS.s3 : LINGER_MILLIS.embedded),
      cooldowns: values.OKURI_SQS_COOLDOWNS!,
      logLevel: values.OKURI_LOG_LEVEL!,
      warnings: notes.warnings,
    },
  };
}

interface Notes {
  readonly mistakes: string[];
  readonly warnings: string[];
}

/** Undefined: not set and without a default, or set wrongly, which is noted. */
type Values = { [Name in SettingName]?: SettingValue<Name> };

/** What Kubernetes sets in every pod beside a service named okuri: OKURI_SERVICE_HOST, OKURI_PORT_8080_TCP_ADDR, … */
const SERVICE_LINK = /^OKURI_(?:SERVICE_(?:HOST|PORT)|PORT)(?:_|$)/;

function* unknownVariables(environment: Environment): Generator<string> {
  for (const name of Object.keys(environment).sort()) {
    if (!name.startsWith('OKURI_') || name in SETTINGS || SERVICE_LINK.test(name)) continue;
    const nearest = closest(name, SETTING_NAMES);
    // Half the name wrong is no typing mistake.
    const near = distance(name, nearest) <= name.length / 2;
    yield `${name} is not a variable of okuri${near ? `; did you mean ${nearest}?` : ''}`;
  }
}

/** An empty variable counts as not set: compose files and shells pass them on like that. */
function given(environment: Environment, name: string): string | undefined {
  const value = environment[name];
  return value === undefined || value.trim() === '' ? undefined : value;
}

function readSettings(environment: Environment, notes: Notes): Values {
  const values: Record<string, unknown> = {};
  for (const name of SETTING_NAMES) {
    const { schema, fallback } = SETTINGS[name];
    const value = given(environment, name) ?? fallback;
    if (value === '') continue;
    const result = v.safeParse(schema as v.GenericSchema<string, unknown>, value);
    if (result.success) values[name] = result.output;
    else notes.mistakes.push(`${name} ${result.issues[0].message}`);
  }
  return values as Values;
}

function storeConfig(values: Values, environment: Environment, notes: Notes): StoreConfig {
  if (given(environment, 'OKURI_S3_BUCKET') === undefined) {
    for (const name of SETTING_NAMES) {
      if (name.startsWith('OKURI_S3_') && given(environment, name) !== undefined) {
        notes.mistakes.push(`${name} is set, but OKURI_S3_BUCKET is not`);
      }
    }
    const folder = values.OKURI_DATA_DIR ?? '';
    return folder === 'memory:' ? { kind: 'memory' } : { kind: 'file', folder };
  }
  return {
    kind: 's3',
    s3: {
      bucket: values.OKURI_S3_BUCKET ?? '',
      endpoint: values.OKURI_S3_ENDPOINT,
      region:
        values.OKURI_S3_REGION ??
        given(environment, 'AWS_REGION') ??
        given(environment, 'AWS_DEFAULT_REGION') ??
        'us-east-1',
      prefix: (values.OKURI_S3_PREFIX ?? '').replace(/\/$/, ''),
      credential: pair(environment, values, 'OKURI_S3_ACCESS_KEY_ID', 'OKURI_S3_SECRET_ACCESS_KEY', notes),
      forcePathStyle: values.OKURI_S3_FORCE_PATH_STYLE ?? values.OKURI_S3_ENDPOINT !== undefined,
      createBucket: values.OKURI_S3_CREATE_BUCKET ?? false,
    },
  };
}

/** Both variables or none. */
function pair(
  environment: Environment,
  values: Values,
  idName: 'OKURI_S3_ACCESS_KEY_ID' | 'OKURI_SQS_ACCESS_KEY_ID',
  secretName: 'OKURI_S3_SECRET_ACCESS_KEY' | 'OKURI_SQS_SECRET_ACCESS_KEY',
  notes: Notes,
): Credential | undefined {
  const idGiven = given(environment, idName) !== undefined;
  const secretGiven = given(environment, secretName) !== undefined;
  if (idGiven !== secretGiven) {
    notes.mistakes.push(
      idGiven ? `${idName} is set, but ${secretName} is not` : `${secretName} is set, but ${idName} is not`,
    );
  }
  const id = values[idName];
  const secret = values[secretName];
  return id === undefined || secret === undefined ? undefined : { accessKeyId: id, secretAccessKey: secret };
}

async function readCredentials(
  environment: Environment,
  values: Values,
  notes: Notes,
  readFile: (path: string) => Promise<FileReading>,
): Promise<readonly Credential[]> {
  const own = pair(environment, values, 'OKURI_SQS_ACCESS_KEY_ID', 'OKURI_SQS_SECRET_ACCESS_KEY', notes);
  const anySet = ['OKURI_SQS_ACCESS_KEY_ID', 'OKURI_SQS_SECRET_ACCESS_KEY', 'OKURI_CREDENTIALS_FILE'].some(
    (name) => given(environment, name) !== undefined,
  );
  if (!anySet) return developmentCredentials(values.OKURI_LISTEN, notes);
  if (own?.secretAccessKey === DEVELOPMENT_CREDENTIAL.secretAccessKey) {
    notes.warnings.push(
      'OKURI_SQS_SECRET_ACCESS_KEY is the published development secret: everybody knows it',
    );
  }
  const fromFile = await credentialsFromFile(values.OKURI_CREDENTIALS_FILE, notes, readFile);
  const credentials = [...(own === undefined ? [] : [own]), ...fromFile];
  const seen = new Set<string>();
  for (const { accessKeyId } of credentials) {
    if (seen.has(accessKeyId)) notes.mistakes.push(`access key id ${accessKeyId} is given twice`);
    seen.add(accessKeyId);
  }
  return credentials;
}

function developmentCredentials(listen: ListenAddress | undefined, notes: Notes): readonly Credential[] {
  if (listen !== undefined && !isLoopback(listen)) {
    notes.mistakes.push(
      `OKURI_LISTEN is ${formatAddress(listen)}, but no credentials are set: the development pair is for loopback only; ` +
        'set OKURI_SQS_ACCESS_KEY_ID and OKURI_SQS_SECRET_ACCESS_KEY, or OKURI_CREDENTIALS_FILE',
    );
  }
  notes.warnings.push(
    `No credentials are set: the development pair ${DEVELOPMENT_CREDENTIAL.accessKeyId} of compose.yaml may call`,
  );
  return [DEVELOPMENT_CREDENTIAL];
}

async function credentialsFromFile(
  path: string | undefined,
  notes: Notes,
  readFile: (path: string) => Promise<FileReading>,
): Promise<readonly Credential[]> {
  if (path === undefined) return [];
  let reading: FileReading;
  try {
    reading = await readFile(path);
  } catch (error) {
    const code = (error as { readonly code?: string }).code ?? 'error';
    notes.mistakes.push(`OKURI_CREDENTIALS_FILE cannot be read (${code}): ${path}`);
    return [];
  }
  if (reading.worldReadable)
    notes.warnings.push(`The credentials file can be read by every user of this machine: ${path}`);
  const outcome = parseCredentialsFile(reading.content);
  if (outcome.kind === 'done') return outcome.credentials;
  for (const mistake of outcome.mistakes) notes.mistakes.push(`OKURI_CREDENTIALS_FILE: ${mistake}`);
  return [];
}

function checkAddresses(values: Values, notes: Notes): void {
  const { OKURI_LISTEN: api, OKURI_HEALTH_LISTEN: health } = values;
  if (api === undefined || health === undefined || !collide(api, health)) return;
  notes.mistakes.push(
    `OKURI_LISTEN ${formatAddress(api)} and OKURI_HEALTH_LISTEN ${formatAddress(health)} cannot both be listened on`,
  );
}
