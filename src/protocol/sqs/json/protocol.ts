/** AWS JSON 1.0 as the handler sees it. The action is the one X-Amz-Target names, by POST alone. */
import { actions } from '../actions/index.ts';
import { type Refusal, refusal } from '../errors.ts';
import type { Protocol } from '../protocol.ts';
import { jsonDone, jsonRefused } from './answers.ts';
import { decodeJsonRequest } from './decode.ts';

const TARGET = /^AmazonSQS\.([A-Za-z]+)$/;

function nameAction(method: string, target: string | undefined): string | Refusal {
  if (target === undefined) {
    return refusal('UnsupportedOperation', 'The request names no action in X-Amz-Target.');
  }
  const name = TARGET.exec(target)?.[1];
  if (name !== undefined && method === 'POST' && actions.has(name)) return name;
  const what = name === undefined ? 'requested action' : `action ${name}`;
  return refusal('UnsupportedOperation', `The ${what} is not supported by this version of okuri.`);
}

export const jsonProtocol: Protocol = {
  open({ method, target, body }) {
    const action = nameAction(method, target);
    if (typeof action !== 'string') return action;
    return { kind: 'opened', action, decode: (shape) => decodeJsonRequest(shape, body) };
  },
  done: (_action, output, requestId) => jsonDone(output, requestId),
  refused: jsonRefused,
};
