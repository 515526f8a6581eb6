/**
 * The legacy query protocol as the handler sees it: `Action=` and its parameters in the URL, in a form body, or in both.
 *
 * - Both are covered by the signature, the URL as it is and the body by its hash, so nobody but the signer can name an
 *   action or change one of its parameters, also in a presigned URL.
 * - The path may stand for QueueUrl. Actions that are about no queue are not to be had at a queue's path.
 */
import { actions } from '../actions/index.ts';
import { queueDoesNotExist, type Refusal, refusal } from '../errors.ts';
import type { Protocol, VerifiedRequest } from '../protocol.ts';
import { queueNameOfPath } from '../queue-url.ts';
import { queryDone, queryRefused } from './answers.ts';
import { decodeQueryRequest } from './decode.ts';
import { type FormNode, formOf, parametersOfBody, type ReadForm } from './form.ts';

const openingBrace = 0x7b;
const VERSION = '2012-11-05';
const FORM_TYPE = /^\s*application\/x-www-form-urlencoded\s*(?:;|$)/i;
const NOT_AT_A_QUEUE: ReadonlySet<string> = new Set(['CreateQueue', 'ListQueues']);

function readForm({ method, header, query, body }: VerifiedRequest): ReadForm {
  const type = header('content-type');
  if (method !== 'POST' || !(type === undefined || FORM_TYPE.test(type)) || isJson(body))
    return formOf(query);
  const read = parametersOfBody(body);
  return read.kind === 'refused' ? read : formOf([...query, ...read.parameters]);
}

/**
 * A signature need not cover X-Amz-Target nor the type of the body. Whoever could change those on the way must not have
 * a text within a JSON body read as parameters.
 */
function isJson(body: Uint8Array): boolean {
  return body[0] === openingBrace;
}

function parameter(form: FormNode, name: string): string | undefined {
  return form.children.get(name)?.value;
}

/** Undefined when the action may be asked for here. */
function addressRefusal(request: VerifiedRequest, form: FormNode, action: string): Refusal | undefined {
  const { path, accountId, baseUrl } = request;
  const parts = path.split('/').filter((part) => part !== '').length;
  if (parts === 0 || parameter(form, 'QueueUrl')) return undefined;
  if (parts !== 2) {
    return refusal('InvalidAddress', `The address ${baseUrl}${path} is not valid for this endpoint.`);
  }
  if (NOT_AT_A_QUEUE.has(action)) return invalidAction(action);
  return queueNameOfPath(path, accountId) === undefined ? queueDoesNotExist : undefined;
}

function invalidAction(action: string): Refusal {
  return refusal('InvalidAction', `The action ${action} is not valid for this endpoint.`);
}

export const queryProtocol: Protocol = {
  open(request) {
    const unknown = refusal('UnknownOperationException', 'The request names no action.');
    if (request.method !== 'GET' && request.method !== 'POST') return unknown;
    const read = readForm(request);
    if (read.kind === 'refused') return read;
    const { form } = read;
    const action = parameter(form, 'Action');
    if (action === undefined) return unknown;
    const version = parameter(form, 'Version');
    if (version !== undefined && version !== VERSION) {
      return refusal('InvalidAction', `Could not find operation ${action} for version ${version}`);
    }
    if (!actions.has(action)) return invalidAction(action);
    const refused = addressRefusal(request, form, action);
    if (refused !== undefined) return refused;
    return { kind: 'opened', action, decode: (shape) => decodeQueryRequest(shape, form, action) };
  },
  done: queryDone,
  refused: queryRefused,
};
