import { randomUUID } from 'node:crypto';
import { getPostgreSQLEventStore } from '@event-driven-io/emmett-postgresql';
import pg from 'pg';
import { openCore } from '../services/app.ts';
import { readConfig } from '../services/config.ts';
import { isRefusal } from '../services/eventstore/decider.ts';
import { NoteSubmission } from '../services/guestbook/contract.ts';
import { submitPlan } from '../services/guestbook/submit.ts';
import { loops } from './load.ts';
import type { Comparison, Contender } from './pair.ts';
import type { Bench, Setting } from './setting.ts';

const SLOW_MS = 5;
const MESSAGE = 'A note of the usual length, which says hello and what brought its author here.';

/** One command with its event, receipt and read model, beside one INSERT and beside emmett. */
export const append: Bench = {
  name: 'append',
  async prepare(setting) {
    const comparisons: Comparison[] = [];
    for (const [width, flushMs] of [[8], [32], [32, SLOW_MS]] as const) {
      const urls = {
        ours: await setting.database('migrated', flushMs),
        insert: await setting.database('empty', flushMs),
        emmett: await setting.database('empty', flushMs),
      };
      const disk = flushMs ? `, flushes ${flushMs} ms slower` : '';
      comparisons.push({
        name: `append of one command, ${width} connections${disk}`,
        ours: await service(setting, urls.ours, width),
        floors: [
          {
            name: 'one-row INSERT',
            aim: 0.5,
            contender: await insert(setting, urls.insert, width),
          },
          { name: 'emmett append', aim: 2, contender: await emmett(setting, urls.emmett, width) },
        ],
      });
    }
    return comparisons;
  },
};

async function service(setting: Setting, url: string, width: number): Promise<Contender> {
  const config = readConfig({
    DATABASE_URL: url,
    SERVER_KEYS: setting.serverKeys,
    DATABASE_POOL_SIZE: String(width),
  });
  const core = await openCore(config, 'bench');
  setting.onEnd(core.close);
  return loops(width, async () => {
    const body = NoteSubmission.parse({ id: randomUUID(), name: 'Ada', message: MESSAGE });
    const answer = await core.store.execute(submitPlan(core, body, null));
    if (isRefusal(answer) || answer.status !== 202) throw new Error('a note was refused');
  });
}

function poolOf(setting: Setting, url: string, max: number): pg.Pool {
  const pool = new pg.Pool({ connectionString: url, max });
  setting.onEnd(() => pool.end());
  return pool;
}

async function insert(setting: Setting, url: string, width: number): Promise<Contender> {
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

async function emmett(setting: Setting, url: string, width: number): Promise<Contender> {
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
