/** The load that every cost figure stands for; the same on the simulated store and on a real one (test/faults/cost-real.ts). */
import type { WorkloadOptions } from './workload.ts';

export const queue = 'jobs';
/** Before anything is counted. */
export const warmMillis = 5_000;
/** A worker's on one message, on average; exponential. */
export const workMillis = 50;
export const waitSeconds = 20;
export const maxMessages = 10;
/** Workers don't begin in step. */
export const workersBeginWithinMillis = 200;

export const usualBodyBytes = 256;

/** The number is told by what stands before the filling. */
export function bodyOf(number: string, bytes = usualBodyBytes): string {
  return number.padEnd(bytes, 'x');
}

export function numberOf(text: string): string {
  return text.slice(0, text.indexOf('x'));
}

type Load = Pick<WorkloadOptions, 'nodes' | 'ratePerSecond' | 'tuning'>;

/** Half as many again as the rate needs: workers are not what is measured. */
export function workersOfEachNode({ nodes, ratePerSecond, tuning }: Load): number {
  const cycleSeconds = 0.35 + (2.5 * tuning.lingerMillis) / 1000 + 0.15 * nodes;
  const workers = Math.floor((ratePerSecond * cycleSeconds * 1.5) / 10) + 1;
  return Math.max(2, Math.ceil(workers / nodes));
}
