import { Agent, get } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import t from 'tap';
import { createApi } from '../../harness/api.ts';
import { patient } from '../../harness/patient.ts';
import { startProcess } from '../support/processes.ts';

const CLIENTS = 20;

t.test('loses no request of keep-alive clients when the process drains', async (t) => {
  const { child, base, untilServes, end } = await startProcess(t, 'web', [
    'ignore',
    'ignore',
    'inherit',
  ]);
  await untilServes();
  const agent = new Agent({ keepAlive: true, maxSockets: CLIENTS });
  t.teardown(() => agent.destroy());
  let closing = 0;
  const request = () =>
    new Promise<string>((resolve) => {
      get(`${base}/livez`, { agent }, (res) => {
        res.resume();
        if (res.headers.connection === 'close') closing++;
        res.once('close', () => resolve(res.complete ? String(res.statusCode) : 'cut'));
      }).once('error', ({ code }: NodeJS.ErrnoException) => resolve(code ?? 'an error'));
    });
  let answered = 0;
  /** Sends requests until one fails; returns how that request ended. */
  const client = async () => {
    for (;;) {
      const answer = await request();
      if (answer !== '200') return answer;
      answered++;
    }
  };
  const clients = Array.from({ length: CLIENTS }, client);
  while (answered < 20 * CLIENTS) await sleep(10);
  t.equal(closing, 0);
  child.kill('SIGTERM');
  t.same(await end(), [0, null]);
  t.same(new Set(await Promise.all(clients)), new Set(['ECONNREFUSED']));
  t.ok(closing <= CLIENTS, `the last response of each connection says so: ${closing}`);
});

t.test('is not ready but accepts connections until the drain delay is over', async (t) => {
  const { child, base, untilServes, end } = await startProcess(
    t,
    'web',
    ['ignore', 'ignore', 'inherit'],
    { DRAIN_DELAY_SECONDS: '300' },
  );
  await untilServes();
  child.kill('SIGTERM');
  const ready = async () => (await fetch(`${base}/readyz`)).status;
  while ((await ready()) === 200) await sleep(10);
  t.equal(await ready(), 503);
  t.equal((await fetch(`${base}/readyz?for=proxy`)).status, 503);
  const api = patient(createApi(base));
  for (let n = 0; n < 20; n++) {
    const answer = await api.call('GET', '/api/guestbook');
    t.equal(answer.status, 200);
    t.equal(answer.headers.get('connection'), 'close');
  }
  child.kill('SIGTERM');
  t.same(await end(), [0, null], 'a second signal ends the delay');
});
