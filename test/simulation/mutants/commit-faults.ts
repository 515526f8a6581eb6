/** Faults of the commit protocol: DESIGN.md section 3. */
import type { Mutant } from './mutant.ts';
import { attempts, batch, loop, register, transition, view } from './spoiled-files.ts';

export const commitFaults: readonly Mutant[] = [
  {
    name: 'answer-before-swap',
    breaks: 'a send is answered after it is durable',
    patches: [
      {
        file: batch,
        text: 'const result = await view.swap(attempt.next);',
        by: `const swapping = view.swap(attempt.next);
    void swapping.catch(() => undefined);
    if (this.#failures === 0) return this.#answered(attempt.results, undefined);
    const result = await swapping;`,
      },
    ],
  },
  {
    name: 'unknown-is-done',
    breaks: 'section 3 step 4: unknown is resolved by a GET',
    patches: [
      {
        file: register,
        text: "if (outcome.kind === 'unknown') return outcome;",
        by: `if (outcome.kind === 'unknown') return { kind: 'done', etag: '"unknown"' as ETag, observedFrom };`,
      },
    ],
  },
  {
    name: 'lost-is-done',
    breaks: 'section 3 step 4: 412 is a conflict',
    patches: [
      {
        file: register,
        text: "return { kind: 'lost' };",
        by: `return { kind: 'done', etag: '"lost"' as ETag, observedFrom };`,
      },
    ],
  },
  {
    name: 'no-look-for-landed-attempts',
    breaks: 'section 3 step 4: first look for every unresolved attempt',
    dagger: true,
    patches: [
      {
        file: batch,
        text: 'const verdict = judgeAttempts(this.#unresolved, fresh, view.writer, view.incarnation);',
        by: `const verdict = { kind: 'none', open: [] } as ReturnType<typeof judgeAttempts>;
    void fresh;`,
      },
    ],
  },
  {
    name: 'lost-swap-leaves-no-attempt',
    breaks: 'section 3 step 4: a 412 does not prove failure',
    dagger: true,
    focus: 'swaps',
    patches: [
      {
        file: batch,
        text: 'this.#unresolved = [...this.#unresolved, attempt];',
        by: "if (result.kind !== 'lost') this.#unresolved = [...this.#unresolved, attempt];",
      },
    ],
  },
  {
    name: 'attempt-closed-too-early',
    breaks: 'an attempt is resolved once a GET shows a version as high as it aims at',
    focus: 'swaps',
    patches: [
      {
        file: attempts,
        text: 'const open = attempts.filter((attempt) => attempt.version > state.version);',
        by: 'const open: readonly Attempt[] = [];',
      },
    ],
  },
  {
    name: 'lost-track-is-applied-again',
    breaks: 'a writer whose entry was pruned answers that batch 503, never applies it again',
    dagger: true,
    focus: 'swaps',
    patches: [
      {
        file: attempts,
        text: "return pruned ? { kind: 'lost-track' } : { kind: 'none', open };",
        by: "void pruned;\n  return { kind: 'none', open };",
      },
    ],
  },
  {
    name: 'pruning-raises-no-floor',
    breaks: 'the oldest writer is pruned, which sets writersFloor',
    dagger: true,
    focus: 'swaps',
    patches: [
      {
        file: transition,
        text: 'writersFloor = Math.max(writersFloor, oldest.version);',
        by: 'writersFloor = Math.max(writersFloor, 0);',
      },
    ],
  },
  {
    name: 'unresolved-goes-to-the-next-incarnation',
    breaks: 'a loop ends with its incarnation; what was unresolved gets 503',
    focus: 'names',
    patches: [
      {
        file: attempts,
        text: "    return judgeByTombstone(attempts, fresh.tombstone, writer);\n  return { kind: 'lost-track' };",
        by: "    return judgeByTombstone(attempts, fresh.tombstone, writer);\n  return { kind: 'none', open: [] };",
      },
    ],
  },
  {
    name: 'writer-entry-not-written',
    breaks: 'each swap enters its writer and attempt',
    patches: [
      {
        file: transition,
        text: '{ roundMillis: 0, ...writer, version: state.version + 1 };',
        by: '{ roundMillis: 0, ...writer, attempt: 0, version: state.version + 1 };',
      },
    ],
  },
  {
    name: 'writer-id-is-reused',
    breaks: 'each loop draws a writer id of its own, never used again',
    dagger: true,
    patches: [
      {
        file: view,
        text: 'this.writer = writerIdFrom(context.environment.random.bytes(writerIdBytes));',
        by: 'this.writer = writerIdFrom(new Uint8Array(writerIdBytes));',
      },
    ],
  },
  {
    name: 'no-effect-from-a-stale-state',
    breaks: 'rule 5: superseded only from a state observed after the command came',
    dagger: true,
    patches: [
      {
        file: batch,
        text: 'if (observedFrom >= arrivedAt) return true;',
        by: 'if (observedFrom >= 0) return true;',
      },
      // A handle of a later lease refreshes first, which hides it in all but the second of two nodes that wait.
      {
        file: batch,
        text: 'this.#mustRead = this.#hasHandleFromTheFuture();',
        by: 'void this.#hasHandleFromTheFuture;',
      },
    ],
  },
  {
    name: 'read-is-as-fresh-as-its-end',
    breaks: 'rule 5: what a GET shows is as fresh as its beginning',
    dagger: true,
    focus: 'reads',
    patches: [
      {
        file: register,
        text: `    const observedFrom = this.#clock.monotonicMillis();
    const outcome = await this.#store.get(this.#key, knownTag === undefined ? {} : { ifNoneMatch: knownTag });`,
        by: `    const outcome = await this.#store.get(this.#key, knownTag === undefined ? {} : { ifNoneMatch: knownTag });
    const observedFrom = this.#clock.monotonicMillis();`,
      },
      // As above.
      {
        file: batch,
        text: 'this.#mustRead = this.#hasHandleFromTheFuture();',
        by: 'void this.#hasHandleFromTheFuture;',
      },
    ],
  },
  {
    name: 'old-attempt-is-swapped',
    breaks: 'an attempt older than 5 s since apply is applied anew',
    patches: [
      {
        file: batch,
        text: 'if (environment.clock.monotonicMillis() - appliedAt > settings.timing.attemptAgeMaxMillis)',
        by: 'await environment.clock.sleep(0);\n    if (appliedAt < settings.timing.attemptAgeMaxMillis * 0)',
      },
    ],
  },
  {
    name: 'wake-no-waiter',
    breaks: 'a long poll gets what comes while it waits',
    patches: [
      { file: loop, text: 'if (wanted > 0 && vainIn <= 0) {', by: 'if (wanted > 1e9 && vainIn <= 0) {' },
    ],
  },
  {
    name: 'no-poll-for-other-nodes',
    breaks: 'a waiting receive polls',
    patches: [
      {
        file: loop,
        text: 'if (dueAt > now) return dueAt;',
        by: 'if (dueAt > now || now > 0) return Math.max(dueAt, now + 60_000);',
      },
    ],
  },
  {
    name: 'poll-of-a-past-incarnation-is-told-missing',
    breaks: 'a queue is called missing only when it is (kept seed 9)',
    focus: 'names',
    patches: [
      {
        file: loop,
        text: "waiter.answer({ kind: waiter.arrivedAt > observedFrom ? 'loop-ended' : 'queue-missing' });",
        by: "waiter.answer({ kind: waiter.arrivedAt > observedFrom * 1e9 ? 'loop-ended' : 'queue-missing' });",
      },
    ],
  },
  {
    name: 'store-failure-reaches-the-client',
    breaks: 'a store that does not answer is told as Unavailable, which may be tried again',
    patches: [
      {
        file: 'src/engine/queue-calls.ts',
        text: 'if (error instanceof StoreError) throw new Unavailable(',
        by: 'if (error instanceof StoreError) void new Unavailable(',
      },
    ],
  },
  {
    name: 'attributes-lost-in-a-conflict',
    breaks: 'attributes change by the same swap that messages do',
    dagger: true,
    patches: [
      {
        file: batch,
        text: 'commands: this.#commands.map(({ command }) => command),',
        by: `commands: this.#commands.map(({ command }) =>
        command.kind === 'set-attributes' && this.#retried ? { ...command, changes: new Map() } : command,
      ),`,
      },
      { file: batch, text: '  #failures = 0;', by: '  #failures = 0;\n  #retried = false;' },
      {
        file: batch,
        text: 'counters.conflicts++;',
        by: 'counters.conflicts++;\n      this.#retried = true;',
      },
    ],
  },
];
