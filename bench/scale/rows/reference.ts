import { quantile, Workload } from '../../workload.ts';
import { bounds, type RowFigures } from '../figures.ts';

/** The first row of `just cost` at linger 100 ms, whatever else a node may do by now. */
export async function runReference(): Promise<RowFigures> {
  const seconds = 120;
  const result = await new Workload({
    seed: 1,
    nodes: 1,
    ratePerSecond: 100,
    tuning: { lingerMillis: 100 },
    seconds,
  }).run();
  const messages = (result.sent + result.deleted) / 2;
  const { referenceDollars, referenceShare } = bounds;
  return {
    row: 'reference',
    figures: [
      { name: 'messages', unit: 'count', value: messages },
      {
        name: 'dollars per million',
        unit: 'dollars',
        value: (result.dollars / messages) * 1e6,
        least: referenceDollars * (1 - referenceShare),
        most: referenceDollars * (1 + referenceShare),
      },
      {
        name: 'conditional PUTs per message',
        unit: 'count',
        value: result.requests.conditionalPut / messages,
      },
      { name: 'GETs per message', unit: 'count', value: result.requests.get / messages },
      { name: 'end to end p50', unit: 'millis', value: quantile(result.endToEndMillis, 0.5) },
      { name: 'end to end p99', unit: 'millis', value: quantile(result.endToEndMillis, 0.99) },
    ],
  };
}
