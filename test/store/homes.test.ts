import { randomUUID } from 'node:crypto';
import type pg from 'pg';
import t from 'tap';
import { countReceipts } from '../../platform/eventstore/receipts.ts';
import { BY_INDEX, withConnection } from '../../platform/postgres/connection.ts';
import { toQuery } from '../../platform/postgres/pipeline.ts';
import { readHeads } from '../../projections/updates/feed-page.ts';
import { grantRoles } from '../../services/database-roles.ts';
import { OWNED_TABLES } from '../../services/partitions.ts';
import { testDatabase } from '../support/database.ts';
import { imitateCluster } from '../support/imitated-cluster.ts';
import { recordRun } from '../support/recorded-run.ts';

interface Exception {
  /** A part of the statement's text. */
  part: string;
  why: string;
}

/** Reads that span owners, and why. A change or a lock never does. */
const SPANNING: readonly Exception[] = [
  { part: 'SELECT coalesce(max(position), 0) AS position', why: 'the end of the whole log' },
  { part: 'SELECT min(position) AS position FROM events', why: 'the next event of the whole log' },
  {
    part: 'FROM events WHERE position > $1 AND position <= $2 ORDER BY position',
    why: 'the whole log, for consoles: a range of positions, or a gap in one',
  },
  {
    part: "'NoteErased')) AND position > $1 AND position <= $2",
    why: 'the audit log: a range of positions',
  },
  {
    part: "AND actor->>'id' = $1::text AND position < $2::bigint",
    why: 'a rewind: the newest acts of one moderator, by an index of the audit',
  },
  {
    part: 'SELECT owner_id, stream_id, stream_version FROM events WHERE personal IS NOT NULL',
    why: "finds a member's words in streams of other owners, which are erased owner by owner",
  },
  {
    part: "WHERE event.actor->>'id' = $2 AND event.position > $3",
    why: "proofs of a member's acts on cases of others: an index has these alone",
  },
  {
    part: 'FROM events event WHERE event.position IN (SELECT unnest($1::bigint[]))',
    why: 'proofs of the audit: the events of a page by their positions',
  },
  {
    part: 'AS recorded_at FROM events event WHERE event.position > $1',
    why: 'the whole log, to seal it: a range of positions',
  },
  { part: 'FROM events ORDER BY position DESC LIMIT 1', why: 'the newest event of the whole log' },
  {
    part: 'FROM events TABLESAMPLE SYSTEM ($1::real) REPEATABLE (1)',
    why: 'the page for operators: the largest stream on a few pages of the log',
  },
  {
    part: '(SELECT position FROM events WHERE position > $1::bigint LIMIT $2) events',
    why: 'how much of the log is not sealed, by positions',
  },
  { part: 'WHERE epoch = $1) AS checkpoint', why: 'the same range, to see if it has changed' },
  { part: 'AND epoch = $5) AS leaves', why: 'the last positions that were sealed' },
  {
    part: "SELECT owner_id, space, key FROM receipts WHERE operation LIKE 'case.%'",
    why: "finds a member's words in receipts of other owners, which are erased owner by owner",
  },
  { part: 'FROM receipts, jsonb_each(bound)', why: 'npm run keys counts all keyed hashes' },
  {
    part: 'SELECT member_id, sequence FROM feed_heads WHERE member_id = ANY(',
    why: 'one statement asks for all members who wait for updates',
  },
];

/**
 * Forms that Citus takes for one owner alone: every scan of a partition has the owner in its index condition.
 */
const BY_OWNER: readonly Exception[] = [
  {
    part: '(WITH RECURSIVE search (low, high)',
    why: 'a page of a history: the streams of one owner',
  },
  { part: "WITH given AS MATERIALIZED (SELECT 'note-'", why: 'what decides on notes of one owner' },
  { part: 'WITH erased AS (UPDATE events', why: 'erases words of one owner, and their salts' },
];

/** Statements that use one of the four tables together with another, and why. */
const MIXED: readonly Exception[] = [
  { part: 'FROM log_epochs', why: 'a few rows, of which each node of a cluster has a copy' },
  { part: 'WITH erased AS (UPDATE events', why: 'the salts of words go with the words' },
  { part: 'LEFT JOIN seal_leaves leaf', why: 'the salts of a page of events, by their positions' },
  { part: 'AND epoch = $5) AS leaves', why: 'how many events were sealed, which one job counts' },
];

const ALLOWED: Readonly<Record<Fault, readonly Exception[]>> = {
  'reads several owners': [...SPANNING, ...BY_OWNER],
  'changes or locks several owners': BY_OWNER,
  'has a form that a cluster refuses': BY_OWNER,
  'uses another table': MIXED,
};

type Fault =
  | 'reads several owners'
  | 'changes or locks several owners'
  | 'has a form that a cluster refuses'
  | 'uses another table';

interface Plan {
  'Node Type': string;
  'Relation Name'?: string;
  'Index Cond'?: string;
  'Recheck Cond'?: string;
  Plans?: Plan[];
}

interface Planned {
  text: string;
  values: readonly unknown[];
}

const TABLES = Object.keys(OWNED_TABLES).join('|');
const NAMES_ONE = new RegExp(`\\b(?:FROM|JOIN|INTO|UPDATE)\\s+(?:${TABLES})\\b`, 'i');
const PARTITION = new RegExp(`^(?:${TABLES})_p(\\d+)$`);
const REFUSED_FORM =
  /\bRECURSIVE\b|\bLATERAL\b|\bAS (?:MATERIALIZED )?\((?:UPDATE|INSERT|DELETE)\b/i;
const CHANGES = /\bFOR (?:NO KEY )?UPDATE\b|\bFOR (?:KEY )?SHARE\b|(?:^|\()\s*(?:UPDATE|DELETE)\b/i;

const nodesOf = (plan: Plan): Plan[] => [plan, ...(plan.Plans ?? []).flatMap(nodesOf)];
const partitionOf = (node: Plan): string | undefined =>
  PARTITION.exec(node['Relation Name'] ?? '')?.[1];

/** A list of one id may be of one owner by chance, so this plans the statement for many. */
function widen(value: unknown): unknown {
  const [, id] = /^\{"?([0-9a-f-]{36})"?\}$/.exec(String(value)) ?? [];
  return id ? `{${[id, ...Array.from({ length: 20 }, () => randomUUID())].join(',')}}` : value;
}

/** The plan for these values, whose owners decide which partitions remain. */
async function planOf(client: pg.Client, { text, values }: Planned): Promise<Plan> {
  const { rows } = await client.query(`EXPLAIN (FORMAT JSON) ${text}`, values.map(widen));
  return rows[0]['QUERY PLAN'][0].Plan;
}

/** What is wrong with a statement, exceptions aside. An INSERT routes each row by its owner. */
function faultsOf(text: string, plan: Plan): Fault[] {
  const nodes = nodesOf(plan);
  const spans = new Set(nodes.flatMap((node) => partitionOf(node) ?? [])).size > 1;
  const mixes = nodes.some(({ 'Relation Name': table }) =>
    table === undefined ? false : !PARTITION.test(table) && !(table in OWNED_TABLES),
  );
  const change = CHANGES.test(text) ? 'changes or locks several owners' : 'reads several owners';
  return [
    ...(spans ? [change as Fault] : []),
    ...(REFUSED_FORM.test(text) ? ['has a form that a cluster refuses' as const] : []),
    ...(mixes ? ['uses another table' as const] : []),
  ];
}

/** Whether each scan of a partition finds the rows of one owner at a time. */
const isByOwner = (plan: Plan): boolean =>
  nodesOf(plan)
    .filter(partitionOf)
    .every((node) =>
      /\((?:owner|member)_id = /.test(node['Index Cond'] ?? node['Recheck Cond'] ?? ''),
    );

t.test('every statement on the log, the receipts and the feeds has one owner', async (t) => {
  const database = await testDatabase(t);
  await withConnection(database.url, async (client) => {
    if (process.env.TEST_LAYOUT !== 'cluster') await imitateCluster(client);
    await grantRoles(client);
  });
  const { service, statements } = await recordRun(
    t,
    async () => undefined,
    { SEAL_KEY: '5a'.repeat(32) },
    database,
  );
  // Statements that no operation of the recorded run sends.
  const others = [countReceipts(), readHeads([randomUUID()])].map(toQuery);

  const sent = [...statements.values(), ...others].filter(
    ({ text }) => /^\s*(SELECT|INSERT|UPDATE|DELETE|WITH)\b/i.test(text) && NAMES_ONE.test(text),
  );
  t.ok(sent.length > 30, `${sent.length} statements`);
  const needed = new Set<Exception>();
  await withConnection(service.database.url, async (client) => {
    await client.query(BY_INDEX);
    // As in a command's transaction.
    await client.query('SET enable_hashjoin = off; SET enable_mergejoin = off');
    for (const statement of sent) {
      const text = statement.text.trim().replaceAll(/\s+/g, ' ').replaceAll('( ', '(');
      const plan = await planOf(client, statement);
      for (const fault of faultsOf(text, plan)) {
        const exception = ALLOWED[fault].find(({ part }) => text.includes(part));
        t.ok(exception, `${fault}: ${text.slice(0, 200)}`);
        if (exception) needed.add(exception);
        if (exception && BY_OWNER.includes(exception))
          t.ok(isByOwner(plan), `finds rows by owner: ${text.slice(0, 200)}`);
      }
    }
  });
  const obsolete = [...SPANNING, ...BY_OWNER, ...MIXED].filter(
    (exception) => !needed.has(exception),
  );
  t.same(obsolete, [], 'every exception is needed');
});
