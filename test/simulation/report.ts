/** What is printed of a seed: its configuration before anything else, its failure last, where the eye falls. */
import type { SimConfig } from './config.ts';
import type { RunResult } from './run.ts';

/** In full, an entry a line, and one for each node, queue and client. */
export function configLines(config: SimConfig): string[] {
  return Object.entries(config).flatMap(([name, value]: [string, unknown]) =>
    Array.isArray(value) && value.every((each) => typeof each === 'object')
      ? value.map((each, index) => `${name}.${index} ${JSON.stringify(each)}`)
      : `${name} ${JSON.stringify(value)}`,
  );
}

export function printConfig(config: SimConfig): void {
  for (const line of configLines(config)) console.log(line);
}

export function printFailure({ config: { seed }, failure }: RunResult): void {
  if (!failure) return;
  console.log(`seed ${seed} fails at ${failure.at.toFixed(3)} ms: ${failure.property}`);
  console.log(`  ${failure.detail}`);
  console.log(`  replay: node --import tsx test/simulation/dst.ts --seed ${seed}`);
}
