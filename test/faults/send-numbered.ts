/** Fills a queue with numbered messages, by batches of ten from many senders at once. */
import { type OkuriProcess, pause } from './okuri-process.ts';
import { call } from './signed-client.ts';

/** Bodies are the numbers from 0 on, padded. Answered 503 a batch is sent again; returns how often. @throws for any other refusal */
export async function sendNumbered(
  node: OkuriProcess,
  QueueUrl: string,
  { messages, bodyBytes, senders }: { messages: number; bodyBytes: number; senders: number },
): Promise<number> {
  let next = 0;
  let busy = 0;
  const sender = async () => {
    while (next < messages) {
      const first = next;
      next += 10;
      const Entries = Array.from({ length: Math.min(10, messages - first) }, (_, n) => ({
        Id: `${n}`,
        MessageBody: `${first + n}`.padEnd(bodyBytes, '.'),
      }));
      let answer = await call(node.url, 'SendMessageBatch', { QueueUrl, Entries });
      while (answer.kind === 'refused' && answer.status === 503) {
        busy += 1;
        await pause(100);
        answer = await call(node.url, 'SendMessageBatch', { QueueUrl, Entries });
      }
      if (answer.kind !== 'ok' || answer.body.Successful?.length !== Entries.length)
        throw new Error(JSON.stringify(answer));
    }
  };
  await Promise.all(Array.from({ length: senders }, sender));
  return busy;
}
