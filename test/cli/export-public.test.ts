import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { XMLValidator } from 'fast-xml-parser';
import t from 'tap';
import { createPublicRecords } from '../../cli/export-public/public-records.ts';
import { writeExport } from '../../cli/export-public/write-export.ts';
import { addModerator, decide, submit } from '../../harness/moderation.ts';
import { temporaryFolder } from '../../harness/temporary-folder.ts';
import { runCli } from '../support/doctor.ts';
import { operatorEnv } from '../support/moderator-command.ts';
import { startService } from '../support/service.ts';
import { furnishSite } from '../support/site.ts';

const HOSTILE = `<script>alert(1)</script> "quoted" & 'single' \u202eRTL </p><img src=x onerror=alert(1)>`;

t.test('writes everything that is public, and nothing else', async (t) => {
  const service = await startService(t);
  const site = await furnishSite(service);
  const grace = await addModerator(service, 'grace-of-export', 'lead');
  const shown = await submit(service, { name: HOSTILE.slice(0, 25), message: HOSTILE });
  const removed = await submit(service, { message: 'Removed words' });
  const reply = await submit(service, { message: 'Removed parent' });
  await submit(service, { message: 'Pending words' });
  const rejected = await submit(service, { message: 'Rejected words' });
  for (const { id } of [shown, removed, reply]) await decide(grace, id, 'approve');
  const below = await submit(service, { message: 'Below the removed', parent_id: reply.id });
  await decide(grace, below.id, 'approve');
  await decide(grace, rejected.id, 'reject');
  for (const { id } of [removed, reply])
    await grace.post(`notes/${id}/decisions`, {
      ...{ action: 'remove', policy: 'spam', expected_version: 2 },
    });
  const folder = temporaryFolder('export-public');
  t.teardown(folder.remove);
  const out = join(folder.path, 'site');
  const run = () => runCli(['cli/export-public.ts', out], operatorEnv(service));
  const said = await run();
  t.match(said, {
    code: 0,
    stderr: '',
    stdout: /^Exported 2 notes, 4 packets, 2 profiles and 2 cases\n$/,
  });
  t.notOk(existsSync(`${out}.partial`));

  const read = (name: string) => readFileSync(join(out, name), 'utf8');
  const lines = (name: string) =>
    read(name)
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line));
  for (const note of lines('notes.ndjson'))
    t.same((await service.call('GET', `/api/guestbook/${note.id}`)).body.note, note);
  for (const { artifact } of lines('packets.ndjson')) {
    const { body } = await service.call('GET', `/api/v1/artifacts/${artifact.id}`);
    t.same(body.artifact, artifact);
  }
  for (const { agent } of lines('profiles.ndjson'))
    t.same((await service.call('GET', `/api/v1/agents/${agent.id}`)).body.agent, agent);
  for (const { status: _, ...record } of lines('cases.ndjson')) {
    const { status: _status, ...body } = (
      await service.call('GET', `/api/v1/cases/${record.case.id}`)
    ).body;
    t.same(body, record);
  }
  t.match(JSON.parse(read('export.json')), { records: { notes: 2, cases: 2, profiles: 2 } });
  t.ok(lines('cases.ndjson').some((record) => record.case.id === site.caseId));

  const whole = readdirSync(out).map(read).join('\n');
  t.notMatch(whole, /Removed words|Removed parent|Below the removed|Pending words|Rejected words/);
  t.notMatch(whole, 'grace-of-export');
  const page = read('service.html');
  t.notMatch(page, /<script|<img|onerror=alert\(1\)>|\u202e/);
  t.match(page, '&lt;script&gt;alert(1)&lt;/script&gt; &quot;quoted&quot; &amp;');
  t.match(page, "default-src 'none'");
  for (const name of readdirSync(out).filter((name) => name.endsWith('.html')))
    t.equal(XMLValidator.validate(read(name).replace(/<meta[^>]*>|<!doctype html>/g, '')), true);
  for (const [, href = ''] of read('index.html').matchAll(/href="([^"]+)"/g))
    t.ok(readdirSync(out).includes(href), href);

  const again = await run();
  t.match(again, { code: 1, stdout: '', stderr: /site exists: name a new folder/ });
});

t.test('splits a guestbook into pages that open from a folder', async (t) => {
  const service = await startService(t);
  const grace = await addModerator(service, 'grace');
  for (let at = 0; at < 101; at += 1)
    await decide(grace, (await submit(service, { message: `Note ${at}` })).id, 'approve');
  const folder = temporaryFolder('export-public');
  t.teardown(folder.remove);
  const out = join(folder.path, 'pages');
  const context = { baseUrl: service.baseUrl, now: new Date() };
  const records = createPublicRecords(service.operations);
  t.match(await writeExport(records, out, context), { notes: 101 });
  const [first, second] = ['service.html', 'service-2.html'].map((name) =>
    readFileSync(join(out, name), 'utf8'),
  );
  t.equal(first?.match(/<article/g)?.length, 100);
  t.match(first, '<a href="service-2.html">Older notes</a>');
  t.equal(second?.match(/<article/g)?.length, 1);
  t.match(second, '<p dir="auto">Note 0</p>');
  t.match(second, '<a href="service.html">Newer notes</a>');
});

t.test('leaves no folder under the name when it fails, and starts again', async (t) => {
  const service = await startService(t);
  const grace = await addModerator(service, 'grace');
  await decide(grace, (await submit(service)).id, 'approve');
  const folder = temporaryFolder('export-public');
  t.teardown(folder.remove);
  const out = join(folder.path, 'out');
  const context = { baseUrl: service.baseUrl, now: new Date() };
  const records = createPublicRecords(service.operations);
  const broken = {
    ...records,
    // biome-ignore lint/correctness/useYield: a read that fails
    async *cases(): AsyncGenerator<never> {
      throw new Error('the database is away');
    },
  };
  await t.rejects(writeExport(broken, out, context), { message: 'the database is away' });
  t.notOk(existsSync(out));
  t.match(await writeExport(records, out, context), { notes: 1, cases: 0 });
  t.notOk(existsSync(`${out}.partial`));
});
