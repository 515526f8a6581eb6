/**
 * Consumers that take everything once, in waves that stay below what may be in flight, and give nothing back: what they
 * don't delete becomes visible again when its wave's timeout is over, and then takes turns with the never received.
 */
import type { ReceivedMessage } from '../../src/engine/queue-api.ts';
import { batch, receive } from './load.ts';
import type { ScaleWorld } from './scale-world.ts';

export const timeoutSeconds = 30;
const inFlightAtOnce = 100_000;
const receiversMax = 1_000;

/** Until `wanted` messages were received for the first time; `took` gets each receive's. Returns how many. */
export async function receiveEachOnce(
  world: ScaleWorld,
  queue: string,
  wanted: number,
  took: (messages: readonly ReceivedMessage[]) => Promise<void>,
): Promise<number> {
  let fresh = 0;
  while (fresh < wanted && !world.givesUp(fresh, wanted)) {
    const wave = Math.min(inFlightAtOnce, wanted);
    let taken = 0;
    const receiver = async () => {
      while (taken < wave && fresh < wanted && !world.givesUp(fresh, wanted)) {
        taken += batch;
        const messages = await receive(world.service, queue, timeoutSeconds);
        if (messages.length === 0) return;
        fresh += messages.filter(({ receiveCount }) => receiveCount === 1).length;
        await took(messages);
      }
    };
    const receivers = Math.min(receiversMax, Math.ceil(wave / batch / 10));
    await Promise.all(Array.from({ length: receivers }, receiver));
    await world.scheduler.sleep((timeoutSeconds + 1) * 1000);
  }
  return fresh;
}
