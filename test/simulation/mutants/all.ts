/** Every planted fault, by the part of the engine that it spoils. */
import { boundFaults } from './bound-faults.ts';
import { coldPageFaults } from './cold-page-faults.ts';
import { collectionFaults } from './collection-faults.ts';
import { commitFaults } from './commit-faults.ts';
import { compactionFaults } from './compaction-faults.ts';
import { fairFaults } from './fair-faults.ts';
import { groupFaults } from './group-faults.ts';
import { leaseFaults } from './lease-faults.ts';
import { messageFaults } from './message-faults.ts';
import { moveFaults } from './move-faults.ts';
import type { Mutant } from './mutant.ts';
import { nameFaults } from './name-faults.ts';
import { pageFaults } from './page-faults.ts';
import { taskFaults } from './task-faults.ts';
import { timeFaults } from './time-faults.ts';
import { watchFaults } from './watch-faults.ts';

export const allMutants: readonly Mutant[] = [
  ...commitFaults,
  ...messageFaults,
  ...leaseFaults,
  ...collectionFaults,
  ...moveFaults,
  ...timeFaults,
  ...nameFaults,
  ...watchFaults,
  ...boundFaults,
  ...pageFaults,
  ...coldPageFaults,
  ...compactionFaults,
  ...groupFaults,
  ...fairFaults,
  ...taskFaults,
];
