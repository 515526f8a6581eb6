/**
 * Who may call: pairs of access key id and secret.
 *
 * The credentials file is JSON, for as many pairs as wanted:
 *
 *     { "credentials": [ { "accessKeyId": "AKIDORDERS", "secretAccessKey": "…", "comment": "order service" } ] }
 */
import * as v from 'valibot';
import { accessKeyId, secretAccessKey } from './settings.ts';

export interface Credential {
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
}

/**
 * Published in compose.yaml and the README, so worth nothing as a secret: it spares a first user the configuration and
 * is taken by itself on loopback only.
 */
export const DEVELOPMENT_CREDENTIAL: Credential = {
  accessKeyId: 'AKIDOKURICOMPOSEDEV',
  secretAccessKey: 'b2t1cmktY29tcG9zZS1kZXYtc3FzLXNlY3JldA==',
};

const FILE = v.strictObject({
  credentials: v.pipe(
    v.array(v.strictObject({ accessKeyId, secretAccessKey, comment: v.optional(v.string()) })),
    v.minLength(1, 'must have at least one pair'),
  ),
});

export type CredentialsFileOutcome =
  | { readonly kind: 'done'; readonly credentials: readonly Credential[] }
  | { readonly kind: 'mistakes'; readonly mistakes: readonly string[] };

/** Messages name places in the file, never what stands there. */
export function parseCredentialsFile(content: string): CredentialsFileOutcome {
  let parsed: unknown;
  try {
    parsed = JSON.parse(content);
  } catch {
    return { kind: 'mistakes', mistakes: ['is not JSON'] };
  }
  const result = v.safeParse(FILE, parsed);
  if (!result.success) {
    const mistakes = result.issues.map(
      (issue) => `${v.getDotPath(issue) ?? 'the file'}: ${withoutValue(issue)}`,
    );
    return { kind: 'mistakes', mistakes };
  }
  return {
    kind: 'done',
    credentials: result.output.credentials.map((pair) => ({
      accessKeyId: pair.accessKeyId,
      secretAccessKey: pair.secretAccessKey,
    })),
  };
}

/** Valibot's own wording quotes what it received. */
function withoutValue(issue: v.BaseIssue<unknown>): string {
  if (issue.kind === 'validation') return issue.message;
  if (issue.expected === 'never') return 'is not known here';
  return issue.received === 'undefined' ? 'is missing' : `must be ${issue.expected ?? 'something else'}`;
}
