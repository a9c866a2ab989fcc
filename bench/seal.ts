import { randomBytes, randomUUID } from 'node:crypto';
import { capturedCommand } from '../harness/captured-command.ts';
import { readConfig } from '../platform/config.ts';
import { isRefusal } from '../platform/refusal.ts';
import { createCore } from '../services/compose.ts';
import { NoteSubmission } from '../services/guestbook/contract.ts';
import { submitNote } from '../services/guestbook/submit.ts';
import { sealCommitted } from '../services/seal/seal-log.ts';
import type { Bench } from './environment.ts';
import { loops } from './load.ts';

/** Events of a backlog, of the length of a note. */
const BACKLOG = 10_000;
const WIDTH = 32;
const MESSAGE = 'A note of the usual length, which says hello and what brought its author here.';

/** Compares the sealing of a backlog by one worker with the appends of one web process. */
export const seal: Bench = {
  name: 'seal',
  async prepare(setting) {
    const url = await setting.database('migrated');
    const config = readConfig({
      DATABASE_URL: url,
      SERVER_KEYS: setting.serverKeys,
      SEAL_KEY: randomBytes(32).toString('hex'),
      DATABASE_POOL_SIZE: String(WIDTH),
    });
    const core = await createCore(config, 'bench');
    setting.onEnd(core.close);
    const newNote = () => {
      const body = NoteSubmission.parse({ id: randomUUID(), name: 'Ada', message: MESSAGE });
      return capturedCommand((store) => submitNote({ ...core, store }, body, null));
    };
    const appends = loops(WIDTH, async () => {
      const answer = await core.store.execute(newNote());
      if (isRefusal(answer) || answer.status !== 202) throw new Error('a note was refused');
    });
    return [
      {
        name: 'sealing of a backlog',
        ours: {
          async run() {
            await sealCommitted(core);
            await core.pool.query(
              `INSERT INTO events (owner_id, stream_id, stream_version, event_id, type, data, personal,
                 actor, recorded_at)
               SELECT id, 'note-' || id, 1, gen_random_uuid(), 'NoteSubmitted',
                 jsonb_build_object('note_id', id, 'attribution', 'guest', 'experience', 'service',
                   'parent_id', NULL),
                 jsonb_build_object('name', 'Ada', 'message', $2::text), '{"type": "guest"}',
                 clock_timestamp()
               FROM (SELECT gen_random_uuid() AS id FROM generate_series(1, $1::int)) ids`,
              [BACKLOG, MESSAGE],
            );
            const started = performance.now();
            const { sealed } = await sealCommitted(core);
            return (sealed * 1000) / (performance.now() - started);
          },
        },
        floors: [{ name: 'append of notes, 32 connections', aim: 2, contender: appends }],
      },
    ];
  },
};
