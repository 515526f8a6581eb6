/**
 * Every variable okuri reads: its form, its default and what it means. `okuri serve --help` prints this table; the
 * rules between variables are in config.ts. A message never repeats a value, which might be a secret put in the wrong
 * place.
 */
import * as v from 'valibot';
import { parseListenAddress } from './addresses.ts';

const text = v.pipe(v.string(), v.trim());

const address = v.pipe(
  text,
  v.transform((given) => parseListenAddress(given)),
  v.check(
    (parsed) => parsed !== undefined,
    'must be an address and a port, like 127.0.0.1:8080 or [::1]:8080',
  ),
  v.transform((parsed) => parsed!),
);

const SWITCH: ReadonlyMap<string, boolean> = new Map([
  ['on', true],
  ['true', true],
  ['yes', true],
  ['1', true],
  ['off', false],
  ['false', false],
  ['no', false],
  ['0', false],
]);
const onOff = v.pipe(
  text,
  v.transform((given) => SWITCH.get(given.toLowerCase())),
  v.check((parsed) => parsed !== undefined, 'must be on or off'),
  v.transform((parsed) => parsed!),
);

const httpUrl = v.pipe(
  text,
  v.check(isBareHttpUrl, 'must be an http:// or https:// URL without path, query or credentials'),
  v.transform((given) => given.replace(/\/$/, '')),
);

function isBareHttpUrl(given: string): boolean {
  if (!URL.canParse(given)) return false;
  const url = new URL(given);
  const bare =
    url.pathname === '/' &&
    url.search === '' &&
    url.hash === '' &&
    url.username === '' &&
    url.password === '';
  return bare && (url.protocol === 'http:' || url.protocol === 'https:');
}

function pattern(expression: RegExp, meaning: string) {
  return v.pipe(text, v.regex(expression, `must be ${meaning}`));
}

/** The credential part of a signature is cut at `/`, the header at `,`, and both are ASCII. */
export const accessKeyId = pattern(/^[A-Za-z0-9_.@+=-]{3,128}$/, '3 to 128 letters, digits or _ . @ + = -');
export const secretAccessKey = v.pipe(v.string(), v.minLength(8, 'must have at least 8 characters'));

export interface Setting {
  readonly schema: v.GenericSchema<string, unknown>;
  readonly fallback: string;
  readonly meaning: string;
}

function setting<Schema extends v.GenericSchema<string, unknown>>(
  schema: Schema,
  fallback: string,
  meaning: string,
) {
  return { schema, fallback, meaning };
}

const awsRegion = pattern(/^[a-z0-9-]{1,64}$/, 'a region name like us-east-1');

export const SETTINGS = {
  OKURI_LISTEN: setting(address, '127.0.0.1:8080', 'address of the API'),
  OKURI_HEALTH_LISTEN: setting(address, '127.0.0.1:9090', 'address of /healthz, /readyz and /metrics'),
  OKURI_DATA_DIR: setting(
    v.pipe(text, v.minLength(1)),
    './okuri-data',
    'folder of the embedded file store, used when no bucket is set; memory: for a throw-away store',
  ),
  OKURI_S3_BUCKET: setting(
    pattern(/^[a-z0-9][a-z0-9._-]{1,61}[a-z0-9]$/, 'a bucket name'),
    '',
    'the bucket; without it the embedded store is used',
  ),
  OKURI_S3_ENDPOINT: setting(
    v.pipe(text, v.check(isHttpUrl, 'must be an http:// or https:// URL')),
    '',
    'URL of an S3-compatible store; AWS when not set',
  ),
  OKURI_S3_REGION: setting(awsRegion, '', 'region of the bucket; AWS_REGION, then us-east-1, when not set'),
  OKURI_S3_PREFIX: setting(
    pattern(
      /^[A-Za-z0-9_-][A-Za-z0-9._-]*(\/[A-Za-z0-9_-][A-Za-z0-9._-]*)*\/?$/,
      'parts of A–Z a–z 0–9 - _ . between /',
    ),
    '',
    'what all keys in the bucket begin with',
  ),
  OKURI_S3_ACCESS_KEY_ID: setting(
    v.pipe(text, v.minLength(1)),
    '',
    'key of the bucket; else the usual AWS chain',
  ),
  OKURI_S3_SECRET_ACCESS_KEY: setting(v.pipe(v.string(), v.minLength(1)), '', 'its secret'),
  OKURI_S3_FORCE_PATH_STYLE: setting(
    onOff,
    '',
    'bucket in the path, not in the host; on when an endpoint is set',
  ),
  OKURI_S3_CREATE_BUCKET: setting(onOff, 'off', 'create the bucket when it is missing'),
  OKURI_SQS_ACCESS_KEY_ID: setting(
    accessKeyId,
    '',
    'key of the clients; a development pair on loopback when not set',
  ),
  OKURI_SQS_SECRET_ACCESS_KEY: setting(secretAccessKey, '', 'its secret'),
  OKURI_CREDENTIALS_FILE: setting(v.pipe(text, v.minLength(1)), '', 'JSON file with any number of pairs'),
  OKURI_ACCOUNT_ID: setting(pattern(/^\d{12}$/, 'twelve digits'), '000000000000', 'account in URLs and ARNs'),
  OKURI_REGION: setting(awsRegion, 'us-east-1', 'region in ARNs and signatures'),
  OKURI_PUBLIC_URL: setting(
    httpUrl,
    '',
    'base of returned queue URLs; the host the caller used when not set',
  ),
  OKURI_TRUST_PROXY: setting(onOff, 'off', 'believe X-Forwarded-Host and X-Forwarded-Proto'),
  OKURI_LINGER_MS: setting(
    v.pipe(
      text,
      v.check((given) => /^\d{1,4}$/.test(given) && Number(given) <= 5_000, 'must be 0 to 5000 milliseconds'),
      v.transform(Number),
    ),
    '',
    'commit window; 0 on the embedded store, 100 on S3',
  ),
  OKURI_SQS_COOLDOWNS: setting(onOff, 'off', "AWS's two 60-second rules, for tests against them"),
  OKURI_LOG_LEVEL: setting(
    v.picklist(['debug', 'info', 'warning', 'error'], 'must be debug, info, warning or error'),
    'info',
    'least level that is logged',
  ),
} as const;

function isHttpUrl(given: string): boolean {
  return URL.canParse(given) && /^https?:$/.test(new URL(given).protocol);
}

export type SettingName = keyof typeof SETTINGS;
export type SettingValue<Name extends SettingName> = v.InferOutput<(typeof SETTINGS)[Name]['schema']>;
export const SETTING_NAMES = Object.keys(SETTINGS) as SettingName[];
