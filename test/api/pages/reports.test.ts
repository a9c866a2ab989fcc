import { randomUUID } from 'node:crypto';
import t from 'tap';
import { signedIn } from '../../../harness/registration.ts';
import { type Service, startService } from '../../support/service.ts';
import { furnishSite } from '../../support/site.ts';

/** Posts the form of a report as a browser does. */
const report = (service: Service, fields: Record<string, string>, headers: object = {}) =>
  fetch(`${service.baseUrl}/report`, {
    method: 'POST',
    redirect: 'manual',
    headers: { accept: 'text/html', origin: service.baseUrl, ...headers },
    body: new URLSearchParams({ details: '', website: '', ...fields }),
  });

/** The public records of each type, with the page that shows each. */
async function publicRecords(service: Service) {
  const { ada, lead, packets, caseId, note } = await furnishSite(service);
  const { notes } = (await service.call('GET', `/api/v1/cases/${caseId}`)).body;
  const profile = (await service.call('GET', '/api/v1/agents')).body.agents.find(
    ({ handle }: { handle: string }) => handle === ada.handle,
  );
  const records = [
    ['profile', profile.id, `/members/${ada.handle}`],
    ['artifact', packets.first, `/packets/${packets.first}`],
    ['case', caseId, `/cases/${caseId}`],
    ['case_note', notes[0].id, `/cases/${caseId}`],
  ] as const;
  const reported = async () =>
    (await lead.get('queue?view=reported')).body.items.map(
      ({ subject, note_id, id, reports }: never) => [
        (subject as { id?: string } | undefined)?.id ?? note_id ?? id,
        (reports as { reason: string; details: string | null }[])[0],
      ],
    );
  return { lead, note, records, reported };
}

t.test('takes reports of notes from guests, by a form without scripts', async (t) => {
  const service = await startService(t);
  const { note, reported } = await publicRecords(service);
  const page = await service.call('GET', `/notes/${note.id}`);
  t.match(page.text, `href="/report?type=note&amp;id=${note.id}"`);
  const form = await service.call('GET', `/report?type=note&id=${note.id}`);
  t.match(form.text, 'What a telescope you have!');
  t.match(form.headers.get('content-security-policy'), /script-src 'none'.*form-action 'self'/);
  const fields = { type: 'note', id: note.id };
  const chosen = await report(service, { ...fields, details: '“Kept”\u00a0it’s <b>' });
  t.equal(chosen.status, 422);
  const again = await chosen.text();
  t.match(again, 'Choose a reason.');
  t.match(again, '“Kept”\u00a0it’s &lt;b>', 'what was written is kept');
  const trap = await report(service, { ...fields, reason: 'spam', website: 'x' });
  t.equal(trap.status, 422);
  const long = await report(service, { ...fields, reason: 'spam', details: 'x'.repeat(1001) });
  t.match(await long.text(), 'It must have at most 1000 characters.');
  t.strictSame(await reported(), []);
  for (const _ of ['once', 'again, which changes nothing']) {
    const sent = await report(service, { ...fields, reason: 'privacy', details: 'My number' });
    t.equal(sent.status, 303, await sent.text());
    t.equal(sent.headers.get('location'), '/report/sent');
  }
  const [[id, { reason, details }]] = await reported();
  t.strictSame([id, reason, details], [note.id, 'privacy', 'My number']);
  t.match((await service.call('GET', '/report/sent')).text, /A moderator will review it/);
});

t.test('takes reports of records from the member of the session', async (t) => {
  const service = await startService(t);
  const { records, reported } = await publicRecords(service);
  const { cookie } = await signedIn(service);
  for (const [type, id, path] of records) {
    t.match((await service.call('GET', path)).text, `/report?type=${type}&amp;id=${id}"`, path);
    t.equal((await service.call('GET', `/report?type=${type}&id=${id}`)).status, 200, type);
    const fields = { type, id, reason: 'abuse', details: `about the ${type}` };
    const guest = await report(service, fields);
    t.equal(guest.status, 422, type);
    const page = await guest.text();
    t.match(page, 'Members alone can report this.');
    t.match(page, `about the ${type}`, 'what was written is kept');
    for (const _ of ['once', 'again, which changes nothing']) {
      const sent = await report(service, fields, { cookie });
      t.equal(sent.status, 303, `${type} ${await sent.text()}`);
    }
  }
  const found = new Map(await reported());
  for (const [type, id] of records)
    t.match(found.get(id), { reason: 'abuse', details: `about the ${type}` });
  t.equal(found.size, records.length);
});

t.test('reports nothing that is not public, and nothing from other sites', async (t) => {
  const service = await startService(t, { LIMIT_NOTES_PER_TEN_MINUTES: '2' });
  const { note, records } = await publicRecords(service);
  for (const [type] of [['note'], ...records]) {
    const gone = { type: type ?? '', id: randomUUID() };
    t.equal((await report(service, { ...gone, reason: 'spam' })).status, 404);
    t.equal((await service.call('GET', `/report?type=${type}&id=${gone.id}`)).status, 404);
  }
  t.equal((await service.call('GET', '/report?type=member&id=x')).status, 400);
  const fields = { type: 'note', id: note.id, reason: 'spam' };
  const foreign = await report(service, fields, { origin: 'https://example.org' });
  t.equal(foreign.status, 403);
  const { cookie } = await signedIn(service);
  const [, [type, id]] = records;
  const sent = [];
  for (let count = 0; count < 4; count++)
    sent.push((await report(service, { type, id, reason: 'spam' }, { cookie })).status);
  t.strictSame(sent, [303, 303, 429, 429], 'within the limits of reports');
});
