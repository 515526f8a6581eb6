/** What all parts of one engine share. */
import type { PageCache, SegmentCache } from './caches.ts';
import type { Counters } from './counters.ts';
import type { Environment } from './environment.ts';
import type { GroupCache } from './group-cache.ts';
import type { ManifestWatch } from './manifest-watch.ts';
import type { EngineSettings } from './settings.ts';
import type { TimeSource } from './time-source.ts';

export interface EngineContext {
  readonly environment: Environment;
  readonly settings: EngineSettings;
  readonly counters: Counters;
  readonly time: TimeSource;
  readonly bodies: SegmentCache;
  readonly pages: PageCache;
  readonly groups: GroupCache;
  readonly watch: ManifestWatch;
}
