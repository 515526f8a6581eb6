/**
 * What /metrics shows, through prom-client on a registry of its own. Counts that others keep (engine, store meter,
 * process) are read when somebody asks, so keeping them costs nothing; only requests are counted as they happen.
 */
import process from 'node:process';
import { Counter, Gauge, Histogram, Registry } from 'prom-client';
import { DOLLARS_PER_MILLION, type MeterSnapshot, REQUEST_CLASSES } from '../store/metered-store.ts';

export interface MetricsSources {
  /** Rising counts by camelCase name, e.g. `commits`. */
  readonly engineCounters: () => Readonly<Record<string, number>>;
  /** Undefined until the store is open. */
  readonly storeUse: () => MeterSnapshot | undefined;
  readonly connections: () => number;
  readonly version: string;
  readonly runtime: string;
}

export interface Metrics {
  observeRequest(action: string | undefined, status: number, seconds: number): void;
  /** The exposition text and its content type. */
  render(): Promise<{ readonly text: string; readonly contentType: string }>;
}

/** From one commit on a local disk to a full long poll. */
const SECONDS_BUCKETS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 21];

export function createMetrics(sources: MetricsSources): Metrics {
  const registry = new Registry();
  const requests = new Counter({
    name: 'okuri_requests_total',
    help: 'Requests answered, by action and HTTP status.',
    labelNames: ['action', 'status'],
    registers: [registry],
  });
  const seconds = new Histogram({
    name: 'okuri_request_seconds',
    help: 'From the end of the request headers to the end of the answer; long polls wait on purpose.',
    labelNames: ['action'],
    buckets: SECONDS_BUCKETS,
    registers: [registry],
  });
  new Gauge({
    name: 'okuri_build_info',
    help: 'Always 1; version and runtime are in the labels.',
    labelNames: ['version', 'runtime'],
    registers: [registry],
  }).set({ version: sources.version, runtime: sources.runtime }, 1);
  registerProcess(registry, sources.connections);
  const readStore = registerStore(registry);
  const engine = new Map<string, Counter>();

  function readEngine(): void {
    for (const [name, value] of Object.entries(sources.engineCounters())) {
      let counter = engine.get(name);
      if (counter === undefined) {
        counter = new Counter({
          name: `okuri_${snakeCase(name)}_total`,
          help: `Engine: ${snakeCase(name).replaceAll('_', ' ')} since the start.`,
          registers: [registry],
        });
        engine.set(name, counter);
      }
      counter.reset();
      counter.inc(value);
    }
  }

  return {
    // The action comes from our own closed list; anything else is one label, or callers could grow the registry.
    observeRequest: (action, status, took) => {
      requests.inc({ action: action ?? 'unknown', status: String(status) });
      seconds.observe({ action: action ?? 'unknown' }, took);
    },
    render: async () => {
      readEngine();
      readStore(sources.storeUse());
      return { text: await registry.metrics(), contentType: registry.contentType };
    },
  };
}

function registerProcess(registry: Registry, connections: () => number): void {
  new Gauge({
    name: 'okuri_connections',
    help: 'Open client connections of the API.',
    registers: [registry],
    collect() {
      this.set(connections());
    },
  });
  new Gauge({
    name: 'process_resident_memory_bytes',
    help: 'Resident memory.',
    registers: [registry],
    collect() {
      this.set(process.memoryUsage().rss);
    },
  });
  new Gauge({
    name: 'process_heap_bytes',
    help: 'Heap in use by JavaScript objects.',
    registers: [registry],
    collect() {
      this.set(process.memoryUsage().heapUsed);
    },
  });
  new Gauge({
    name: 'process_start_time_seconds',
    help: 'When the process started, seconds since the Unix epoch.',
    registers: [registry],
  }).set(Math.round(Date.now() / 1_000 - process.uptime()));
}

function registerStore(registry: Registry): (use: MeterSnapshot | undefined) => void {
  const counter = (name: string, help: string) =>
    new Counter({ name: `okuri_store_${name}_total`, help, labelNames: ['class'], registers: [registry] });
  const requests = counter('requests', 'Requests to the store, by class.');
  const conflicts = counter('conflicts', 'Conditional requests whose condition did not hold, by class.');
  const unknowns = counter('unknowns', 'Writes whose outcome the store did not tell, by class.');
  const errors = counter('errors', 'Requests that failed with nothing written, by class.');
  const bytes = counter('bytes', 'Bytes of bodies sent to and read from the store, by class.');
  const dollars = counter('dollars', "What the requests cost at AWS's list prices, by class.");
  return (use) => {
    for (const each of [requests, conflicts, unknowns, errors, bytes, dollars]) each.reset();
    if (use === undefined) return;
    for (const name of REQUEST_CLASSES) {
      const row = use.classes[name];
      const labels = { class: snakeCase(name) };
      requests.inc(labels, row.requests);
      conflicts.inc(labels, row.conflicts);
      unknowns.inc(labels, row.unknowns);
      errors.inc(labels, row.errors);
      bytes.inc(labels, row.bytesUp + row.bytesDown);
      dollars.inc(labels, (row.requests * DOLLARS_PER_MILLION[name]) / 1_000_000);
    }
  };
}

function snakeCase(name: string): string {
  return name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}
