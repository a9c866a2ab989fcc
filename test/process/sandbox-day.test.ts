import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import t, { type Test } from 'tap';
import { type Instance, startInstance } from '../../harness/instance.ts';

const MINUTE_MS = 60_000;

async function submit({ baseUrl }: Instance): Promise<number> {
  const response = await fetch(`${baseUrl}/api/guestbook`, {
    method: 'POST',
    headers: { origin: baseUrl, 'content-type': 'application/json' },
    body: JSON.stringify({ id: randomUUID(), message: 'Of today', experience: 'service' }),
  });
  return response.status;
}

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
    const page = await fetch(instance.baseUrl)
      .then((answer) => answer.text())
      .catch(() => '');
    const submitted = await submit(instance).catch(() => 0);
    if (Date.now() < at.getTime()) {
      t.teardown(instance.stop);
      t.equal(submitted, 202);
      t.match(page, `Test only, emptied daily at ${emptiedAt} UTC`);
      return { instance, token };
    }
    await instance.stop();
  }
}

t.test('empties itself at its time of day, and keeps its moderators', async (t) => {
  const { instance, token } = await startBeforeEmptying(t);
  const { baseUrl } = instance;
  const authorization = `Bearer ${token}`;
  const waiting = async (): Promise<number> => {
    const response = await fetch(`${baseUrl}/api/moderation/queue`, { headers: { authorization } });
    return ((await response.json()) as { items: unknown[] }).items.length;
  };
  // Its processes stop and start again, so requests meanwhile are refused.
  for (let left = 1; left > 0; await sleep(250)) left = await waiting().catch(() => 1);
  t.equal(await submit(instance), 202);
  t.equal(await waiting(), 1);
});
