/** Every property that a run is held to, in the order in which they look at an event. */
import { type QueueLimits, queueLimits } from '../../../src/core/limits.ts';
import type { Ledger } from '../ledger.ts';
import { Acceptances } from './acceptances.ts';
import { answersChecker } from './answers.ts';
import { attributesChecker } from './attributes.ts';
import type { DiffChecker } from './check.ts';
import { clocksChecker } from './clocks.ts';
import { compactionChecker } from './compaction.ts';
import { countsChecker } from './counts.ts';
import { deadLettersChecker } from './dead-letters.ts';
import { deduplicationChecker } from './deduplication.ts';
import { deliveriesChecker } from './deliveries.ts';
import { duplicatesChecker } from './duplicates.ts';
import { endingsChecker } from './endings.ts';
import { existenceChecker } from './existence.ts';
import { expiredHandlesChecker } from './expired-handles.ts';
import { fairTurnsChecker } from './fair-turns.ts';
import { fencingChecker } from './fencing.ts';
import { groupFlowChecker } from './group-flow.ts';
import { groupHandsChecker } from './group-hands.ts';
import { groupOrderChecker } from './group-order.ts';
import { manifestTimeChecker } from './manifest-time.ts';
import { moveTasksChecker } from './move-tasks.ts';
import { purgesChecker } from './purges.ts';
import { registerChecker } from './register.ts';
import { segmentsChecker } from './segments.ts';
import { sendsChecker } from './sends.ts';
import { sizesChecker } from './sizes.ts';
import { starvationChecker } from './starvation.ts';

/** What happened to the world that loosens a property. */
export interface Circumstances {
  liesTold(): number;
  aborts(): number;
  present(key: string): boolean;
  readonly limits: QueueLimits;
  /** No fault has touched this node's way to the store since, and none of before can last until then. */
  undisturbedSince(node: number): number;
  /** How long a node with waiting sends may land nothing. */
  readonly droughtMillisMax: number;
  /** How wrong a node's estimate of the store's time may be; undefined when nobody can say. */
  clockErrorMillis(): number | undefined;
  /** How far an enqueue stamp may lie before the truth; undefined when nobody can say. */
  stampErrorMillis(): number | undefined;
  /** A machine slept for a time that its clocks can't tell. */
  sleepHidden(): boolean;
}

export function allCheckers(ledger: Ledger, world: Circumstances): readonly DiffChecker[] {
  const accepted = new Acceptances();
  return [
    answersChecker(),
    registerChecker(),
    sizesChecker(world.limits),
    sendsChecker(ledger),
    endingsChecker(ledger, world),
    deliveriesChecker(world.aborts),
    fencingChecker(ledger),
    groupOrderChecker(),
    groupHandsChecker(),
    groupFlowChecker(world),
    fairTurnsChecker(world),
    deduplicationChecker(accepted, world),
    duplicatesChecker(accepted, ledger),
    expiredHandlesChecker(ledger, world.clockErrorMillis),
    deadLettersChecker(ledger, world.clockErrorMillis),
    moveTasksChecker(ledger, world),
    purgesChecker(ledger),
    manifestTimeChecker(world.liesTold),
    segmentsChecker(ledger, world.present),
    compactionChecker(ledger),
    existenceChecker(),
    countsChecker(ledger, world.liesTold, world.clockErrorMillis),
    clocksChecker(world),
    attributesChecker(),
    // Nodes leave each other time by the writers that a manifest remembers: two of five are too few for that.
    ...(world.limits.writersMax < queueLimits.writersMax ? [] : [starvationChecker(world)]),
  ];
}
