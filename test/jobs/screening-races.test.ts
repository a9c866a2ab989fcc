import { setTimeout as sleep } from 'node:timers/promises';
import t from 'tap';
import { newAgent } from '../../harness/agent.ts';
import { readCookie } from '../../harness/api.ts';
import { submitAs } from '../../harness/moderation.ts';
import { eraseMembers } from '../../workers/account/erase-member.ts';
import { screenNote } from '../../workers/screening/screen-note.ts';
import { countLockWaits, whileWaitingForLock } from '../support/meanwhile.ts';
import { type Service, startService } from '../support/service.ts';
import { tracesInTables } from '../support/traces.ts';

const MESSAGE = 'Oh shit, see example.com/wholly-unlikely-words';

/** Creates a member with a pending note whose words a screening would record. */
async function createAuthor(service: Service) {
  const agent = await newAgent(service);
  const { id, sign_in_key, handle } = agent;
  const login = await service.call('POST', '/api/membership/login', { body: { id, sign_in_key } });
  const note = await submitAs(service, { handle, cookie: readCookie(login) }, { message: MESSAGE });
  const remove = () => agent.call('POST', '/api/v1/me/delete', { confirm_handle: handle });
  return { ...agent, note_id: note.id, remove };
}

const readScreenings = async (service: Service, noteId: string) =>
  (
    await service.database.pool.query('SELECT personal FROM events WHERE stream_id = $1', [
      `screening-${noteId}`,
    ])
  ).rows;

t.test("waits with a screening for its author's deletion and records nothing", async (t) => {
  // As a batch, the deletion would wait for 200 ms only, and leave its locks before it runs alone.
  const service = await startService(t, { GROUP_COMMIT: 'off' });
  const { pool } = service.database;
  const [first, gone] = [await createAuthor(service), await createAuthor(service)];
  t.equal(await screenNote(service.core, first), true, 'warms the caches of a screening');
  let screened: Promise<boolean> | undefined;
  const screening = async () => {
    let done = false;
    screened = screenNote(service.core, gone);
    const end = () => {
      done = true;
    };
    screened.then(end, end);
    while ((await countLockWaits(pool)) < 2 && !done) await sleep(5);
    t.notOk(done, 'the screening waits');
  };
  // The deletion holds its member's lock when it counts the members.
  const totalsLock = 'SELECT FROM membership_totals FOR UPDATE';
  t.equal((await whileWaitingForLock(pool, totalsLock, gone.remove, screening)).status, 200);
  t.equal(await screened, false);
  t.same(await readScreenings(service, gone.note_id), []);
  t.equal((await readScreenings(service, first.note_id)).length, 1);
});

t.test('records nothing about a note that was erased during its screening', async (t) => {
  const service = await startService(t);
  const gone = await createAuthor(service);
  const { store } = service.core;
  const execute: typeof store.execute = async (command) => {
    t.equal((await gone.remove()).status, 200);
    t.equal(await eraseMembers(service.core, { member_id: gone.id }), 1);
    return store.execute(command);
  };
  const late = { ...service.core, store: { ...store, execute } };
  t.equal(await screenNote(late, gone), false);
  t.same(await readScreenings(service, gone.note_id), []);
  t.same(await tracesInTables(service.database.pool, [MESSAGE, 'wholly-unlikely-words']), []);
});
