/** What this process keeps of immutable objects: segments and pages, each within its bound. */
import type { PageContents, PageKind } from '../core/pages.ts';
import type { ObjectKeyParts } from '../format/object-keys.ts';
import { decodePage } from '../format/page-codec.ts';
import { type DecodedSegment, decodeSegment } from '../format/segment-codec.ts';
import type { Counters } from './counters.ts';
import type { Environment } from './environment.ts';
import { type Decoded, ImmutableCache } from './immutable-cache.ts';
import { bodyCacheBytesMax, pageCacheBytesMax } from './settings.ts';

export type SegmentCache = ImmutableCache<DecodedSegment>;
export type PageCache = ImmutableCache<PageContents[PageKind]>;

export function segmentCache(environment: Environment, counters: Counters): SegmentCache {
  return new ImmutableCache(environment, bodyCacheBytesMax, (bytes, { incarnation }) => {
    const decoded = decodeSegment(bytes, incarnation);
    if (decoded.kind !== 'ok') return decoded;
    counters.loadedSegments++;
    return { kind: 'ok', value: decoded.segment, bytes: decoded.segment.bytes };
  });
}

/** Decoded, an entry takes so many times the bytes that it has in the object, about. */
const expansion: Readonly<Record<PageKind, number>> = {
  delayed: 8,
  lease: 4,
  ready: 8,
  segments: 8,
  deduplication: 1,
};

/** What keeping a page costs that has so many bytes in the store. */
export function keptPageBytes(kind: PageKind, objectBytes: number): number {
  return objectBytes * expansion[kind];
}

export function pageCache(environment: Environment, counters: Counters): PageCache {
  return new ImmutableCache(
    environment,
    pageCacheBytesMax,
    (bytes, parts): Decoded<PageContents[PageKind]> => {
      const kind = pageKindOf(parts);
      const decoded = decodePage(kind, bytes, parts.incarnation);
      if (decoded.kind !== 'ok') return decoded;
      counters.loadedPages++;
      return { kind: 'ok', value: decoded.content, bytes: keptPageBytes(kind, bytes.length) };
    },
  );
}

function pageKindOf({ kind }: ObjectKeyParts): PageKind {
  if (kind === 'seg' || kind === 'turn') throw new TypeError(`${kind} is no page`);
  return kind;
}
