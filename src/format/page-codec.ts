/** Pages to bytes and back. A page holds what the manifest held, in the same form, so the codecs are the same. */
import { deduplicationPageOf, entriesOf } from '../core/deduplication-page.ts';
import { type DeduplicationKey, type Incarnation, incarnationBytes } from '../core/ids.ts';
import type { PageContents, PageKind } from '../core/pages.ts';
import type { DeduplicationEntry, Delivery, SegmentId, SegmentReference } from '../core/queue-state.ts';
import { emptyRanges } from '../core/range-set.ts';
import type { NewPage } from '../core/resources.ts';
import { decodeDeduplication, encodeDeduplication } from './deduplication-codec.ts';
import {
  decodeDelayed,
  decodeDelivery,
  decodeReady,
  encodeDelayed,
  encodeDelivery,
  encodeReady,
} from './delivery-codec.ts';
import {
  type Damaged,
  FIFO_FORMAT_VERSION,
  type Newer,
  openEnvelope,
  PAGES_FORMAT_VERSION,
  sealEnvelope,
} from './envelope.ts';
import { decodeSegmentReference, encodeSegmentReferences } from './segment-reference-codec.ts';
import { lengthTag, Malformed } from './wire.ts';
import { WireReader } from './wire-reader.ts';
import { WireWriter } from './wire-writer.ts';

const field = { incarnation: 1, entries: 2 } as const;

export type DecodePageOutcome<K extends PageKind> =
  | { readonly kind: 'ok'; readonly content: PageContents[K] }
  | Damaged
  | Newer;

interface PageCodec<K extends PageKind> {
  encode(writer: WireWriter, content: PageContents[K]): void;
  /** Reads one entry of the page. @throws Malformed */
  reader(): { next(reader: WireReader): void; content(): PageContents[K] };
}

const codecs: { readonly [K in PageKind]: PageCodec<K> } = {
  delayed: {
    encode: (writer, content) => encodeDelayed(writer, field.entries, content),
    reader: () => {
      const delayed = new Map<number, number>();
      let last = 0;
      return {
        next(reader) {
          const sequence = decodeDelayed(reader, delayed);
          if (sequence <= last) throw new Malformed('sequence numbers are not in order');
          last = sequence;
        },
        content: () => delayed,
      };
    },
  },
  ready: {
    encode: (writer, content) => encodeReady(writer, field.entries, content),
    reader: () => {
      let ready = emptyRanges;
      return {
        next(reader) {
          if (ready.length > 0) throw new Malformed('the ready ranges come twice');
          ready = decodeReady(reader);
        },
        content: () => ready,
      };
    },
  },
  segments: {
    encode: (writer, content) => encodeSegmentReferences(writer, field.entries, content),
    reader: () => {
      const segments = new Map<SegmentId, SegmentReference>();
      return {
        next: (reader) => decodeSegmentReference(reader, segments),
        content: () => segments,
      };
    },
  },
  lease: {
    encode: (writer, { sequences, deliveries }) =>
      sequences.forEach((sequence, ordinal) => {
        encodeDelivery(writer, field.entries, sequence, deliveries[ordinal]!);
      }),
    reader: () => {
      const sequences: number[] = [];
      const deliveries: Delivery[] = [];
      const one = new Map<number, Delivery>();
      return {
        next(reader) {
          const sequence = decodeDelivery(reader, one);
          if (sequence <= (sequences.at(-1) ?? 0)) throw new Malformed('sequence numbers are not in order');
          sequences.push(sequence);
          deliveries.push(one.get(sequence)!);
          one.clear();
        },
        content: () => ({ sequences, deliveries }),
      };
    },
  },
  deduplication: {
    encode: (writer, content) => encodeDeduplication(writer, field.entries, entriesOf(content)),
    reader: () => {
      const entries = new Map<DeduplicationKey, DeduplicationEntry>();
      let last = '';
      return {
        next(reader) {
          const key = decodeDeduplication(reader, entries);
          if (key <= last) throw new Malformed('keys are not in order');
          last = key;
        },
        content: () => deduplicationPageOf(entries),
      };
    },
  },
};

export function encodePage(incarnation: Incarnation, page: NewPage): Uint8Array {
  const writer = new WireWriter(64 * 1024);
  writer.hex(field.incarnation, incarnation, incarnationBytes);
  encodeEntries(writer, page);
  return sealEnvelope(`${page.kind}-page`, writer.finish(), formatVersionOf(page));
}

function formatVersionOf({ kind, content }: NewPage): number {
  const ofFifoQueue =
    kind === 'deduplication' ||
    (kind === 'lease' && content.deliveries.some(({ group }) => group !== undefined));
  return ofFifoQueue ? FIFO_FORMAT_VERSION : PAGES_FORMAT_VERSION;
}

function encodeEntries<K extends PageKind>(
  writer: WireWriter,
  { kind, content }: { readonly kind: K; readonly content: PageContents[K] },
): void {
  codecs[kind].encode(writer, content);
}

/** `incarnation`: the queue's that names it; a page of another one was misplaced and is damaged. */
export function decodePage<K extends PageKind>(
  kind: K,
  bytes: Uint8Array,
  incarnation: Incarnation,
): DecodePageOutcome<K> {
  const opened = openEnvelope(bytes);
  if (opened.kind !== 'ok') return opened;
  if (opened.objectKind !== `${kind}-page`)
    return { kind: 'damaged', reason: `a ${opened.objectKind}, not a ${kind} page` };
  try {
    const { owner, content } = walk(kind, opened.payload);
    if (owner !== incarnation) return { kind: 'damaged', reason: 'a page of another incarnation' };
    return { kind: 'ok', content };
  } catch (error) {
    if (error instanceof Malformed) return { kind: 'damaged', reason: error.message };
    throw error;
  }
}

function walk<K extends PageKind>(
  kind: K,
  payload: Uint8Array,
): { readonly owner: string | undefined; readonly content: PageContents[K] } {
  const reader = new WireReader(payload);
  const entries = codecs[kind].reader();
  let owner: string | undefined;
  while (reader.more()) {
    const tag = reader.varint();
    if (tag === lengthTag(field.incarnation)) owner = reader.hex(incarnationBytes);
    else if (tag === lengthTag(field.entries)) entries.next(reader);
    else reader.skip(tag);
  }
  return { owner, content: entries.content() };
}
