import t from 'tap';
import { newAgent } from '../../../harness/agent.ts';
import { createCaseCommands, createOpenCase, pass } from '../../../harness/cases.ts';
import { newestSteps } from '../../../projections/cases/cases.ts';
import { MAX_COURSE_EVENTS } from '../../../services/pages/site/records.ts';
import { type Service, startService } from '../../support/service.ts';

const createMember = async (service: Service) => createCaseCommands(await newAgent(service));

const shortName = (member: Awaited<ReturnType<typeof createMember>>) =>
  `member ${member.agent.id.slice(0, 8)}`;

/** The text of an HTML document, without its times. */
const words = (html: string): string =>
  html
    .replace(/<[^>]+>/g, '')
    .replace(/\d+ \w+ \d{4}, \d\d:\d\d UTC/g, 'TIME')
    .replace(/\s+/g, ' ');

async function readPage(service: Service, id: string) {
  const { status, text } = await service.call('GET', `/cases/${id}`);
  if (status !== 200) throw new Error(text);
  return text;
}

t.test('shows who held a case and when, and how each time ended', async (t) => {
  const service = await startService(t);
  const [author, bob, cyd] = [
    await createMember(service),
    await createMember(service),
    await createMember(service),
  ];
  const id = await createOpenCase(author);
  const opened = await readPage(service, id);
  t.notMatch(opened, /<svg|Who held it/, 'no picture of a case that no member has claimed');
  t.match(words(opened), `${shortName(author)} opened the case · TIME`);

  await bob.claim(id, 1);
  await bob.release(id, 2);
  await cyd.claim(id, 3);
  await pass(service, id, 3600);
  t.match(
    words(await readPage(service, id)),
    `${shortName(cyd)} held it from TIME until TIME: lease ended`,
  );
  await bob.claim(id, 5);
  await bob.submit(id, 6);
  const waiting = await readPage(service, id);
  t.match(words(waiting), `${shortName(bob)} waited for a review from TIME: under review`);
  await author.review(id, 7, 'request_changes');
  t.match(
    words(await readPage(service, id)),
    `${shortName(bob)} held it from TIME until TIME: holds it`,
  );
  await bob.submit(id, 8);
  t.equal((await author.review(id, 9, 'accept')).status, 201);

  const page = await readPage(service, id);
  const [, course = ''] = words(page).split('In words');
  const [spans = '', steps = ''] = course.split('What happened');
  t.same(
    spans
      .split(/member \w{8} /)
      .slice(1)
      .map((span) => span.replace(' from TIME until TIME', '').trim()),
    [
      'held it: released',
      'held it: lease ended',
      'held it: submitted',
      'waited for a review: changes requested',
      'held it: submitted',
      'waited for a review: accepted',
    ],
  );
  t.same(
    [...steps.matchAll(/member (\w{8}) (.*?) · TIME/g)].map(([, who, word]) => [who, word]),
    [
      [author, 'opened the case'],
      [bob, 'claimed it'],
      [bob, 'released it'],
      [cyd, 'claimed it'],
      [cyd, 'no longer holds it: the lease ended'],
      [bob, 'claimed it'],
      [bob, 'submitted work'],
      [author, 'asked for changes'],
      [bob, 'submitted work'],
      [author, 'accepted the submission'],
    ].map(([who, word]) => [(who as typeof bob).agent.id.slice(0, 8), word]),
  );
  t.equal(page.match(/<svg/g)?.length, 2, 'a line for each of two members');
  t.match(page, /aria-label="held 3 times, under review twice, last: accepted"/);
  t.notMatch(page, /\sstyle=|<script/);

  const markdown = await service.call('GET', `/cases/${id}`, {
    headers: { accept: 'text/markdown' },
  });
  t.match(markdown.text, /## Who held the case\n\n(- .*\n){6}/);
  t.match(markdown.text, `${shortName(cyd)}, from `);
});

t.test('names no member whose account is closed', async (t) => {
  const service = await startService(t);
  const [author, bob] = [await createMember(service), await createMember(service)];
  const id = await createOpenCase(author);
  await bob.claim(id, 1);
  const { handle } = bob.agent;
  const deletion = { confirm_handle: handle };
  t.equal((await bob.agent.call('POST', '/api/v1/me/delete', deletion)).status, 200);
  const page = await readPage(service, id);
  t.match(words(page), 'former member held it from TIME until TIME: released');
  t.notMatch(page, handle);
});

t.test('tells the newest changes of a case with ten thousand, and reads no others', async (t) => {
  const service = await startService(t);
  const [author, bob] = [await createMember(service), await createMember(service)];
  const id = await createOpenCase(author);
  await bob.claim(id, 1);
  await service.tamper(
    `INSERT INTO events (owner_id, stream_id, stream_version, event_id, type, data, actor, recorded_at)
      SELECT owner_id, stream_id, n + 2, gen_random_uuid(),
        CASE WHEN n % 2 = 1 THEN 'CaseReleased' ELSE 'CaseClaimed' END,
        CASE WHEN n % 2 = 1 THEN data - 'lease_seconds' - 'lease_expires_at' || '{"reason": "claimant"}' ELSE data END,
        actor, recorded_at + n * interval '1 second'
      FROM events, generate_series(1, 10000) n WHERE type = 'CaseClaimed'`,
  );
  const { text, values } = newestSteps(author.agent.id, `case-${id}`, 201);
  const page = await readPage(service, id);
  t.match(page, 'Earlier changes are left out.');
  t.ok(page.length < 200_000, `${page.length} bytes`);
  t.equal(page.match(/class="span /g)?.length, MAX_COURSE_EVENTS / 2);
  const { rows } = await service.database.pool.query(`EXPLAIN (ANALYZE, FORMAT JSON) ${text}`, [
    ...values,
  ]);
  t.equal(rows[0]['QUERY PLAN'][0].Plan['Actual Rows'], MAX_COURSE_EVENTS + 1);
  t.notMatch(JSON.stringify(rows), /"Sort"|Seq Scan/, 'read along the index of the stream');
});
