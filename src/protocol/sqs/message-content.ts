/** One message of a send, single or in a batch: from request fields to a `SendEntry`, or the refusal SQS would give. */
import type {
  MessageSystemAttributeValue,
  SendMessageBatchRequestEntry,
  SendMessageRequest,
} from '@aws-sdk/client-sqs';
import { md5OfMessageAttributes } from '../../core/md5.ts';
import type { MessageAttributes } from '../../core/message.ts';
import { utf8Length } from '../../core/utf8-length.ts';
import type { SendEntry, SendEntryOutcome } from '../../engine/queue-api.ts';
import type { ActionCall } from './actions/action.ts';
import { firstForbiddenCodePoint } from './content-characters.ts';
import { invalidParameter, invalidValue, missingParameter, type Refusal, refusal } from './errors.ts';
import { checkFifoDelay, checkIds, deduplicationOf } from './fifo-message.ts';
import { messageAttributesBytes, parseMessageAttributes } from './message-attributes.ts';
import type { ShapeOf } from './shape.ts';

export type MessageFields = Pick<
  SendMessageRequest & SendMessageBatchRequestEntry,
  | 'MessageBody'
  | 'DelaySeconds'
  | 'MessageAttributes'
  | 'MessageSystemAttributes'
  | 'MessageGroupId'
  | 'MessageDeduplicationId'
>;

export const systemAttributeShape = {
  members: {
    StringValue: 'string',
    BinaryValue: 'blob',
    StringListValues: { list: 'string' },
    BinaryListValues: { list: 'blob' },
    DataType: 'string',
  },
} as const satisfies ShapeOf<MessageSystemAttributeValue>;

/** A message as it is sent, with what its answer must repeat. */
export interface ParsedMessage {
  readonly kind: 'parsed';
  readonly entry: SendEntry;
  readonly systemAttributes: MessageAttributes;
}

const DELAY_SECONDS_MAX = 900;
/** X-Ray writes about a hundred; the header is stored outside the message's size, so it needs a bound of its own. */
const TRACE_HEADER_BYTES_MAX = 4_096;
/** `Root=1-…;Parent=…;Sampled=1`, in any order and with more of the kind. */
const TRACE_ID = /^[!-~ ]{0,1000}Root=[!-~ ]{1,1000}$/;

/** UTF-8 body plus names, data types and values of the attributes. */
export function contentBytesOf(fields: MessageFields): number {
  return utf8Length(fields.MessageBody ?? '') + messageAttributesBytes(fields.MessageAttributes);
}

function parseSystemAttributes(
  input: MessageFields['MessageSystemAttributes'],
): { readonly kind: 'parsed'; readonly attributes: MessageAttributes } | Refusal {
  for (const name of Object.keys(input ?? {})) {
    if (name !== 'AWSTraceHeader')
      return invalidParameter(`Message system attribute name '${name}' is invalid.`);
  }
  const sent = input?.AWSTraceHeader;
  if (sent === undefined) return { kind: 'parsed', attributes: new Map() };
  if (sent.DataType !== 'String') {
    return invalidParameter(
      "The type of message system attribute 'AWSTraceHeader' is invalid. It must be 'String'.",
    );
  }
  const parsed = parseMessageAttributes({ AWSTraceHeader: sent });
  if (parsed.kind === 'refused') return parsed;
  if (utf8Length(sent.StringValue ?? '') > TRACE_HEADER_BYTES_MAX) {
    return invalidParameter("The value of message system attribute 'AWSTraceHeader' is too long.");
  }
  return parsed;
}

/**
 * What X-Ray is told of the message. Programs write the attribute; SDKs under X-Ray, and Lambda, send the HTTP header, which
 * AWS takes as well. The header is no part of the message, so one that is no trace id is overlooked, not refused.
 */
function traceHeaderOf(system: MessageAttributes, { traceId }: ActionCall): string | undefined {
  const own = system.get('AWSTraceHeader');
  if (own?.kind === 'text') return own.text;
  return traceId !== undefined && TRACE_ID.test(traceId) ? traceId : undefined;
}

function checkFields(fields: MessageFields, fifo: boolean): Refusal | undefined {
  const { MessageBody: body, DelaySeconds: delay } = fields;
  if (body === undefined || body === '') return missingParameter('MessageBody');
  const forbidden = firstForbiddenCodePoint(body);
  if (forbidden !== undefined) {
    return refusal(
      'InvalidMessageContents',
      `Invalid binary character '${forbidden}' was found in the message body, the set of allowed characters is #x9 | #xA | #xD | [#x20-#xD7FF] | [#xE000-#xFFFD] | [#x10000-#x10FFFF].`,
    );
  }
  if (delay !== undefined && (delay < 0 || delay > DELAY_SECONDS_MAX)) {
    return invalidValue(delay, 'DelaySeconds', 'DelaySeconds must be >= 0 and <= 900.');
  }
  return (fifo ? checkFifoDelay(fields) : undefined) ?? checkIds(fields, fifo);
}

/** `fifo`: what the queue is that it is sent to. */
export async function parseMessage(
  fields: MessageFields,
  fifo: boolean,
  call: ActionCall,
): Promise<ParsedMessage | Refusal> {
  const refused = checkFields(fields, fifo);
  if (refused !== undefined) return refused;
  const attributes = parseMessageAttributes(fields.MessageAttributes);
  if (attributes.kind === 'refused') return attributes;
  const system = parseSystemAttributes(fields.MessageSystemAttributes);
  if (system.kind === 'refused') return system;
  return {
    kind: 'parsed',
    systemAttributes: system.attributes,
    entry: {
      content: {
        body: fields.MessageBody ?? '',
        attributes: attributes.attributes,
        traceHeader: traceHeaderOf(system.attributes, call),
        groupId: fields.MessageGroupId,
      },
      contentBytes: contentBytesOf(fields),
      delaySeconds: fifo ? undefined : fields.DelaySeconds,
      ...(fifo ? { deduplication: await deduplicationOf(fields, call) } : {}),
    },
  };
}

/** What the message that was stored is named by: now, or when it was sent first. */
export function identityOf(sent: SendEntryOutcome & { readonly kind: 'sent' | 'duplicate' }): {
  MessageId: string;
  SequenceNumber?: string;
} {
  const { messageId, sequenceNumber } = sent;
  return {
    MessageId: messageId,
    ...(sequenceNumber === undefined ? {} : { SequenceNumber: sequenceNumber }),
  };
}

/** The digests by which clients check what arrived; absent ones are left out. */
export function sendDigests(
  message: ParsedMessage,
  call: ActionCall,
): { MD5OfMessageBody: string; MD5OfMessageAttributes?: string; MD5OfMessageSystemAttributes?: string } {
  const ofAttributes = md5OfMessageAttributes(message.entry.content.attributes, call.md5Hex);
  const ofSystem = md5OfMessageAttributes(message.systemAttributes, call.md5Hex);
  return {
    MD5OfMessageBody: call.md5Hex(message.entry.content.body),
    ...(ofAttributes === undefined ? {} : { MD5OfMessageAttributes: ofAttributes }),
    ...(ofSystem === undefined ? {} : { MD5OfMessageSystemAttributes: ofSystem }),
  };
}
