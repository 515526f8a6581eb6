/**
 * AddPermission and RemovePermission: a statement under a label in the queue's Policy, as AWS writes it. The policy is
 * an attribute like any other and has no effect in okuri. It is edited here and not by whoever read it, since two that
 * edit at once must not lose each other's statement: the edit travels with the swap and is made anew after a conflict.
 *
 * A policy that was set by hand is kept as it is but for the statement: a single statement becomes a list, whatever else
 * it says stays.
 */
import type { Command, CommandResult } from './command.ts';
import type { Draft } from './draft.ts';
import { POLICY_CHARACTERS_MAX } from './queue-attributes.ts';

/** In the order that AWS writes; one principal or action stands without a list. */
export interface PolicyStatement {
  /** The label. */
  readonly Sid: string;
  readonly Effect: 'Allow';
  readonly Principal: { readonly AWS: string | readonly string[] };
  readonly Action: string | readonly string[];
  readonly Resource: string;
}

/** AWS's bound on the statements of a policy. */
export const STATEMENTS_MAX = 20;

/** The version that AWS gives a policy which AddPermission begins. */
const VERSION = '2008-10-17';

interface OpenPolicy {
  readonly rest: Readonly<Record<string, unknown>>;
  readonly statements: readonly unknown[];
}

/** Whatever is stored as a policy is a JSON map (core/queue-attributes.ts). */
function opened(text: string): OpenPolicy {
  const rest = JSON.parse(text) as Readonly<Record<string, unknown>>;
  const statement = rest.Statement ?? [];
  return { rest, statements: Array.isArray(statement) ? statement : [statement] };
}

function labelled(statement: unknown, label: string): boolean {
  return typeof statement === 'object' && statement !== null && 'Sid' in statement && statement.Sid === label;
}

function written(draft: Draft, text: string | undefined): CommandResult {
  const attributes = new Map(draft.attributes);
  if (text === undefined) attributes.delete('Policy');
  else attributes.set('Policy', text);
  draft.setAttributes(attributes);
  draft.modifiedAtMillis = draft.time.stampMillis;
  return { outcome: { kind: 'done' }, effect: true };
}

/** The same statement again is done already: a client that never saw the answer may ask twice. */
export function addPermission(
  draft: Draft,
  { statement }: Command & { readonly kind: 'add-permission' },
): CommandResult {
  const text = draft.attributes.get('Policy');
  const { rest, statements } =
    text === undefined
      ? { rest: { Version: VERSION, Id: `${statement.Resource}/SQSDefaultPolicy` }, statements: [] }
      : opened(text);
  const same = statements.find((other) => labelled(other, statement.Sid));
  if (same !== undefined) {
    const done = JSON.stringify(same) === JSON.stringify(statement);
    return { outcome: { kind: done ? 'done' : 'label-taken' }, effect: false };
  }
  if (statements.length >= STATEMENTS_MAX)
    return { outcome: { kind: 'too-many-statements', count: statements.length + 1 }, effect: false };
  const policy = JSON.stringify({ ...rest, Statement: [...statements, statement] });
  if (policy.length > POLICY_CHARACTERS_MAX)
    return { outcome: { kind: 'policy-too-long', charactersMax: POLICY_CHARACTERS_MAX }, effect: false };
  return written(draft, policy);
}

/** With its last statement the policy goes. */
export function removePermission(
  draft: Draft,
  { label }: Command & { readonly kind: 'remove-permission' },
): CommandResult {
  const text = draft.attributes.get('Policy');
  const { rest, statements } = text === undefined ? { rest: {}, statements: [] } : opened(text);
  const others = statements.filter((statement) => !labelled(statement, label));
  if (others.length === statements.length)
    return { outcome: { kind: 'no-such-label', hasPolicy: text !== undefined }, effect: false };
  return written(draft, others.length === 0 ? undefined : JSON.stringify({ ...rest, Statement: others }));
}
