import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import t, { type Test } from 'tap';
import { startInstance } from '../../harness/instance.ts';

const MINUTE_MS = 60_000;

/** Starts a sandbox that will be emptied at the next full minute, or at a later one if it starts slowly. */
async function startBeforeEmptying(t: Test) {
  for (;;) {
    const at = new Date(Math.ceil(Date.now() / MINUTE_MS + 0.5) * MINUTE_MS);
    const emptiedAt = at.toISOString().slice(11, 16);
    const settings = { SANDBOX: 'true', SANDBOX_EMPTIED_AT: emptiedAt };
    const instance = await startInstance({ settings });
    if (Date.now() < at.getTime()) {
      t.teardown(instance.stop);
      return { instance, emptiedAt };
    }
    await instance.stop();
  }
}

t.test('empties itself at its time of day, and keeps its moderators', async (t) => {
  const { instance, emptiedAt } = await startBeforeEmptying(t);
  const { baseUrl } = instance;
  t.match(await (await fetch(baseUrl)).text(), `Test only, emptied daily at ${emptiedAt} UTC`);
  const submit = async () => {
    const response = await fetch(`${baseUrl}/api/guestbook`, {
      method: 'POST',
      headers: { origin: baseUrl, 'content-type': 'application/json' },
      body: JSON.stringify({ id: randomUUID(), message: 'Of today', experience: 'service' }),
    });
    return response.status;
  };
  const authorization = `Bearer ${await instance.moderator('Ann', 'lead')}`;
  const waiting = async (): Promise<number> => {
    const response = await fetch(`${baseUrl}/api/moderation/queue`, { headers: { authorization } });
    return ((await response.json()) as { items: unknown[] }).items.length;
  };
  t.equal(await submit(), 202);

  // Its processes stop and start again, so requests meanwhile are refused.
  for (let left = 1; left > 0; await sleep(250)) left = await waiting().catch(() => 1);
  t.equal(await submit(), 202);
  t.equal(await waiting(), 1);
});
