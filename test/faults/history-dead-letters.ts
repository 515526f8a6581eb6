/**
 * What a queue with a RedrivePolicy may show beside the rules of history.ts, which already say that a dead letter is
 * neither lost nor doubled: it has one id, one run of receive counts and one delete over both queues. Pure.
 */
import { deadLetterRule, type History, type Violation } from './history.ts';

export interface RedrivePair {
  readonly source: string;
  readonly target: string;
  readonly receiveCountMax: number;
}

/** Up to the maximum it is received from the source, above it from the target. */
export function deadLetterViolations(history: History, pair: RedrivePair): readonly Violation[] {
  const { source, target, receiveCountMax } = pair;
  return history.deliveries
    .filter(({ queue, receiveCount }) => queue !== (receiveCount > receiveCountMax ? target : source))
    .map(({ body, queue, receiveCount }) => ({
      rule: deadLetterRule,
      body,
      detail: `delivery ${receiveCount} from ${queue}`,
    }));
}
