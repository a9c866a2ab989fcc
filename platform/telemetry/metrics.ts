import type pg from 'pg';
import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client';
import type { Replicas } from '../postgres/replica.ts';
import { CONTRACT_VERSION, RELEASE } from '../version.ts';

const METHODS = new Set(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']);
const REQUEST_SECONDS = [0.002, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 30];

/**
 * Creates the metrics of this process: its release, memory, CPU, garbage collection, event loop lag, pools,
 * whether commits wait for a synchronous standby, and whether acknowledged writes are missing.
 */
export function processMetrics(
  pools: Readonly<Record<string, pg.Pool>>,
  waitsForStandby: () => boolean = () => false,
  replicas?: Replicas,
  isLogLost: () => boolean = () => false,
): Registry {
  const registry = new Registry();
  // The default looks at the event loop a hundred times a second, also in a process at rest.
  collectDefaultMetrics({ register: registry, eventLoopMonitoringPrecision: 500 });
  new Gauge({
    name: 'build_info',
    help: 'Always 1; the labels are the version of the wire contract, the release as in the log, and the version of Node',
    labelNames: ['version', 'release', 'node'],
    registers: [registry],
  }).set({ version: CONTRACT_VERSION, release: RELEASE, node: process.versions.node }, 1);
  new Gauge({
    name: 'database_connections',
    help: 'Connections of a pool by state: open, of these idle; and requests waiting for one',
    labelNames: ['pool', 'state'],
    registers: [registry],
    collect() {
      for (const [pool, { totalCount, idleCount, waitingCount }] of Object.entries(pools)) {
        this.set({ pool, state: 'open' }, totalCount);
        this.set({ pool, state: 'idle' }, idleCount);
        this.set({ pool, state: 'waiting' }, waitingCount);
      }
    },
  });
  new Gauge({
    name: 'commits_wait_for_standby',
    help: '1 while commits wait for a synchronous standby and commands are refused; otherwise 0',
    registers: [registry],
    collect() {
      this.set(waitsForStandby() ? 1 : 0);
    },
  });
  new Gauge({
    name: 'log_lost',
    help: '1 while writes that were acknowledged are missing and commands are refused until `npm run restored`; otherwise 0',
    registers: [registry],
    collect() {
      this.set(isLogLost() ? 1 : 0);
    },
  });
  new Gauge({
    name: 'replica_up',
    help: 'Replicas that reads use; 0 while they go to the primary; only with a replica',
    registers: [registry],
    collect() {
      if (replicas) this.set(replicas.countUsable());
      else this.remove();
    },
  });
  new Gauge({
    name: 'replica_lag_seconds',
    help: 'How far the replica that is furthest behind is behind the primary; only with a replica',
    registers: [registry],
    collect() {
      if (replicas) this.set(replicas.lagSeconds());
      else this.remove();
    },
  });
  return registry;
}

/**
 * Creates the metrics of HTTP requests by method, route template and status, and of problems by
 * code. All labels come from closed lists, so that requests cannot create new series.
 */
export function requestMetrics(registry: Registry) {
  const inFlight = new Gauge({
    name: 'http_requests_in_flight',
    help: 'HTTP requests being answered',
    registers: [registry],
  });
  const duration = new Histogram({
    name: 'http_request_duration_seconds',
    help: 'Duration of HTTP requests by method, route template and status; 499 if the caller went away',
    labelNames: ['method', 'route', 'status'],
    buckets: REQUEST_SECONDS,
    registers: [registry],
  });
  const problems = new Counter({
    name: 'problems_total',
    help: 'HTTP requests that were answered with a problem, by error code, as `code` in the log',
    labelNames: ['code'],
    registers: [registry],
  });
  // A series that begins with its first problem has no increase, so the alert would miss that one.
  problems.inc({ code: 'outcome_unconfirmed' }, 0);
  const series = new Map<string, ReturnType<typeof duration.labels>>();
  return {
    arrived(): void {
      inFlight.inc();
    },
    answered(method: string, route: string, status: number, seconds: number, code?: string): void {
      inFlight.dec();
      if (code) problems.inc({ code });
      const labels = { method: METHODS.has(method) ? method : 'other', route, status };
      const name = `${labels.method} ${status} ${route}`;
      const one = series.get(name) ?? duration.labels(labels);
      series.set(name, one);
      one.observe(seconds);
    },
  };
}
