import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { newAgent } from '../../harness/agent.ts';
import { createApi } from '../../harness/api.ts';
import { createCaseCommands, createOpenCase } from '../../harness/cases.ts';
import { temporaryFolder } from '../../harness/temporary-folder.ts';
import { startFaultProxy } from '../support/fault-proxy.ts';
import { startService } from '../support/service.ts';
import { countEvents, svcIn, until, untilExists } from '../support/svc.ts';

// `svc case claim ID --hold -- COMMAND`: the lease lasts as long as the command.

const proxy = await startFaultProxy(t, () => service.baseUrl);
const service = await startService(t, { BASE_URL: proxy.url });
const { path, remove } = temporaryFolder('svc');
t.teardown(remove);
const author = createCaseCommands(await newAgent(createApi(proxy.url)));
const svc = svcIn(t, join(path, 'home'), proxy.url);
if ((await svc('register', 'holder_of_cases')).code !== 0) throw new Error('not registered');

/** A new case, and a shell script that runs until the file `end` exists. */
async function newCase() {
  const id = await createOpenCase(author);
  const [begun, end] = [join(path, `${id}.begun`), join(path, `${id}.end`)];
  const script = `touch ${begun}; while [ -d ${path} ] && [ ! -e ${end} ]; do sleep 0.05; done`;
  return {
    id,
    begun,
    script,
    end: () => writeFileSync(end, ''),
    state: async () => (await author.agent.call('GET', `/api/v1/cases/${id}`)).body.case,
  };
}

const held = (id: string, script: string, every = 1) => [
  ...['case', 'claim', id, '--lease', '300', '--hold', '--extend-every', String(every)],
  ...['--', 'sh', '-c', script],
];

t.test(
  'extends the lease while the command runs, and keeps the case after a success',
  async (t) => {
    const { id, script, end, state } = await newCase();
    const { ended } = svc.start(...held(id, `${script}; echo "worked on $SVC_CASE_ID"`));
    const before = await countEvents(service, 'CaseLeaseExtended');
    await until(async () => (await countEvents(service, 'CaseLeaseExtended')) >= before + 2);
    end();
    t.match(await ended, { code: 0, out: `worked on ${id}` });
    t.match(await state(), { state: 'claimed' });
    t.match(await svc('case', 'submit', id, 'Done'), { code: 0 });
  },
);

t.test('passes on the exit code of a command that fails, and gives the case back', async (t) => {
  const { id, state } = await newCase();
  t.match(await svc(...held(id, 'exit 9', 60)), { code: 9 });
  t.match(await state(), { state: 'open' });
});

t.test('gives the case back where the command is missing or is killed', async (t) => {
  const { id, state } = await newCase();
  const words = ['case', 'claim', id, '--hold', '--'];
  t.match(await svc(...words, 'no-such-program'), { code: 127, err: /Cannot run/ });
  t.match(await state(), { state: 'open' });
  t.match(await svc(...words, 'sh', '-c', 'kill -9 $$'), { code: 128 + 9 });
  t.match(await state(), { state: 'open' });
});

t.test('passes signals to the command, also while the command starts', async (t) => {
  const { id, begun, script, state } = await newCase();
  const { child, ended } = svc.start(...held(id, `trap 'exit 3' TERM; ${script}`, 60));
  await untilExists(begun);
  child.kill('SIGTERM');
  t.match(await ended, { code: 3 });
  t.match(await state(), { state: 'open' });

  // Here the first thing that the command does is to send the signal.
  const early = ['sh', '-c', `trap 'exit 4' TERM; kill -TERM $PPID; ${script}`];
  t.match(await svc('case', 'claim', id, '--hold', '--', ...early), { code: 4 });
  t.match(await state(), { state: 'open' });
});

t.test('ends the command where the lease is lost', async (t) => {
  const { id, begun, script, state } = await newCase();
  const { ended } = svc.start(...held(id, script));
  await untilExists(begun);
  t.match(await svc('case', 'release', id), { code: 0 });
  t.match(await ended, { code: 7, err: /lease was lost/ });
  t.match(await state(), { state: 'open' });
});

t.test('gives the case back where an extension has no answer yet', async (t) => {
  const { id, begun, script, end, state } = await newCase();
  const { ended } = svc.start(...held(id, `${script}; exit 5`));
  await untilExists(begun);
  await proxy.stallResponseTo(`POST /api/v1/cases/${id}/claim`);
  end();
  t.match(await ended, { code: 5, err: '' });
  t.match(await state(), { state: 'open' });
});

t.test('gives a case back that has changed since it was read', async (t) => {
  const { id, state } = await newCase();
  t.match(await svc('case', 'claim', id), { code: 0 });
  proxy.beforeResponseTo(`GET /api/v1/cases/${id}`, () =>
    svc('case', 'claim', id, '--lease', '600'),
  );
  t.match(await svc('case', 'release', id), { code: 0 });
  t.match(await state(), { state: 'open', version: 4 });
});

t.test('goes on with the case where its process was killed', async (t) => {
  const { id, begun, script, end, state } = await newCase();
  const first = svc.start(...held(id, script, 60));
  await untilExists(begun);
  first.child.kill('SIGKILL');
  // Its command goes on, and has its output.
  await once(first.child, 'exit');
  t.match(await state(), { state: 'claimed' });
  end();
  t.match(await svc(...held(id, 'exit 0', 60)), { code: 0 });
  t.match(await state(), { state: 'claimed' });
});

t.test('claims once where the answer is lost, and nothing without a command', async (t) => {
  const { id, state } = await newCase();
  t.match(await svc('case', 'claim', id, '--hold'), { code: 2 });
  t.match(await svc('case', 'claim', id, '--', 'true'), { code: 2 });
  t.match(await state(), { state: 'open' });
  proxy.dropResponseTo(`POST /api/v1/cases/${id}/claim`);
  t.match(await svc('case', 'claim', id), { code: 0 });
  t.match(await state(), { state: 'claimed', version: 2 });
});
