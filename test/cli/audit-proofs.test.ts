import { randomBytes } from 'node:crypto';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import t from 'tap';
import { verifyLog } from '../../cli/verify-log-command.ts';
import { newAgent } from '../../harness/agent.ts';
import { addModerator, submit } from '../../harness/moderation.ts';
import { signedIn } from '../../harness/registration.ts';
import { formatCheckpoint } from '../../platform/tlog/checkpoint.ts';
import { signingKey, signNote, verifierText } from '../../platform/tlog/note.ts';
import type { EventProof } from '../../services/seal/proofs.ts';
import { clientEnv, runModeratorCommand } from '../support/moderator-command.ts';
import { sealAll } from '../support/sealed.ts';
import { startService } from '../support/service.ts';

const SEED = randomBytes(32);
const service = await startService(t, { SEAL_KEY: SEED.toString('hex') });
const ann = await addModerator(service, 'Ann', 'lead');
const unsealed = await ann.get('audit/proofs');
await reject('Gone with the wind', 'No adverts, please');
await reject('Buy a boat', 'Really not');
await sealAll(service);
const keys = (await service.call('GET', '/api/v1/discovery')).body.identity.log_keys;
const key = String(keys[0]);
const file = join(t.testdir(), 'audit.jsonl');

/** Rejects a new note with a message to its author. */
async function reject(text: string, message: string) {
  const { id } = await submit(service, { message: text });
  const body = { action: 'reject', policy: 'spam', message, expected_version: 1 };
  const { status } = await ann.post(`notes/${id}/decisions`, body);
  if (status !== 201) throw new Error(`the decision is answered by ${status}`);
}

const shownOf = ({ facts, words }: EventProof) =>
  Object.fromEntries(
    [...facts, ...(words ?? [])].flatMap(({ name, text }) =>
      text === undefined ? [] : [[name, JSON.parse(text)]],
    ),
  );

t.test('proves each entry of the audit with what the audit shows, page by page', async (t) => {
  t.match(unsealed, { status: 404, body: { error: { code: 'not_found' } } });
  const { entries } = (await ann.get('audit')).body;
  const proven = [];
  let cursor = '';
  do {
    const { body } = await ann.get(`audit/proofs?limit=1${cursor}`);
    t.equal(body.events.length, 1);
    proven.push(...body.events);
    cursor = body.next_cursor === null ? '' : `&cursor=${body.next_cursor}`;
  } while (cursor !== '');
  t.equal(proven.length, entries.length);
  for (const [index, entry] of entries.entries()) {
    const shown = shownOf(proven[index]);
    t.match(shown, { position: entry.position, event_id: entry.id, type: entry.type });
    for (const [name, value] of Object.entries(entry.data)) t.same(shown[`data.${name}`], value);
    t.equal(shown.owner_id, undefined);
    t.same(
      Object.keys(shown).filter((name) => name.startsWith('personal')),
      [],
    );
  }
  t.notMatch((await ann.get('audit/proofs')).text, /wind|boat|adverts|Really/);
});

t.test('gives proofs of the audit to moderators alone', async (t) => {
  const member = await signedIn(service);
  const agent = await newAgent(service);
  const path = '/api/moderation/audit/proofs';
  for (const answer of [
    await service.call('GET', path),
    await service.call('GET', path, { cookie: member.cookie }),
    await agent.call('GET', path),
  ])
    t.match(answer, { status: 401, body: { error: { code: 'moderator_required' } } });
  for (const text of ['x', '2 1 audit', '1 x audit', 'note-1 1 proofs']) {
    const cursor = Buffer.from(text).toString('base64url');
    t.equal((await ann.get(`audit/proofs?cursor=${cursor}`)).status, 400, text);
  }
});

t.test('the exported audit verifies without the service', async (t) => {
  const exported = await runModeratorCommand(clientEnv(service, ann.token), ['audit', '--proofs']);
  t.equal(exported.code, 0, exported.stderr);
  await writeFile(file, exported.stdout);
  const verified = await verifyLog(['--key', key, '--proof', file]);
  t.equal(verified.status, 0, verified.err);
  t.match(verified.out, /^In the log at \d+: .*type="NoteRejected".*data\.policy="spam"/m);
  t.match(verified.out, /^Verified 3 proofs in trees of \d+ events, signed by .*not asked\n$/m);
  t.equal((await verifyLog([service.baseUrl, '--key', key, '--proof', file])).status, 0);

  const other = verifierText(key.split('+')[0] ?? '', signingKey(randomBytes(32)));
  t.match(await verifyLog(['--key', other, '--proof', file]), { status: 1, out: '' });
  for (const [what, text] of [
    ['another policy', exported.stdout.replace('\\"spam\\"', '\\"hate\\"')],
    ['a cut line', exported.stdout.slice(0, -20)],
    ['a line of other content', `${exported.stdout}{}\n`],
    ['no line', ''],
  ] as const) {
    t.not(text, exported.stdout, what);
    await writeFile(file, text);
    t.match(await verifyLog(['--key', key, '--proof', file]), { status: 1, out: '' }, what);
  }
});

t.test(
  'two signed trees of one size that differ are a fork, also without the service',
  async (t) => {
    const { body } = await ann.get('audit/proofs');
    const [origin = '', size = ''] = body.checkpoint.split('\n');
    const another = formatCheckpoint({
      origin,
      size: Number(size),
      root: randomBytes(32),
      extensions: [],
    });
    const forged = { checkpoint: signNote(another, origin, [signingKey(SEED)]), events: [] };
    await writeFile(file, `${JSON.stringify(body)}\n${JSON.stringify(forged)}\n`);
    t.match(await verifyLog(['--key', key, '--proof', file]), {
      status: 3,
      err: /^FORK: two trees of \d+ events differ/,
    });
  },
);

t.test('without a service, a key and proofs are needed', async (t) => {
  for (const args of [
    ['--proof', file],
    ['--key', key],
    ['--key', key, '--proof', file, '--state', file],
  ])
    t.match(await verifyLog(args), { status: 2, out: '' }, args.join(' '));
});
