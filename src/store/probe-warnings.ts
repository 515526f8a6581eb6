/** What the owner of a bucket should know of it although okuri works there: each costs money. */

export type Versioning = 'off' | 'enabled' | 'suspended' | 'unknown';

export interface Probed {
  /** Undefined: the adapter has no such thing. */
  readonly versioning: Versioning | undefined;
  readonly conditionalDelete: boolean;
  readonly listTags: boolean;
}

export function warningsOf({ versioning, conditionalDelete, listTags }: Probed): string[] {
  const warnings: string[] = [];
  if (versioning === 'enabled' || versioning === 'suspended') {
    warnings.push(
      `versioning is ${versioning} on this bucket: every commit of a queue may stay as a noncurrent version and be billed; ` +
        'add a lifecycle rule with NoncurrentVersionExpiration (NoncurrentDays 1) and ExpiredObjectDeleteMarker',
    );
  }
  if (!conditionalDelete) {
    warnings.push(
      'the store has no conditional DELETE: the small tombstones of deleted queues stay in the bucket',
    );
  }
  if (!listTags) {
    warnings.push(
      'LIST shows other tags than the writes had: each queue that a receive waits on is read by itself, which costs more ' +
        'where many are waited on',
    );
  }
  return warnings;
}
