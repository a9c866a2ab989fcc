import { CONTRACT_VERSION, RELEASE } from '../../platform/version.ts';
import type { OperateDeps } from './context.ts';
import type { Section } from './report.ts';

// What a process knows without PostgreSQL.

/** The process that answers. */
export function processSection(deps: OperateDeps): Section {
  const { config, pools, store, logWatch } = deps;
  const waitsForStandby = store.waitsForStandby();
  const lost = logWatch.isLost();
  const { heapUsed, rss } = process.memoryUsage();
  const crowded = Object.entries(pools).filter(([, pool]) => pool.waitingCount > 0);
  const held = Object.entries(deps.held?.() ?? {});
  const { limitWaiting } = config;
  return {
    name: 'process',
    title: 'This process',
    facts: [
      ['name', 'Process', deps.process],
      ['pid', 'Process id', { id: process.pid }],
      ['release', 'Release', RELEASE],
      ['contract', 'Version of the wire contract', CONTRACT_VERSION],
      ['node', 'Node', process.versions.node],
      ['started_at', 'Started', new Date(Date.now() - 1000 * process.uptime())],
      ['resident_bytes', 'Memory', { bytes: rss }],
      ['heap_bytes', 'Memory of JavaScript objects', { bytes: heapUsed }],
      ['server_keys', 'Ids of its server keys, the newest first', deps.keys.ids.join(', ')],
      ['log_lost', 'Acknowledged writes are missing', lost],
      ['waits_for_standby', 'Commits wait for a standby', waitsForStandby],
    ],
    tables: [
      {
        name: 'pools',
        title: 'Connections of its pools',
        columns: [
          ['pool', 'Pool'],
          ['open', 'Open'],
          ['idle', 'Idle'],
          ['waiting', 'Requests that wait'],
          ['limit', 'Limit'],
        ],
        rows: Object.entries(pools).map(([name, pool]) => [
          name,
          pool.totalCount,
          pool.idleCount,
          pool.waitingCount,
          pool.options.max,
        ]),
      },
      ...(held.length > 0
        ? [
            {
              name: 'held_requests',
              title: 'Requests that it holds open',
              columns: [
                ['holder', 'Holder'],
                ['held', 'Held'],
                ['limit', 'Limit'],
              ] as const,
              rows: held.map(([kind, count]) => [kind, count, limitWaiting]),
            },
          ]
        : []),
    ],
    warnings: [
      ...(lost ? ['Acknowledged writes are missing, and commands are refused.'] : []),
      ...(waitsForStandby ? ['Commits wait for a standby, and commands are refused.'] : []),
      ...crowded.map(
        ([name, { waitingCount }]) =>
          `${waitingCount} requests wait for a connection of the pool ${name}.`,
      ),
      ...held
        .filter(([, count]) => count >= 0.8 * limitWaiting)
        .map(
          ([kind, count]) => `${count} of ${limitWaiting} places of waiting ${kind}s are taken.`,
        ),
    ],
  };
}

/** The replicas that this process reads from. */
export function replicaSection({ replicas }: Pick<OperateDeps, 'replicas'>): Section {
  const states = replicas?.states() ?? [];
  const unused = states.filter(({ usable }) => !usable).length;
  return {
    name: 'replicas',
    title: 'Replicas',
    facts: [['configured', 'Replicas in DATABASE_READ_URL', states.length]],
    tables:
      states.length === 0
        ? []
        : [
            {
              name: 'replicas',
              title: 'Replicas as this process sees them',
              columns: [
                ['replica', 'Replica'],
                ['used', 'Used'],
                ['lag_seconds', 'Lag'],
              ],
              rows: states.map(({ usable, lagSeconds }, index) => [
                index + 1,
                usable,
                Number.isFinite(lagSeconds) ? { seconds: lagSeconds } : null,
              ]),
            },
          ],
    warnings:
      unused > 0
        ? [`${unused} of ${states.length} replicas lag or do not answer, and are not used.`]
        : [],
  };
}
