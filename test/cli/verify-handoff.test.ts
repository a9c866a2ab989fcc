import { execFileSync, spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, rmSync, symlinkSync, truncateSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import t from 'tap';
import { verifyHandoff } from '../../cli/verify-handoff-command.ts';
import { brief, changed, EXAMPLE, handoff } from '../../harness/packets.ts';
import { temporaryFolder } from '../../harness/temporary-folder.ts';
import { contentHash } from '../../platform/json.ts';
import { FIXTURE_CASES, NEXT_ACTION } from '../../services/artifacts/fixture.ts';

const COMMAND = join(import.meta.dirname, '../../cli/verify-handoff.ts');
const ARTIFACT = 'artifact/catalogue.csv';
const LEDGER = 'ledger/operations.jsonl';
const EVIDENCE = 'evidence/import-report.json';

const run = (...args: string[]) => verifyHandoff(args);

type Ending = { teardown(end: () => void): unknown };

/** Copies the example, so that a test can damage it. */
function example(t: Ending) {
  const { path, remove } = temporaryFolder('handoff');
  t.teardown(remove);
  cpSync(EXAMPLE, path, { recursive: true });
  const root = join(path, 'fixture');
  const packetPath = join(path, 'packet.json');
  const at = (name: string, file: string) => join(root, name, file);

  /** Runs the check and also returns the state found for each case, by name. */
  async function verify() {
    const ran = await run(packetPath, '--root', root, '--json');
    const report = ran.out ? JSON.parse(ran.out) : { cases: [] };
    const found: Record<string, string> = {};
    for (const checked of report.cases) found[checked.name] = checked.found.state;
    return { ...ran, report, found };
  }

  const writePacket = (packet: unknown) => writeFileSync(packetPath, JSON.stringify(packet));
  return { path, root, packetPath, at, verify, writePacket };
}

t.test('finds the shipped example as expected, case by case', async (t) => {
  const { verify } = example(t);
  const { status, report, err } = await verify();
  t.equal(status, 0);
  t.equal(err, '');
  t.equal(report.as_expected, true);
  t.same(report.packet_issues, []);
  t.equal(report.cases.length, 5);
  for (const [index, [name, state]] of Object.entries(FIXTURE_CASES).entries()) {
    const found = { state, next_action: NEXT_ACTION[state], operations_issued: 0 };
    t.same(report.cases[index], { name, expected: found, found, as_expected: true, remarks: [] });
  }
});

t.test('describes what was expected and what was found', async (t) => {
  const { packetPath, root, at } = example(t);
  const fine = await run(packetPath, '--root', root);
  t.equal(fine.status, 0);
  t.match(fine.out, /Every case was found as expected/);
  rmSync(at('baseline', ARTIFACT));
  const { status, out } = await run(packetPath, '--root', root);
  t.equal(status, 10);
  t.match(out, /DIFFER {2}"baseline"\n +expected {2}ready.*\n +found {5}missing_artifact/);
});

t.test('exits with the status of the gravest unexpected state', async (t) => {
  const spoil: [
    status: number,
    state: string,
    (at: (name: string, file: string) => string) => void,
  ][] = [
    [10, 'missing_artifact', (at) => rmSync(at('baseline', ARTIFACT))],
    [11, 'integrity_mismatch', (at) => truncateSync(at('baseline', ARTIFACT), 10)],
    [
      12,
      'reconciliation_required',
      (at) => cpSync(at('unknown-side-effect', LEDGER), at('baseline', LEDGER)),
    ],
  ];
  for (const [expected, state, change] of spoil) {
    const { at, verify } = example(t);
    change(at);
    const { status, found, report } = await verify();
    t.equal(status, expected);
    t.equal(found.baseline, state);
    t.equal(report.as_expected, false);
  }
  const unproven = example(t);
  rmSync(unproven.at('baseline', EVIDENCE));
  t.equal((await unproven.verify()).status, 13);
  const ready = example(t);
  cpSync(ready.at('baseline', ARTIFACT), ready.at('altered-artifact', ARTIFACT));
  t.equal((await ready.verify()).status, 14);
  rmSync(ready.at('baseline', EVIDENCE));
  t.equal((await ready.verify()).status, 13, 'the graver state decides');
});

t.test('refuses paths that leave their folder, also by a link', async (t) => {
  const secret = temporaryFolder('outside');
  t.teardown(secret.remove);
  cpSync(join(EXAMPLE, 'fixture', 'baseline'), secret.path, { recursive: true });
  const link = (target: string, place: string) => {
    rmSync(place, { recursive: true });
    symlinkSync(target, place);
  };
  for (const [what, folder, state] of [
    [ARTIFACT, 'artifact', 'missing_artifact'],
    [LEDGER, 'ledger', 'reconciliation_required'],
    [EVIDENCE, 'evidence', 'completion_unproven'],
  ] as const) {
    for (const linked of [what, folder]) {
      const { at, verify } = example(t);
      link(join(secret.path, linked), at('baseline', linked));
      const { found, report, status } = await verify();
      t.equal(found.baseline, state, `${linked} is a link`);
      t.not(status, 0);
      t.match(report.cases[0].remarks, [/a link, which is not followed/]);
    }
  }
  const whole = example(t);
  link(secret.path, join(whole.root, 'baseline'));
  t.equal((await whole.verify()).found.baseline, 'missing_artifact');
  const dangling = example(t);
  link('/nowhere/at/all', dangling.at('baseline', LEDGER));
  t.equal((await dangling.verify()).found.baseline, 'reconciliation_required');

  for (const path of ['../outside', '/etc/passwd', 'a/../../../x', 'C:/x']) {
    const escaping = example(t);
    escaping.writePacket(changed(handoff(), 'content.portable_fixture.artifact.path', path));
    const { status, out, err } = await escaping.verify();
    t.equal(status, 2, path);
    t.equal(out, '');
    t.match(err, /must be a relative path/);
  }
});

t.test('accepts a root that is a link', async (t) => {
  const { path, root, packetPath } = example(t);
  symlinkSync(root, join(path, 'link'));
  t.equal((await run(packetPath, '--root', join(path, 'link'))).status, 0);
});

t.test('skips anything that is not a regular file', async (t) => {
  const pipe = example(t);
  rmSync(pipe.at('baseline', ARTIFACT));
  execFileSync('mkfifo', [pipe.at('baseline', ARTIFACT)]);
  t.equal((await pipe.verify()).found.baseline, 'missing_artifact');
  const folder = example(t);
  rmSync(folder.at('baseline', LEDGER));
  mkdirSync(folder.at('baseline', LEDGER));
  t.equal((await folder.verify()).found.baseline, 'reconciliation_required');
  const socket = example(t);
  rmSync(socket.at('baseline', EVIDENCE));
  const server = createServer();
  await new Promise<void>((done) => server.listen(socket.at('baseline', EVIDENCE), done));
  t.equal((await socket.verify()).found.baseline, 'completion_unproven');
  await new Promise((done) => server.close(done));
  const nothing = example(t);
  rmSync(join(nothing.root, 'missing-artifact'), { recursive: true });
  const { status, report } = await nothing.verify();
  t.equal(status, 0);
  t.match(report.cases[1].remarks, [/there is no such folder/]);
});

t.test('reads a bad ledger line as unknown and a missing ledger as empty', async (t) => {
  const done = '{"operation_id":"a","outcome":"done"}';
  for (const [ledger, state] of [
    ['', 'ready'],
    [`\n${done}\r\n\n  \n{"operation_id":"b","outcome":"failed","at":"12:00"}`, 'ready'],
    [`${done}\n{"operation_id":"b","outcome":"unknown"}`, 'reconciliation_required'],
    [
      '{"operation_id":"a","outcome":"unknown"}\n{"operation_id":"a","outcome":"done"}\n',
      'reconciliation_required',
    ],
    [`${done}\n{"operation_id":"b","outcome":`, 'reconciliation_required'],
    ['{"operation_id":"a","outcome":"perhaps"}', 'reconciliation_required'],
    ['{"outcome":"done"}', 'reconciliation_required'],
    ['[]', 'reconciliation_required'],
    ['{"operation_id":"a","outcome":"unknown","outcome":"done"}', 'reconciliation_required'],
    [Buffer.from([0xff, 0x0a]), 'reconciliation_required'],
  ] as const) {
    const { at, verify } = example(t);
    writeFileSync(at('baseline', LEDGER), ledger);
    t.equal((await verify()).found.baseline, state, String(ledger));
  }
  const none = example(t);
  rmSync(none.at('baseline', LEDGER));
  t.equal((await none.verify()).found.baseline, 'ready');
  const huge = example(t);
  truncateSync(huge.at('baseline', LEDGER), 16 * 1024 * 1024 + 1);
  const { found, report } = await huge.verify();
  t.equal(found.baseline, 'reconciliation_required');
  t.match(report.cases[0].remarks, [/larger than/]);
});

t.test('fails a packet that the service would refuse', async (t) => {
  const draft = example(t);
  draft.writePacket(changed(handoff(), 'publish_consent', false));
  const refused = await draft.verify();
  t.equal(refused.status, 2);
  t.match(refused.report, {
    as_expected: true,
    packet_issues: [{ path: 'publish_consent' }],
  });
  const wrong = example(t);
  const path = 'content.portable_fixture.cases.0.expected.state';
  wrong.writePacket(changed(handoff(), path, 'integrity_mismatch'));
  const differing = await wrong.verify();
  t.equal(differing.status, 14);
  t.match(differing.report.cases[0], {
    expected: { state: 'integrity_mismatch' },
    found: { state: 'ready' },
    as_expected: false,
  });
});

t.test('checks the content hash of a published record', async (t) => {
  const { writePacket, verify } = example(t);
  const packet = handoff();
  writePacket({ artifact: { id: 'x', content_hash: contentHash(packet), packet } });
  t.equal((await verify()).status, 0);
  writePacket({ artifact: { id: 'x', content_hash: contentHash({}), packet } });
  const { status, report } = await verify();
  t.equal(status, 2);
  t.match(report.packet_issues, [{ path: 'content_hash' }]);
});

t.test('refuses wrong arguments, packets and roots', async (t) => {
  const { root, packetPath, path } = example(t);
  for (const args of [[], [packetPath], ['--root', root], [packetPath, packetPath, '--root', root]])
    t.match(await run(...args), { status: 2, err: /^[A-Z-].*\.\nUsage/ });
  t.match(await run(packetPath, '--root', root, '--execute'), { status: 2, err: /Usage/ });
  t.match(await run('--help'), { status: 0, out: /Exit status/ });
  for (const text of ['', '[]', '{"a":1,"a":2}', '{"kind":"brief"}']) {
    writeFileSync(join(path, 'other.json'), text);
    t.equal((await run(join(path, 'other.json'), '--root', root)).status, 2, text);
  }
  writeFileSync(join(path, 'other.json'), JSON.stringify(brief()));
  const other = await run(join(path, 'other.json'), '--root', root);
  t.match(other, { status: 2, err: /holds no handoff .*, but a packet of another kind\.\n$/ });
  t.equal((await run(join(path, 'nothing.json'), '--root', root)).status, 2);
  t.equal((await run(packetPath, '--root', join(path, 'nothing'))).status, 3);
  t.equal((await run(packetPath, '--root', packetPath)).status, 3);
});

t.test('gives the same output and exit status as a command', async (t) => {
  const { packetPath, root, at } = example(t);
  rmSync(at('baseline', ARTIFACT));
  const args = [packetPath, '--root', root];
  const ran = spawnSync(process.execPath, [COMMAND, ...args], { encoding: 'utf8' });
  const { status, out, err } = await run(...args);
  t.same([ran.status, ran.stdout, ran.stderr], [status, out, err]);
  t.equal(status, 10);
  const wrong = spawnSync(process.execPath, [COMMAND], { encoding: 'utf8' });
  t.equal(wrong.status, 2);
  t.match(wrong.stderr, /Usage/);
});
