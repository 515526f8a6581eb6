/** What the engine counts about itself, for /metrics; only ever rising. */
export interface Counters {
  commits: number;
  conflicts: number;
  unknowns: number;
  /** Attempts of ours that had landed although their answer said otherwise. */
  lateHits: number;
  refreshes: number;
  /** LISTs in place of many reads. */
  watchLists: number;
  /** Commands answered by landed commits. */
  commands: number;
  spilledSegments: number;
  loadedSegments: number;
  loadedPages: number;
  writtenPages: number;
  /** Missing or damaged, not those that the store failed to give for a while. */
  unreadablePages: number;
  /** Commits that put segments together or rewrote sparse ones. */
  compactions: number;
  collectedObjects: number;
  movedMessages: number;
  /** The same of segments. */
  unreadableBodies: number;
}

export function newCounters(): Counters {
  return {
    commits: 0,
    conflicts: 0,
    unknowns: 0,
    lateHits: 0,
    refreshes: 0,
    watchLists: 0,
    commands: 0,
    spilledSegments: 0,
    loadedSegments: 0,
    loadedPages: 0,
    writtenPages: 0,
    unreadablePages: 0,
    compactions: 0,
    collectedObjects: 0,
    movedMessages: 0,
    unreadableBodies: 0,
  };
}
