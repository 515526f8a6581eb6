/**
 * What boto3, aws-sdk-js and aws-sdk-go said and heard (test/golden/sessions), played again: the requests byte for byte,
 * their signatures at their time, and answers that are equal but for ids, handles and times.
 */
import assert from 'node:assert/strict';
import { readdirSync } from 'node:fs';
import { describe, it } from 'node:test';
import { actions } from '../../src/protocol/sqs/actions/index.ts';
import { handlesOf, masking } from './sessions/masked.ts';
import { type Answer, actionOf, type Exchange, readSession } from './sessions/session.ts';
import { SessionNode } from './sessions/session-node.ts';

const folder = new URL('sessions/', import.meta.url);
const clients = ['boto3', 'boto3-query', 'aws-sdk-js', 'aws-sdk-go'];

/** The boto3 of the query protocol is older than message move tasks. */
const MOVES = ['StartMessageMoveTask', 'ListMessageMoveTasks', 'CancelMessageMoveTask'];
const lacking: Readonly<Record<string, readonly string[]>> = { 'boto3-query': MOVES };

const partsOf = (client: string) =>
  readdirSync(new URL(client, folder)).map((name) => [name, new URL(`${client}/${name}`, folder)] as const);

async function answersTo(session: readonly Exchange[]): Promise<readonly Answer[]> {
  const node = new SessionNode();
  const answers: Answer[] = [];
  for (const { request } of session) answers.push(await node.answer(request));
  await node.stop();
  assert.deepEqual(node.failures, []);
  return answers;
}

for (const client of clients) {
  describe(`recorded session of ${client}`, () => {
    for (const [name, file] of partsOf(client)) {
      it(`${name}: every answer is the recorded one`, async () => {
        const session = readSession(file);
        const [maskThen, maskNow] = [masking(), masking()];
        const answers = await answersTo(session);
        for (const [n, { request, answer }] of session.entries()) {
          const now = answers[n] as Answer;
          const what = `line ${n + 1}, ${actionOf(request)}`;
          assert.deepEqual(maskNow(now), maskThen(answer), what);
          // A later request has the recorded handle under its signature. Where others come out by right, `just record-sessions`.
          assert.deepEqual(handlesOf(now), handlesOf(answer), `${what}: handles`);
        }
      });
    }

    it('has every action, and a request that is not the client’s own is refused', async () => {
      const sessions = partsOf(client).map(([, file]) => readSession(file));
      const seen = new Set(sessions.flat().map(({ request }) => actionOf(request)));
      const missing = [...actions.keys()].filter((action) => !seen.has(action));
      assert.deepEqual(missing.sort(), [...(lacking[client] ?? [])].sort());
      const node = new SessionNode();
      const [first] = sessions[0] as [Exchange];
      const { request } = first;
      const answer = await node.answer({ ...request, body: `${request.body} ` });
      assert.equal(answer.status, 403);
      assert.match(answer.body, /SignatureDoesNotMatch/);
      await node.stop();
    });
  });
}
