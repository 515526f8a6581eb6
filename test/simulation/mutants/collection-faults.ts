/** Faults of collection: DESIGN.md section 5. */
import type { Mutant } from './mutant.ts';
import { batch, collector, garbage, named, spill } from './spoiled-files.ts';

export const collectionFaults: readonly Mutant[] = [
  {
    name: 'no-base-version-check-in-the-sweep',
    breaks: 'only objects below collectedBelow are collected',
    dagger: true,
    focus: 'collection',
    patches: [
      { file: collector, text: 'parts.baseVersion < state.collectedBelow', by: 'parts.baseVersion >= 0' },
    ],
  },
  {
    name: 'sweep-raises-nothing-first',
    breaks: 'the collector first raises collectedBelow by a swap',
    dagger: true,
    focus: 'collection',
    patches: [
      { file: collector, text: "await loop.submit({ kind: 'tidy', collectBelow: version });", by: '' },
      {
        file: collector,
        text: 'this.#deleteUnnamed(unnamed, undefined)',
        by: 'this.#deleteUnnamed(unnamed.filter(({ parts }) => parts.baseVersion < version), undefined)',
      },
      { file: collector, text: 'parts.baseVersion < state.collectedBelow', by: 'parts.baseVersion >= 0' },
    ],
  },
  {
    name: 'no-second-get-in-the-sweep',
    breaks: 'what is deleted is named by no manifest read after collectedBelow was raised',
    focus: 'collection',
    patches: [
      {
        file: collector,
        text: '    const state = await this.#stateOf(name, incarnation);\n    if (!state) return 0;',
        by: '    const state = given ?? (await this.#stateOf(name, incarnation));\n    if (!state) return 0;',
      },
      {
        file: collector,
        text: 'triedAt: number | undefined): Promise<number> {',
        by: 'triedAt: number | undefined, given?: QueueState): Promise<number> {',
      },
      {
        file: collector,
        text: 'this.#deleteUnnamed(unnamed, undefined)',
        by: 'this.#deleteUnnamed(unnamed, undefined, { ...before, collectedBelow: version })',
      },
    ],
  },
  {
    name: 'sweep-reads-before-it-lists',
    breaks: 's/ is listed first, and an incarnation is removed only by a GET begun afterwards',
    dagger: true,
    focus: 'names',
    patches: [
      {
        file: collector,
        text: 'const groups = await this.#listByIncarnation();',
        by: `const known = new Map<string, QueueState | undefined>();
    for await (const { key } of this.#list(manifestsPrefix)) {
      const queue = queueNameOfManifestKey(key);
      if (queue === undefined) continue;
      const observed = await new ManifestRegister(this.#context.environment, queue).readQueue();
      known.set(queue, observed?.state);
    }
    const groups = await this.#listByIncarnation();`,
      },
      {
        file: collector,
        text: 'const state = await this.#stateOf(parts.name, parts.incarnation);',
        by: 'const seen = known.get(parts.name);\n        const state = seen?.incarnation === parts.incarnation ? seen : undefined;',
      },
    ],
  },
  {
    name: 'new-references-are-not-checked',
    breaks: 'apply refuses new references with a base below collectedBelow',
    focus: 'collection',
    patches: [
      {
        file: spill,
        text: 'prepared.filter((segment) => segment.baseVersion >= collectedBelow)',
        by: 'prepared.filter((segment) => segment.baseVersion >= collectedBelow * 0)',
      },
      // The product's own look at every step would stop it.
      {
        file: 'src/core/invariants.ts',
        text: 'if (reference.baseVersion < next.collectedBelow &&',
        by: 'if (reference.baseVersion < 0 &&',
      },
    ],
  },
  {
    name: 'segment-deleted-before-its-manifest',
    breaks: 'a segment is deleted after the manifest that drops it',
    patches: [
      {
        file: batch,
        text: "import { Unavailable } from './queue-api.ts';",
        by: "import { objectKey } from '../format/object-keys.ts';\nimport { Unavailable } from './queue-api.ts';",
      },
      {
        file: batch,
        text: '    return this.#swap({\n      number: attempt,',
        by: `    if (applied.next.kind === 'queue')
      for (const [id, { baseVersion, nonce }] of base.state.segments)
        if (!applied.next.state.segments.has(id))
          void environment.store
            .delete(objectKey({ name: view.name, incarnation: view.incarnation, kind: 'seg', baseVersion, nonce }))
            .catch(() => undefined);
    return this.#swap({
      number: attempt,`,
      },
    ],
  },
  {
    name: 'garbage-of-the-living',
    breaks: 'what the manifest names stays',
    patches: [
      {
        file: named,
        text: 'if (still?.has(id)) continue;',
        by: 'if (still?.get(id) === references.get(id)) continue;',
      },
      { file: named, text: 'if (!mayName(next, object)) yield object;', by: 'yield object;' },
      { file: garbage, text: 'if (mayName(state, object)) continue;', by: '' },
    ],
  },
  {
    name: 'sweep-finds-nothing',
    breaks: 'after the sweep nothing is left that nobody names',
    focus: 'collection',
    patches: [
      {
        file: collector,
        text: 'objects.filter(({ parts }) => !names(before, parts))',
        by: 'objects.filter(({ parts }) => names(before, parts))',
      },
    ],
  },
  {
    name: 'sweep-ends-at-an-orphan',
    breaks: 'a sweep goes on past what lies there for no queue',
    focus: 'names',
    patches: [
      {
        file: collector,
        text: 'return observed?.state.incarnation === incarnation ? observed.state : undefined;',
        by: `if (observed?.state.incarnation !== incarnation) throw new Unavailable(\`not this \${name} any more\`);
    return observed.state;`,
      },
    ],
  },
  {
    name: 'tombstone-deleted-unconditionally',
    breaks: 'nothing ever deletes m/<name> unconditionally',
    dagger: true,
    focus: 'graves',
    patches: [
      {
        file: collector,
        text: 'await environment.store.deleteIfMatch(key, etag);',
        by: 'await environment.store.delete(key);\n      void etag;',
      },
    ],
  },
];
