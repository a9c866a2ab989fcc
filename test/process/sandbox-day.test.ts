import { setTimeout as sleep } from 'node:timers/promises';
import t, { type Test } from 'tap';
import { createApi } from '../../harness/api.ts';
import { startInstance } from '../../harness/instance.ts';
import { atDesk, submit } from '../../harness/moderation.ts';
import { patient } from '../../harness/patient.ts';

const MINUTE_MS = 60_000;

const NOTE = { message: 'Of today', experience: 'service' };

/**
 * Starts a sandbox with a moderator and a note that will be emptied at the next full minute, or at a later one where that
 * takes longer.
 */
async function startBeforeEmptying(t: Test) {
  for (let minutes = 0.5; ; minutes++) {
    const at = new Date(Math.ceil(Date.now() / MINUTE_MS + minutes) * MINUTE_MS);
    const emptiedAt = at.toISOString().slice(11, 16);
    const settings = { SANDBOX: 'true', SANDBOX_EMPTIED_AT: emptiedAt };
    const instance = await startInstance({ settings });
    const token = await instance.moderator('Ann', 'lead');
    const api = patient(createApi(instance.baseUrl));
    const { text: page } = await api.call('GET', '/');
    await submit(api, NOTE);
    if (Date.now() < at.getTime()) {
      t.teardown(instance.stop);
      t.match(page, `Test only, emptied daily at ${emptiedAt} UTC`);
      return { api, token };
    }
    await instance.stop();
  }
}

t.test('empties itself at its time of day, and keeps its moderators', async (t) => {
  const { api, token } = await startBeforeEmptying(t);
  const desk = atDesk(api, { id: 'Ann', token });
  const waiting = async (): Promise<number> => (await desk.get('queue')).body.items.length;
  // Its processes stop and start again, so requests meanwhile are refused.
  for (let left = 1; left > 0; await sleep(250)) left = await waiting().catch(() => 1);
  await submit(api, NOTE);
  t.equal(await waiting(), 1);
});
