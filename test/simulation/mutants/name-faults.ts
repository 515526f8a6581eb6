/** Faults in how queues come and go: DESIGN.md section 2. */
import type { Mutant } from './mutant.ts';
import { attempts, create } from './spoiled-files.ts';

export const nameFaults: readonly Mutant[] = [
  {
    name: 'tombstone-taken-for-the-queue',
    breaks: 'a create swaps a tombstone for a fresh incarnation',
    dagger: true,
    focus: 'names',
    patches: [
      {
        file: create,
        text: "    const expected = found.kind === 'present' ? found.etag : undefined;",
        by: "    if (tombstone) return { outcome: { kind: 'exists' }, observed: undefined };\n    const expected = found.kind === 'present' ? found.etag : undefined;",
      },
    ],
  },
  {
    name: 'tombstone-is-in-the-way',
    breaks: 'a deleted name can be created again',
    focus: 'names',
    patches: [
      {
        file: create,
        text: "    const expected = found.kind === 'present' ? found.etag : undefined;",
        by: "    const expected = found.kind === 'present' && !tombstone ? found.etag : undefined;",
      },
    ],
  },
  {
    name: 'retry-keeps-the-incarnation',
    breaks: 'every retry of a create draws a new incarnation',
    dagger: true,
    focus: 'names',
    patches: [
      {
        file: create,
        text: '  const state = freshState(context, attributes, tags);',
        by: `  const state = states.get(register) ?? freshState(context, attributes, tags);
  states.set(register, state);`,
      },
      {
        file: create,
        text: 'const triesMax = 10;',
        by: 'const triesMax = 10;\nconst states = new WeakMap<ManifestRegister, QueueState>();',
      },
    ],
  },
  {
    name: 'own-create-not-recognised',
    breaks: 'own incarnation means done',
    focus: 'names',
    patches: [
      {
        file: create,
        text: '    if (after.content.state.incarnation !== state.incarnation) return compared(observed, attributes, tags);',
        by: "    if (after.content.state.incarnation !== state.incarnation)\n      return { outcome: { kind: 'created' }, observed };",
      },
    ],
  },
  {
    name: 'links-are-in-the-way',
    breaks: 'a queue that messages moved out of can be deleted',
    focus: 'moves',
    patches: [
      {
        file: 'src/engine/queue-calls.ts',
        text: "      const outcome = await this.#submit(name, { kind: 'delete-queue' });",
        by: `      const loop = await this.#registry.loopFor(name);
      if (loop && loop.view.current.state.outgoingLinks.size > 0)
        throw new Unavailable('messages move out of this queue');
      const outcome = await this.#submit(name, { kind: 'delete-queue' });`,
      },
    ],
  },
  {
    name: 'deletion-without-a-tombstone',
    breaks: 'a tombstone names what it buried',
    focus: 'names',
    patches: [
      {
        file: attempts,
        text: "  if (tombstone.closingWriter === writer && closing?.next.kind === 'tombstone')",
        by: "  if (closing?.next.kind === 'tombstone')",
      },
    ],
  },
];
