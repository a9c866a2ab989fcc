import { randomUUID } from 'node:crypto';
import { getPostgreSQLEventStore } from '@event-driven-io/emmett-postgresql';
import pg from 'pg';
import { capturedCommand } from '../harness/captured-command.ts';
import { readConfig } from '../platform/config.ts';
import { isRefusal } from '../platform/refusal.ts';
import { type Core, createCore } from '../services/compose.ts';
import { NoteSubmission } from '../services/guestbook/contract.ts';
import { submitNote } from '../services/guestbook/submit.ts';
import type { Bench, BenchEnvironment } from './environment.ts';
import { loops } from './load.ts';
import type { Comparison, Contender } from './pair.ts';

const SLOW_MS = 5;
export const MESSAGE =
  'A note of the usual length, which says hello and what brought its author here.';

/** Target ratios to each floor, by the number of connections. */
const AIMS = { 8: { insert: 0.5, emmett: 2 }, 32: { insert: 0.8, emmett: 4 } } as const;

type Plans = Pick<Core, 'keys' | 'config'>;

/**
 * Compares one command (event, receipt and read model) with one INSERT and with emmett's append of
 * one event; then does the same for a submitted note, which also enqueues a job for the workers.
 */
export const append: Bench = {
  name: 'append',
  async prepare(setting, without) {
    const comparisons: Comparison[] = [];
    for (const [what, plan, width, flushMs] of [
      ['one command', command, 8],
      ['one command', command, 32],
      ['one command', command, 32, SLOW_MS],
      ['a note and its screening job', note, 8],
      ['a note and its screening job', note, 32],
    ] as const) {
      const urls = {
        ours: await setting.database('migrated', flushMs),
        insert: await setting.database('empty', flushMs),
        emmett: await setting.database('empty', flushMs),
      };
      const disk = flushMs ? `, flushes ${flushMs} ms slower` : '';
      comparisons.push({
        name: `append of ${what}, ${width} connections${disk}`,
        ours: await service(setting, urls.ours, width, plan, without !== 'group-commit'),
        floors: [
          {
            name: 'one-row INSERT',
            aim: AIMS[width].insert,
            contender: await insert(setting, urls.insert, width),
          },
          {
            name: 'emmett append',
            aim: AIMS[width].emmett,
            contender: await emmett(setting, urls.emmett, width),
          },
        ],
      });
    }
    return comparisons;
  },
};

function note(parts: Plans) {
  const body = NoteSubmission.parse({ id: randomUUID(), name: 'Ada', message: MESSAGE });
  return capturedCommand((store) => submitNote({ ...parts, store }, body, null));
}

export function command(parts: Plans): ReturnType<typeof note> {
  const command = note(parts);
  return {
    ...command,
    decide(loaded) {
      const decision = command.decide(loaded);
      return 'appends' in decision ? { ...decision, jobs: [] } : decision;
    },
  };
}

export async function service(
  setting: BenchEnvironment,
  url: string,
  width: number,
  plan: typeof note,
  groupCommit: boolean,
): Promise<Contender> {
  const config = readConfig({
    DATABASE_URL: url,
    SERVER_KEYS: setting.serverKeys,
    DATABASE_POOL_SIZE: String(width),
    GROUP_COMMIT: groupCommit ? 'on' : 'off',
  });
  const core = await createCore(config, 'bench');
  setting.onEnd(core.close);
  return loops(width, async () => {
    const answer = await core.store.execute(plan(core));
    if (isRefusal(answer) || answer.status !== 202) throw new Error('a note was refused');
  });
}

function poolOf(setting: BenchEnvironment, url: string, max: number): pg.Pool {
  const pool = new pg.Pool({ connectionString: url, max });
  setting.onEnd(() => pool.end());
  return pool;
}

async function insert(setting: BenchEnvironment, url: string, width: number): Promise<Contender> {
  const pool = poolOf(setting, url, width);
  await pool.query('CREATE TABLE IF NOT EXISTS notes (id uuid PRIMARY KEY, note jsonb NOT NULL)');
  return loops(width, () =>
    pool.query({
      name: 'insert',
      text: 'INSERT INTO notes (id, note) VALUES ($1, $2)',
      values: [randomUUID(), { name: 'Ada', message: MESSAGE }],
    }),
  );
}

export async function emmett(
  setting: BenchEnvironment,
  url: string,
  width: number,
): Promise<Contender> {
  const pool = poolOf(setting, url, width);
  const store = getPostgreSQLEventStore(url, { connectionOptions: { pool } });
  setting.onEnd(() => store.close());
  await store.schema.migrate();
  return loops(width, () =>
    store.appendToStream(
      `note-${randomUUID()}`,
      [{ type: 'NoteSubmitted', data: { name: 'Ada', message: MESSAGE } }],
      { expectedStreamVersion: 'STREAM_DOES_NOT_EXIST' },
    ),
  );
}
