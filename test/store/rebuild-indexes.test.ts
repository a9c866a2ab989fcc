import { randomUUID } from 'node:crypto';
import { globSync } from 'node:fs';
import { join } from 'node:path';
import type pg from 'pg';
import t from 'tap';
import { z } from 'zod';
import type { EventType, EventTypes, RecordedEvent } from '../../platform/eventstore/event.ts';
import { withConnection } from '../../platform/postgres/connection.ts';
import type { Sql } from '../../platform/sql.ts';
import { projector } from '../../projections/projection.ts';
import { LOOKUP_INDEXES, makeTemporaryTables } from '../../projections/rebuild/rebuilt-tables.ts';
import { planByIndex } from '../../projections/rebuild/two-connections.ts';
import { projections } from '../../services/features.ts';
import { testDatabase } from '../support/database.ts';

const ROOT = join(import.meta.dirname, '../..');
/** Samples of each event type: enough for every branch of a handler. */
const SAMPLES = 60;
/** A partial index that is read whole, because it is empty between transactions. */
const EMPTY_INDEX = 'moderation_weeks_empty';

interface Plan {
  'Node Type': string;
  'Relation Name'?: string;
  'Index Name'?: string;
  'Index Cond'?: string;
  Plans?: Plan[];
}

t.test('finds rows by index while a rebuild fills the tables', async (t) => {
  const statements = await projectionStatements();
  const { url } = await testDatabase(t);
  await withConnection(url, async (client) => {
    await planByIndex(client);
    await makeTemporaryTables(client, projections);
    const first = await firstColumns(client);
    const used = new Set<string>();
    for (const statement of statements) {
      const plans = nodesOf(await planOf(client, statement));
      for (const { 'Index Name': name = '' } of plans) used.add(name);
      const scans = plans.filter((plan) => !looksUp(plan, first));
      t.same(scans, [], statement.text.replaceAll(/\s+/g, ' ').slice(0, 150));
    }
    const needless = LOOKUP_INDEXES.filter((name) => !used.has(name));
    t.same(needless, [], 'every index that a rebuild makes first is used by a projection');
  });
});

/** The distinct statements of all projections on samples of every event. */
async function projectionStatements(): Promise<Sql[]> {
  const modules = globSync('domain/*/events.ts', { cwd: ROOT });
  const types = await Promise.all(
    modules.map(async (file) => Object.values((await import(join(ROOT, file))) as EventTypes)),
  );
  const found = new Map<string, Sql>();
  const project = projector(projections);
  for (const type of types.flat())
    for (const event of samplesOf(type))
      for (const statement of project([event])) found.set(statement.text, statement);
  return [...found.values()];
}

function samplesOf({ type, data, personal }: EventType): RecordedEvent[] {
  const dataSchema = toJsonSchema(data);
  const personalSchema = toJsonSchema(personal ?? z.null());
  return Array.from({ length: SAMPLES }, (_, round) => ({
    type,
    data: sample(dataSchema, round) as never,
    personal: (round % 4 < 3 ? sample(personalSchema, round) : null) as never,
    owner_id: randomUUID(),
    stream_id: `stream-${randomUUID()}`,
    stream_version: 1 + (round % 2),
    position: 1,
    event_id: randomUUID(),
    actor: { type: round % 3 === 0 ? 'moderator' : 'member', id: randomUUID() },
    recorded_at: new Date(),
  }));
}

type JsonSchema = z.core.JSONSchema.BaseSchema;

const toJsonSchema = (schema: z.ZodType) =>
  z.toJSONSchema(schema, { io: 'output', unrepresentable: 'any' }) as JsonSchema;

/** A value of a schema; the rounds take turns in what the schema leaves open. */
function sample(schema: JsonSchema, round: number): unknown {
  const { const: only, anyOf, enum: values, required = [], items } = schema;
  if (only !== undefined) return only;
  if (anyOf) return sample(anyOf[round % anyOf.length] as JsonSchema, round);
  if (values) return values[round % values.length];
  if (schema.type === 'object') {
    const fields = Object.entries(schema.properties ?? {}).filter(
      ([name]) => required.includes(name) || round % 2 === 0,
    );
    return Object.fromEntries(
      fields.map(([name, field]) => [name, sample(field as JsonSchema, round)]),
    );
  }
  if (schema.type === 'array') return round % 2 === 0 ? [sample(items as JsonSchema, round)] : [];
  if (schema.type === 'boolean') return round % 3 === 0;
  if (schema.type === 'integer' || schema.type === 'number') return 1;
  if (schema.type === 'null') return null;
  if (schema.format === 'uuid') return randomUUID();
  if (schema.format === 'date-time') return new Date().toISOString();
  // A packet is JSON in a text.
  return '{}';
}

/** The first column or expression of each temporary index. */
async function firstColumns(client: pg.Client): Promise<Map<string, string>> {
  const { rows } = await client.query<{ name: string; first: string }>(
    `SELECT relname AS name, pg_get_indexdef(indexrelid, 1, true) AS first
     FROM pg_index JOIN pg_class ON oid = indexrelid WHERE relnamespace = pg_my_temp_schema()`,
  );
  return new Map(rows.map(({ name, first }) => [name, first]));
}

async function planOf(client: pg.Client, { text, values }: Sql): Promise<Plan> {
  await client.query(`PREPARE statement AS ${text}`);
  const given = values.length > 0 ? `(${values.map(() => 'NULL').join(', ')})` : '';
  const { rows } = await client.query(`EXPLAIN (FORMAT JSON) EXECUTE statement ${given}`);
  await client.query('DEALLOCATE statement');
  return rows[0]['QUERY PLAN'][0].Plan;
}

const nodesOf = (plan: Plan): Plan[] => [plan, ...(plan.Plans ?? []).flatMap(nodesOf)];

/** Whether a node of a plan reads no table, or only the rows that an index finds by its first column. */
function looksUp(plan: Plan, first: ReadonlyMap<string, string>): boolean {
  const { 'Node Type': type, 'Index Name': index, 'Index Cond': condition = '' } = plan;
  if (index === undefined) return type !== 'Seq Scan';
  const column = first.get(index) ?? '';
  return index === EMPTY_INDEX || condition.split(/\W+/).includes(column);
}
