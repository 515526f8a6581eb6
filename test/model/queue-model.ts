/**
 * The reference model: what a standard queue does, written to be read, not to be fast. A list of messages, each in
 * one place; every command walks the list. Tests apply the same commands here and to src/core and compare.
 * Receives are in receive-walk.ts.
 *
 * It shares no code with src/core but the numbers of core/limits.ts. What it does not decide it is told: which segment
 * a body went to, since a segment's messages expire together, and which deliveries a client's handles stand for.
 */
import { INLINE_MESSAGE_BYTES_MAX, LEASE_MILLIS_MAX, TAIL_BYTES_MAX } from '../../src/core/limits.ts';
import type { ModelCommand, ModelOutcome, ModelWorld } from './model-command.ts';
import { ModelFairness } from './model-fairness.ts';
import { type Delivered, deliveredBefore, holds, type ModelMessage, noLease } from './model-message.ts';
import { ReceiveWalk } from './receive-walk.ts';

interface Settings {
  visibilitySeconds: number;
  delaySeconds: number;
  retentionSeconds: number;
  maximumBytes: number;
  redrive: { readonly queueName: string; readonly maxReceiveCount: number } | undefined;
}

/** Places in the order of one transition; commands of one place keep the order they came in. */
const turns: readonly (readonly ModelCommand['kind'][])[] = [
  ['set-attributes'],
  ['purge', 'tidy'],
  ['delete'],
  ['change-visibility', 'release'],
  ['send'],
  ['append-moved', 'resolve-moves', 'return-moves'],
  ['forget-links'],
  ['receive'],
  ['replace-segments'],
];

export class QueueModel {
  messages: ModelMessage[] = [];
  settings: Settings = {
    visibilitySeconds: 30,
    delaySeconds: 0,
    retentionSeconds: 345_600,
    maximumBytes: 1_048_576,
    redrive: undefined,
  };
  fairness = new ModelFairness();
  nextSequence = 1;
  nextLease = 1;
  purgedBelow = 0;
  collectedBelow = 0;
  /** Numbers given to each target, and taken from each source. */
  given = new Map<string, number>();
  taken = new Map<string, number>();
  /** Leases from before retention ended something in this transition: what they lost is lost once that is swapped in. */
  private heldBefore: ReadonlySet<number> = new Set();
  /** The youngest stamp among the messages that came into a segment together. */
  youngest = new Map<string, number>();

  clone(): QueueModel {
    const copy = new QueueModel();
    copy.messages = this.messages.map((message) => ({ ...message }));
    copy.settings = { ...this.settings };
    copy.fairness = this.fairness.clone();
    copy.nextSequence = this.nextSequence;
    copy.nextLease = this.nextLease;
    copy.purgedBelow = this.purgedBelow;
    copy.collectedBelow = this.collectedBelow;
    copy.given = new Map(this.given);
    copy.taken = new Map(this.taken);
    copy.youngest = new Map(this.youngest);
    return copy;
  }

  /** Takes effect at once; outcomes in the order of the commands. */
  apply(commands: readonly ModelCommand[], world: ModelWorld): ModelOutcome[] {
    const raised = commands.reduce(
      (most, command) => (command.kind === 'tidy' ? Math.max(most, command.collectBelow) : most),
      world.collectBelow,
    );
    const collected = Math.max(this.collectedBelow, Math.min(raised, world.version));
    const leases = this.messages.map(({ place }) => (place.kind === 'delivered' ? place.lease : noLease));
    const expired = this.expire(world);
    this.heldBefore = new Set(expired ? leases : []);
    const tidied = expired || collected > this.collectedBelow;
    this.collectedBelow = collected;
    const walk = new ReceiveWalk(this, world);
    const outcomes: ModelOutcome[] = [];
    const firstNew = this.nextSequence;
    this.fairness.pass(world.now);
    for (const kinds of turns) {
      if (kinds.includes('receive')) this.fairness.judge(this.messages.filter(isSent(firstNew)));
      commands.forEach((command, index) => {
        if (kinds.includes(command.kind)) outcomes[index] = this.one(command, world, walk, tidied);
      });
    }
    this.fairness.settle(this.messages);
    this.spill();
    return outcomes;
  }

  counts(now: number): { visible: number; inFlight: number; delayed: number } {
    const counts = { visible: 0, inFlight: 0, delayed: 0 };
    for (const { place } of this.messages) {
      if (place.kind === 'moving') continue;
      if (place.kind === 'delayed' && place.dueAt > now) counts.delayed++;
      else if (place.kind === 'delivered' && place.visibleAt > now) counts.inFlight++;
      else counts.visible++;
    }
    return counts;
  }

  /** Drops what has outlived the retention period; says whether anything was. */
  expire(world: ModelWorld): boolean {
    return this.drop((message) => {
      if (message.place.kind === 'moving') return false;
      const stamp = message.segment === undefined ? message.sentAt : this.youngest.get(message.segment)!;
      return this.isOld(stamp, world);
    });
  }

  isOld(stamp: number, world: ModelWorld): boolean {
    return stamp + this.settings.retentionSeconds * 1000 <= world.manifestTime;
  }

  /** A spilled message's segment, and its stamp there. */
  settle(sequence: number, segment: string, sentAt: number): void {
    const message = this.messages.find((candidate) => candidate.sequence === sequence)!;
    message.segment = segment;
    message.sentAt = sentAt;
    this.youngest.set(segment, Math.max(this.youngest.get(segment) ?? 0, sentAt));
  }

  /** The bodies of all those segments are in another now, and end together with the youngest. */
  private replaceSegments(command: ModelCommand & { kind: 'replace-segments' }): ModelOutcome {
    const { from, into, baseVersion } = command;
    const named = (segment: string) => this.messages.some((message) => message.segment === segment);
    if (baseVersion < this.collectedBelow || !from.every(named)) return { kind: 'superseded', effect: false };
    this.youngest.set(into, Math.max(...from.map((segment) => this.youngest.get(segment)!)));
    for (const message of this.messages)
      if (message.segment !== undefined && from.includes(message.segment)) message.segment = into;
    return { kind: 'done', effect: true };
  }

  moving(): number {
    return this.messages.filter(({ place }) => place.kind === 'moving').length;
  }

  lease(message: ModelMessage, fields: Omit<Delivered, 'kind' | 'lease'>): number {
    const lease = this.nextLease++;
    message.place = { kind: 'delivered', lease, ...fields };
    return lease;
  }

  drop(ends: (message: ModelMessage) => boolean): boolean {
    const before = this.messages.length;
    this.messages = this.messages.filter((message) => !ends(message));
    return this.messages.length < before;
  }

  private one(command: ModelCommand, world: ModelWorld, walk: ReceiveWalk, tidied: boolean): ModelOutcome {
    switch (command.kind) {
      case 'set-attributes':
        Object.assign(this.settings, command.changes);
        return { kind: 'done', effect: true };
      case 'purge':
        this.drop(({ place }) => place.kind !== 'moving');
        this.purgedBelow = this.nextSequence;
        return { kind: 'done', effect: true };
      case 'tidy':
        return { kind: 'done', effect: tidied };
      case 'delete':
        return this.delete(command.leases);
      case 'change-visibility':
        return this.changeVisibility(command.lease, command.seconds, world.now);
      case 'release':
        return this.release(command.lease, world.now);
      case 'send':
        return this.send(command, world);
      case 'append-moved':
        return this.appendMoved(command, world);
      case 'replace-segments':
        return this.replaceSegments(command);
      case 'resolve-moves': {
        const effect = this.drop(
          ({ place }) =>
            place.kind === 'moving' && place.target === command.target && place.number <= command.through,
        );
        return { kind: 'done', effect };
      }
      case 'return-moves':
        return this.returnMoves(command.target, world.now);
      case 'forget-links':
        return this.forgetLinks(command.sources, command.targets);
      case 'receive':
        return walk.receive(command.max, command.seconds);
    }
  }

  private delete(leases: readonly number[]): ModelOutcome {
    let effect = false;
    for (const lease of leases)
      if (this.drop(({ place }) => holds(place, lease)) || this.heldBefore.has(lease)) effect = true;
    return { kind: 'done', effect };
  }

  private changeVisibility(lease: number, seconds: number, now: number): ModelOutcome {
    const message = this.messages.find(({ place }) => holds(place, lease));
    if (message?.place.kind !== 'delivered')
      return { kind: 'visibility', result: 'not-available', effect: this.heldBefore.has(lease) };
    const visibleAt = now + seconds * 1000;
    if (visibleAt - message.place.leasedAt > LEASE_MILLIS_MAX)
      return { kind: 'visibility', result: 'beyond-limit', effect: false };
    message.place = { ...message.place, visibleAt };
    return { kind: 'visibility', result: 'done', effect: true };
  }

  private release(lease: number, now: number): ModelOutcome {
    const message = this.messages.find(({ place }) => holds(place, lease));
    if (message?.place.kind !== 'delivered') return { kind: 'done', effect: false };
    const { count, elsewhere, leasedAt, firstAt } = message.place;
    if (count === 1) {
      message.place = { kind: 'ready' };
      message.quiet = this.fairness.busyBelow > 0;
    } else
      message.place = {
        kind: 'delivered',
        lease: noLease,
        visibleAt: now,
        leasedAt,
        count: count - 1,
        elsewhere,
        firstAt,
      };
    return { kind: 'done', effect: true };
  }

  private send(command: ModelCommand & { kind: 'send' }, world: ModelWorld): ModelOutcome {
    const results = command.entries.map(({ id, body, group, overheadBytes, delaySeconds }) => {
      if (body.length > this.settings.maximumBytes) return `too-large ${this.settings.maximumBytes}`;
      const delay = (delaySeconds ?? this.settings.delaySeconds) * 1000;
      this.messages.push({
        sequence: this.nextSequence++,
        id,
        body,
        bytes: body.length + overheadBytes,
        deadLetterSource: undefined,
        group,
        quiet: false,
        sentAt: world.stamp,
        place: delay > 0 ? { kind: 'delayed', dueAt: world.now + delay } : { kind: 'ready' },
        spilled: false,
        segment: undefined,
      });
      return 'sent';
    });
    return { kind: 'sent', results, effect: results.includes('sent') };
  }

  private appendMoved(command: ModelCommand & { kind: 'append-moved' }, world: ModelWorld): ModelOutcome {
    const { source } = command;
    const through = () => this.taken.get(source) ?? 0;
    const intents = world.sourceIntents(source);
    if (intents === 'gone') {
      const before = through();
      return { kind: 'appended', through: before, effect: this.taken.delete(source) };
    }
    let effect = false;
    for (const { number, id, body, bytes, sentAt, count, firstAt } of command.messages) {
      if (number !== through() + 1 || !intents.has(number)) continue;
      const message: ModelMessage = {
        sequence: this.nextSequence++,
        id,
        body,
        bytes,
        deadLetterSource: command.sourceArn,
        group: undefined,
        quiet: false,
        sentAt,
        place: { kind: 'ready' },
        spilled: false,
        segment: undefined,
      };
      message.place = deliveredBefore({ count, elsewhere: count, firstAt }, world.now);
      this.messages.push(message);
      this.taken.set(source, number);
      effect = true;
    }
    return { kind: 'appended', through: through(), effect };
  }

  private returnMoves(target: string, now: number): ModelOutcome {
    let effect = this.given.delete(target);
    const purged = ({ sequence, place }: ModelMessage) =>
      place.kind === 'moving' && place.target === target && sequence < this.purgedBelow;
    if (this.drop(purged)) effect = true;
    for (const message of this.messages) {
      if (message.place.kind !== 'moving' || message.place.target !== target) continue;
      message.place = deliveredBefore(message.place, now);
      effect = true;
    }
    return { kind: 'done', effect };
  }

  private forgetLinks(sources: readonly string[], targets: readonly string[]): ModelOutcome {
    const before = this.taken.size + this.given.size;
    for (const source of sources) this.taken.delete(source);
    for (const target of targets)
      if (!this.messages.some(({ place }) => place.kind === 'moving' && place.target === target))
        this.given.delete(target);
    return { kind: 'done', effect: this.taken.size + this.given.size < before };
  }

  /** Large bodies leave the tail; when the rest is too much, all do. */
  private spill(): void {
    const inline = this.messages.filter((message) => !message.spilled);
    const small = inline.filter(({ bytes }) => bytes <= INLINE_MESSAGE_BYTES_MAX);
    const overflows = small.reduce((sum, { bytes }) => sum + bytes, 0) > TAIL_BYTES_MAX;
    for (const message of inline)
      if (overflows || message.bytes > INLINE_MESSAGE_BYTES_MAX) message.spilled = true;
  }
}

/** By this very transition: what was moved here has been received before. */
function isSent(firstNew: number): (message: ModelMessage) => boolean {
  return ({ sequence, place }) => sequence >= firstNew && place.kind !== 'delivered';
}
