import { randomBytes } from 'node:crypto';
import { Registry } from 'prom-client';
import t, { type Test } from 'tap';
import { checkSeal } from '../../cli/doctor/log.ts';
import { verifyLog } from '../../cli/verify-log-command.ts';
import { addModerator, decide, submit } from '../../harness/moderation.ts';
import { query } from '../../platform/postgres/query.ts';
import { parseVerifier, signingKey, verifierText } from '../../platform/tlog/note.ts';
import { sealMetrics } from '../../services/seal/seal-metrics.ts';
import { publishCheckpoint } from '../../services/seal/witnesses.ts';
import { sealNow } from '../support/sealed.ts';
import { startService } from '../support/service.ts';
import { createWitnessKey, startWitness } from '../support/witness.ts';

/** Starts a service whose checkpoints two witnesses co-sign. */
async function startWitnessed(t: Test) {
  const seed = randomBytes(32);
  let origin = '';
  const log = () => {
    const key = parseVerifier(verifierText(origin, signingKey(seed)));
    if (!key) throw new Error('no key');
    return key;
  };
  const first = await startWitness(t, 'witness.example/one', log);
  const second = await startWitness(t, 'witness.example/second', log);
  const service = await startService(t, {
    SEAL_KEY: seed.toString('hex'),
    LOG_WITNESSES: `${first.setting}, ${second.setting}`,
  });
  origin = `${new URL(service.baseUrl).host}/log/1`;
  const key = verifierText(origin, signingKey(seed));
  /** Runs the job as a worker does. */
  const seal = async () => {
    const sealed = await sealNow(service.core);
    return { ...sealed, ...(await publishCheckpoint(service.core)) };
  };
  const verify = (...witnesses: string[]) =>
    verifyLog([
      service.baseUrl,
      ...['--key', key],
      ...witnesses.flatMap((witness) => ['--witness', witness]),
    ]);
  const doctor = () => checkSeal({ ask: (statement) => query(service.core.pool, statement) });
  return { service, first, second, key, seal, verify, doctor };
}

t.test('a checkpoint carries the signatures of its witnesses', async (t) => {
  const { service, first, second, seal, verify, doctor } = await startWitnessed(t);
  await submit(service);
  t.match(await seal(), { failures: {} });
  const both = await verify(first.vkey, second.vkey);
  t.match(both, { status: 0, out: /^Co-signed by witness\.example\/one, witness\.example\/sec/m });
  t.equal(first.calls[0]?.path, '/w/add-checkpoint');
  const calls = first.calls.length;
  t.match(await seal(), { sealed: 0, failures: {} });
  t.equal(first.calls.length, calls, 'a checkpoint that is co-signed is not sent again');
  for (let count = 0; count < 3; count++) await submit(service);
  t.match(await seal(), { failures: {} });
  t.equal((await verify(first.vkey, second.vkey)).status, 0, 'with a proof of consistency');
  t.match(await doctor(), [{ level: 'ok' }]);
  const stranger = await verify(first.vkey, createWitnessKey('witness.example/one', 77).vkey);
  t.match(stranger, { status: 1, err: /not co-signed by witness\.example\/one/ });
});

t.test('metrics say which witness is missing, and when each signed last', async (t) => {
  const { service, first, second, seal } = await startWitnessed(t);
  const metrics = async () => {
    const registry = new Registry();
    sealMetrics(registry, service.core.pool, service.core.config);
    const text = await registry.metrics();
    const lines = text.matchAll(/^(seal_witness_\w+)\{witness="witness\.example\/(\w+)"\} (.+)$/gm);
    return Object.fromEntries(
      [...lines].map(([, name, witness, value]) => [`${name} ${witness}`, Number(value)]),
    );
  };
  t.same(await metrics(), {}, 'nothing is sealed');
  await submit(service);
  second.state.answer = (response) => void response.writeHead(500).end();
  await seal();
  const before = await metrics();
  t.match(before, {
    'seal_witness_missing one': 0,
    'seal_witness_cosigned_at one': Number,
    'seal_witness_missing second': 1,
  });
  t.notOk('seal_witness_cosigned_at second' in before, 'it has never signed');
  delete second.state.answer;
  await seal();
  const both = await metrics();
  t.equal(both['seal_witness_missing second'], 0);
  t.ok(
    Number(both['seal_witness_cosigned_at second']) > Number(both['seal_witness_cosigned_at one']),
  );
  first.state.answer = (response) => response.destroy();
  await submit(service);
  await seal();
  const after = await metrics();
  t.equal(after['seal_witness_missing one'], 1);
  t.equal(after['seal_witness_cosigned_at one'], both['seal_witness_cosigned_at one'], 'as before');
  t.ok(
    Number(after['seal_witness_cosigned_at second']) >
      Number(both['seal_witness_cosigned_at second']),
  );
});

t.test('a witness that is away or wrong delays nothing, and is asked again', async (t) => {
  const { service, first, second, seal, verify, doctor } = await startWitnessed(t);
  const moderator = await addModerator(service, 'Ann');
  const { id } = await submit(service);
  await decide(moderator, id, 'approve');
  const other = createWitnessKey('witness.example/second', 99);
  const faults: [what: string, answer: typeof second.state.answer, reason: RegExp][] = [
    ['closed', (response) => response.destroy(), /econnreset/],
    ['an error', (response) => void response.writeHead(500).end(), /^status_500$/],
    [
      'a redirect',
      (response) => void response.writeHead(307, { location: service.baseUrl }).end(),
      /^status_307$/,
    ],
    ['no signature', (response) => void response.end('hello\n'), /^not_signed$/],
    [
      'the signature of another',
      (response, { body }) => void response.end(other.cosign(body.split('\n\n')[1] ?? '')),
      /^not_signed$/,
    ],
    [
      'a body without end',
      (response) => {
        const more = () => {
          while (!response.destroyed && response.write('x'.repeat(1024)));
          if (!response.destroyed) response.once('drain', more);
        };
        more();
      },
      /^not_signed$/,
    ],
    [
      'a size without meaning',
      (response) =>
        void response.writeHead(409, { 'content-type': 'text/x.tlog.size' }).end('-1\n'),
      /^malformed_size$/,
    ],
    [
      'more events than there are',
      (response) =>
        void response.writeHead(409, { 'content-type': 'text/x.tlog.size' }).end('9999\n'),
      /^has_signed_9999_events$/,
    ],
    [
      'the same size with each question',
      (response) => void response.writeHead(409, { 'content-type': 'text/x.tlog.size' }).end('0\n'),
      /^status_409$/,
    ],
  ];
  for (const [what, answer, reason] of faults) {
    second.state.answer = answer;
    await submit(service);
    const { sealed, failures } = await seal();
    t.equal(sealed > 0, true, what);
    t.match(failures, { 'witness.example/second': reason }, what);
    t.equal((await verify(first.vkey)).status, 0, what);
    t.match(await verify(first.vkey, second.vkey), { status: 1, err: /not co-signed/ }, what);
    t.match(await doctor(), [{ level: 'warn', text: /example\/second \(/ }], what);
  }
  delete second.state.answer;
  const asked = first.calls.length;
  t.match(await seal(), { sealed: 0, failures: {} });
  t.equal(first.calls.length, asked, 'only the one that is missing is asked');
  t.equal((await verify(first.vkey, second.vkey)).status, 0);
});

t.test('an event that waits for witnesses is neither public nor proven', async (t) => {
  const { service, first, seal, verify, key } = await startWitnessed(t);
  const moderator = await addModerator(service, 'Ann');
  await decide(moderator, (await submit(service)).id, 'approve');
  await seal();
  const before = (await service.call('GET', '/log/checkpoint')).text;
  const { id } = await submit(service);
  await decide(moderator, id, 'approve');
  t.ok((await sealNow(service.core)).sealed > 0);
  t.equal((await service.call('GET', '/log/checkpoint')).text, before);
  t.equal((await verify(first.vkey)).status, 0, 'partial tiles of a larger tree');
  const waiting = await service.call('GET', `/log/proofs/note/${id}`);
  t.match(waiting.body, { checkpoint: before, events: [], unsealed: 1 });
  t.notMatch((await service.call('GET', `/notes/${id}`)).text, /In the log at/);
  await seal();
  const sealed = await service.call('GET', `/log/proofs/note/${id}`);
  t.match(sealed.body, { unsealed: 0, checkpoint: /example\/one/ });
  t.match((await service.call('GET', `/notes/${id}`)).text, /In the log at/);

  const { pool, config } = service.core;
  const alone = { pool, config: { ...config, logWitnesses: [] } };
  await submit(service);
  await sealNow(service.core);
  await publishCheckpoint(alone);
  const { text } = await service.call('GET', '/log/checkpoint');
  t.notMatch(text, /example/, 'without witnesses, the last checkpoint is public');
  t.equal((await verifyLog([service.baseUrl, '--key', key])).status, 0);
});
