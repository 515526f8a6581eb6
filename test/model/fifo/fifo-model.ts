/**
 * The reference model of a FIFO queue: what SQS promises, written to be read. A list of messages in order of their sequence
 * numbers, each in one place; every command walks the list. It shares no code with src/core but two numbers of
 * core/limits.ts, knows nothing of pages, segments and conflicts, and leaves retention to tests with exact values.
 */
import { DEDUPLICATION_MILLIS, LEASE_MILLIS_MAX } from '../../../src/core/limits.ts';
import type { ModelCommand, ModelEntry, ModelOutcome, ModelWorld, SentResult } from './fifo-command.ts';

export interface Held {
  readonly kind: 'held';
  readonly visibleAt: number;
  readonly leasedAt: number;
  readonly count: number;
  /** Of those, in queues that it came from. */
  readonly elsewhere: number;
  /** Undefined: of a delivery that no consumer here has seen. */
  readonly lease: number | undefined;
  /** What the next message sent would have been when it was received here; undefined: it came from elsewhere. */
  readonly turn: number | undefined;
  /** Of a receive that may be repeated. `of`: how many messages it got; `asWas`: nobody gave it another timeout since. */
  readonly attempt?: {
    readonly id: string;
    readonly round: number;
    readonly of: number;
    readonly asWas: boolean;
    readonly repeated: boolean;
  };
}

export interface ModelMessage {
  readonly sequence: number;
  readonly id: string;
  readonly group: string;
  place:
    | { readonly kind: 'ready' }
    | { readonly kind: 'delayed'; readonly dueAt: number }
    | Held
    | {
        readonly kind: 'moving';
        readonly number: number;
        readonly count: number;
        readonly elsewhere: number;
      };
}

interface Settings {
  visibilitySeconds: number;
  delaySeconds: number;
  byContent: boolean;
  scope: 'queue' | 'messageGroup';
  maxReceiveCount: number | undefined;
}

/** A receive may be repeated for five minutes. */
const ATTEMPT_MILLIS = 300_000;

/** Places in the order of one transition. */
const turns: readonly (readonly ModelCommand['kind'][])[] = [
  ['set'],
  ['purge'],
  ['delete'],
  ['change-visibility', 'release'],
  ['send'],
  ['append', 'resolve', 'return'],
  ['receive'],
  ['compact'],
];

export class FifoModel {
  messages: ModelMessage[] = [];
  settings: Settings = {
    visibilitySeconds: 30,
    delaySeconds: 0,
    byContent: false,
    scope: 'queue',
    maxReceiveCount: undefined,
  };
  /** Every id that was ever accepted. */
  accepted: { readonly key: string; readonly id: string; readonly sequence: number; readonly at: number }[] =
    [];
  nextSequence = 1;
  nextLease = 1;
  round = 0;
  purgedBelow = 0;
  given = 0;
  taken = 0;

  clone(): FifoModel {
    const copy = new FifoModel();
    Object.assign(copy, this, { settings: { ...this.settings }, accepted: [...this.accepted] });
    copy.messages = this.messages.map((message) => ({ ...message }));
    return copy;
  }

  apply(commands: readonly ModelCommand[], world: ModelWorld): ModelOutcome[] {
    const outcomes: ModelOutcome[] = [];
    this.round++;
    /** Groups of which a receive of this transition has something. */
    const inOtherHands = new Set<string>();
    for (const kinds of turns)
      commands.forEach((command, index) => {
        if (kinds.includes(command.kind)) outcomes[index] = this.one(command, world, inOtherHands);
      });
    return outcomes;
  }

  counts(now: number) {
    const counts = { visible: 0, inFlight: 0, delayed: 0 };
    for (const { place } of this.messages) {
      if (place.kind === 'moving') continue;
      if (place.kind === 'delayed' && place.dueAt > now) counts.delayed++;
      else if (place.kind === 'held' && place.visibleAt > now) counts.inFlight++;
      else counts.visible++;
    }
    return counts;
  }

  private one(command: ModelCommand, world: ModelWorld, inOtherHands: Set<string>): ModelOutcome {
    switch (command.kind) {
      case 'set': {
        const byMillis =
          ((command.changes.delaySeconds ?? this.settings.delaySeconds) - this.settings.delaySeconds) * 1000;
        Object.assign(this.settings, command.changes);
        for (const message of this.messages)
          if (message.place.kind === 'delayed')
            message.place = { kind: 'delayed', dueAt: message.place.dueAt + byMillis };
        return { kind: 'done', effect: true };
      }
      case 'compact':
        return { kind: 'compacted' };
      case 'purge':
        this.messages = this.messages.filter(({ place }) => place.kind === 'moving');
        this.purgedBelow = this.nextSequence;
        this.accepted = [];
        return { kind: 'done', effect: true };
      case 'delete':
        return this.delete(command.leases, world.now);
      case 'change-visibility':
        return this.changeVisibility(command.lease, command.seconds, world.now);
      case 'release':
        return this.release(command.lease, world.now);
      case 'send':
        return this.send(command.entries, world);
      case 'append':
        return this.append(command, world);
      case 'resolve': {
        const before = this.messages.length;
        this.messages = this.messages.filter(
          ({ place }) => place.kind !== 'moving' || place.number > command.through,
        );
        return { kind: 'done', effect: this.messages.length < before };
      }
      case 'return':
        return this.takeBack(world.now);
      case 'receive':
        return this.repeat(command, world) ?? this.receive(command, world, inOtherHands);
    }
  }

  /** Whose lease this was, and what that is worth now. */
  private heldBy(
    lease: Lease,
    now: number,
  ): { message?: ModelMessage; standing: 'good' | 'expired' | 'gone' } {
    const message = this.messages.find(({ sequence }) => sequence === lease.sequence);
    // What was given back to the queue was given back by its consumer: nobody has a handle of it.
    if (!message || message.place.kind === 'ready') return { standing: 'gone' };
    const { place } = message;
    if (place.kind !== 'held' || place.lease !== lease.lease) return { standing: 'expired' };
    return { message, standing: place.visibleAt > now ? 'good' : 'expired' };
  }

  private delete(leases: readonly Lease[], now: number): ModelOutcome {
    const expired: number[] = [];
    let effect = false;
    leases.forEach((lease, index) => {
      const { message, standing } = this.heldBy(lease, now);
      if (standing === 'expired') expired.push(index);
      if (standing !== 'good') return;
      this.messages = this.messages.filter((other) => other !== message);
      effect = true;
    });
    return expired.length > 0 ? { kind: 'done', expired, effect } : { kind: 'done', effect };
  }

  private changeVisibility(lease: Lease, seconds: number, now: number): ModelOutcome {
    const { message, standing } = this.heldBy(lease, now);
    const result = (entry: string, effect = false): ModelOutcome => ({
      kind: 'visibility',
      entries: [entry],
      effect,
    });
    if (standing === 'gone') return result('not-available');
    if (standing === 'expired') return result('expired');
    const place = message!.place as Held;
    const visibleAt = now + seconds * 1000;
    if (visibleAt - place.leasedAt > LEASE_MILLIS_MAX) return result('beyond-limit');
    const attempt = place.attempt && { attempt: { ...place.attempt, asWas: false } };
    message!.place = { ...place, visibleAt, ...attempt };
    return result('done', true);
  }

  /** For a client that went away: as if it had not been received, also when its time is over. */
  private release(lease: Lease, now: number): ModelOutcome {
    const message = this.messages.find(({ sequence }) => sequence === lease.sequence);
    if (message?.place.kind !== 'held' || message.place.lease !== lease.lease)
      return { kind: 'done', effect: false };
    // Two answers have it: the other client may be there.
    if (message.place.attempt?.repeated) return { kind: 'done', effect: false };
    const { attempt: _, ...held } = message.place;
    const { count } = held;
    message.place =
      count === 1 ? { kind: 'ready' } : { ...held, count: count - 1, visibleAt: now, lease: undefined };
    return { kind: 'done', effect: true };
  }

  private send(entries: readonly ModelEntry[], world: ModelWorld): ModelOutcome {
    const ids = entries.map(
      ({ explicitId, body }) => explicitId ?? (this.settings.byContent ? `hash of ${body}` : undefined),
    );
    if (ids.includes(undefined))
      return { kind: 'sent', entries: ids.map(() => ({ kind: 'no-deduplication-id' })), effect: false };
    const results = entries.map(({ id, group }, i): SentResult => {
      const key = this.settings.scope === 'queue' ? ids[i]! : `${group}/${ids[i]}`;
      const scoped = `${this.settings.scope} ${key}`;
      const first = this.accepted.find(
        (earlier) => earlier.key === scoped && earlier.at + DEDUPLICATION_MILLIS > world.manifestTime,
      );
      if (first) return { kind: 'duplicate', messageId: first.id, sequence: first.sequence };
      const sequence = this.nextSequence++;
      this.accepted.push({ key: scoped, id, sequence, at: world.stamp });
      const { delaySeconds } = this.settings;
      const place =
        delaySeconds > 0
          ? ({ kind: 'delayed', dueAt: world.now + delaySeconds * 1000 } as const)
          : ({ kind: 'ready' } as const);
      this.messages.push({ sequence, id, group, place });
      return { kind: 'sent', sequence };
    });
    return { kind: 'sent', entries: results, effect: results.some(({ kind }) => kind === 'sent') };
  }

  private append({ messages }: ModelCommand & { kind: 'append' }, { now }: ModelWorld): ModelOutcome {
    let effect = false;
    for (const { number, id, group, count } of messages) {
      if (number !== this.taken + 1) continue;
      const place = {
        kind: 'held',
        visibleAt: now,
        leasedAt: now,
        count,
        elsewhere: count,
        lease: undefined,
        turn: undefined,
      } as const;
      this.messages.push({ sequence: this.nextSequence++, id, group, place });
      this.taken = number;
      effect = true;
    }
    return { kind: 'appended', through: this.taken, effect };
  }

  private takeBack(now: number): ModelOutcome {
    let effect = this.given > 0;
    this.given = 0;
    const purged = ({ place, sequence }: ModelMessage) =>
      place.kind === 'moving' && sequence < this.purgedBelow;
    if (this.messages.some(({ place }) => place.kind === 'moving')) effect = true;
    this.messages = this.messages.filter((message) => !purged(message));
    for (const message of this.messages)
      if (message.place.kind === 'moving') {
        const { count, elsewhere } = message.place;
        message.place = {
          kind: 'held',
          visibleAt: now,
          leasedAt: now,
          count,
          elsewhere,
          lease: undefined,
          turn: undefined,
        };
      }
    return { kind: 'done', effect };
  }

  /** The same messages under the same leases, if all that the latest receive of this attempt got are as they were. */
  private repeat(
    { max, seconds, attempt }: ModelCommand & { kind: 'receive' },
    { now }: ModelWorld,
  ): ModelOutcome | undefined {
    if ((seconds ?? this.settings.visibilitySeconds) === 0) return undefined;
    const all = this.messages.flatMap((message) => {
      const { place } = message;
      if (attempt === undefined || place.kind !== 'held' || place.attempt?.id !== attempt) return [];
      const fits = place.visibleAt > now && place.leasedAt + ATTEMPT_MILLIS > now && place.attempt.asWas;
      return fits ? [{ message, place, attempt: place.attempt }] : [];
    });
    const round = Math.max(0, ...all.map(({ attempt: { round: one } }) => one));
    const latest = all.filter(({ attempt: { round: one } }) => one === round);
    if (latest.length === 0 || latest.length !== latest[0]!.attempt.of || latest.length > max)
      return undefined;
    const messages = latest.map(({ message, place, attempt: before }) => {
      const wanted = now + (seconds ?? this.settings.visibilitySeconds) * 1000;
      const visibleAt = Math.min(wanted, place.leasedAt + LEASE_MILLIS_MAX);
      message.place = { ...place, visibleAt, attempt: { ...before, repeated: true } };
      const { sequence, id, group } = message;
      return { sequence, id, group, count: place.count, lease: place.lease! };
    });
    return { kind: 'received', messages, effect: true };
  }

  /** From the head, group by group: up to the first message that is not to be had. */
  private receive(
    { max, seconds, attempt }: ModelCommand & { kind: 'receive' },
    { now, targetIsThere, inFlightMax, intentsMax }: ModelWorld,
    inOtherHands: Set<string>,
  ): ModelOutcome {
    const closed = new Set(inOtherHands);
    const received: (ModelOutcome & { kind: 'received' })['messages'] = [];
    let effect = false;
    for (const message of byGroup(this.dueBefore(now))) {
      if (received.length === max || this.counts(now).inFlight >= inFlightMax) break;
      const { place, group, sequence, id } = message;
      if (closed.has(group)) continue;
      const visible = place.kind !== 'moving' && (place.kind !== 'held' || place.visibleAt <= now);
      const { maxReceiveCount } = this.settings;
      const dies =
        place.kind === 'held' &&
        maxReceiveCount !== undefined &&
        place.count - place.elsewhere >= maxReceiveCount &&
        targetIsThere;
      if (!visible || dies) {
        closed.add(group);
        if (!visible || this.moving() >= intentsMax) continue;
        const { count, elsewhere } = place as Held;
        message.place = { kind: 'moving', number: ++this.given, count, elsewhere };
        effect = true;
        continue;
      }
      const count = (place.kind === 'held' ? place.count : 0) + 1;
      const elsewhere = place.kind === 'held' ? place.elsewhere : 0;
      const lease = this.nextLease++;
      const visibleAt = now + (seconds ?? this.settings.visibilitySeconds) * 1000;
      message.place = {
        kind: 'held',
        visibleAt,
        leasedAt: now,
        count,
        elsewhere,
        lease,
        turn: this.nextSequence,
      };
      received.push({ sequence, id, group, count, lease });
    }
    for (const { group } of received) inOtherHands.add(group);
    const holds = (seconds ?? this.settings.visibilitySeconds) > 0;
    if (attempt !== undefined && holds && received.length > 0) this.markAttempt(attempt, received);
    return { kind: 'received', messages: received, effect: effect || received.length > 0 };
  }

  /** Of two receives of one transition with the same id the later one counts. */
  private markAttempt(id: string, received: readonly { readonly sequence: number }[]): void {
    const { round } = this;
    for (const message of this.messages) {
      const { place } = message;
      if (place.kind !== 'held') continue;
      if (received.some(({ sequence }) => sequence === message.sequence)) {
        const attempt = { id, round, of: received.length, asWas: true, repeated: false };
        message.place = { ...place, attempt };
      } else if (place.attempt?.id === id && place.attempt.round === round)
        message.place = { ...place, attempt: { ...place.attempt, asWas: false } };
    }
  }

  /** A message that is not due holds up whatever was sent later. */
  private dueBefore(now: number): readonly ModelMessage[] {
    const end = this.messages.findIndex(({ place }) => place.kind === 'delayed' && place.dueAt > now);
    return end < 0 ? this.messages : this.messages.slice(0, end);
  }

  private moving(): number {
    return this.messages.filter(({ place }) => place.kind === 'moving').length;
  }
}

/** All of the group whose turn is first, then all of the next. */
function byGroup(messages: readonly ModelMessage[]): readonly ModelMessage[] {
  const groups = new Map<string, ModelMessage[]>();
  for (const message of messages) {
    const { group } = message;
    groups.set(group, [...(groups.get(group) ?? []), message]);
  }
  const turn = ({ place, sequence }: ModelMessage): number =>
    (place.kind === 'held' ? place.turn : undefined) ?? sequence;
  return [...groups.values()].sort(([a], [b]) => turn(a!) - turn(b!) || a!.sequence - b!.sequence).flat();
}

export interface Lease {
  readonly sequence: number;
  readonly lease: number;
}
