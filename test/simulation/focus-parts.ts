/** What several weathers (focus.ts) fix in the same way. */
import type { ClientWeights, SimConfig } from './config.ts';

/** At least so many nodes, of the kinds that were drawn. */
export function withNodes(drawn: SimConfig, count: number): Pick<SimConfig, 'nodes' | 'clients'> {
  const nodes = Array.from({ length: Math.max(count, drawn.nodes.length) }, (_, index) => {
    const like = drawn.nodes[index % drawn.nodes.length]!;
    return {
      ...like,
      putMillis: like.putMillis * (1 + index / 10),
      getMillis: like.getMillis * (1 + index / 10),
    };
  });
  const clients = drawn.clients.map((client, index) => ({ ...client, home: index % nodes.length }));
  return { nodes, clients };
}

export function withWeights(
  clients: SimConfig['clients'],
  weights: Partial<ClientWeights>,
  thinkMillisMax: number,
): SimConfig['clients'] {
  return clients.map((client) => ({
    ...client,
    thinkMillis: Math.min(client.thinkMillis, thinkMillisMax),
    weights: { ...client.weights, ...weights },
  }));
}

export function noFaults({ faults }: SimConfig): SimConfig['faults'] {
  return Object.fromEntries(Object.keys(faults).map((kind) => [kind, 0])) as unknown as SimConfig['faults'];
}
