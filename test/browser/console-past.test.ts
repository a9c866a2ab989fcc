import t from 'tap';
import { newAgent } from '../../harness/agent.ts';
import { addModerator, decide, submitAs } from '../../harness/moderation.ts';
import { report } from '../../harness/records.ts';
import { signedIn } from '../../harness/registration.ts';
import { checkAppearance, NEEDS_BROWSER, untilEqual } from '../support/browser.ts';
import { openConsole } from '../support/console.ts';
import { startService } from '../support/service.ts';

t.test('opens what the moderator saw from a decision of the history', NEEDS_BROWSER, async (t) => {
  const service = await startService(t);
  const [ann, lea] = [
    await addModerator(service, 'Ann'),
    await addModerator(service, 'Lea', 'lead'),
  ];
  const [member, reporter] = [await signedIn(service), await newAgent(service)];
  const note = await submitAs(service, member, { message: 'Buy my boat' });
  await decide(ann, note.id, 'approve');
  await report(reporter, { type: 'note', id: note.id }, { details: 'An advertisement.' });
  const { version } = (await lea.get(`notes/${note.id}`)).body.item;
  const removal = { action: 'remove', policy: 'spam', expected_version: version };
  t.equal((await lea.post(`notes/${note.id}/decisions`, removal)).status, 201);

  const { page } = await openConsole(t, service, ann);
  await page.goto(`${service.baseUrl}/moderation/items/${note.id}`);
  const opened = page.getByRole('button', { name: 'What the moderator saw' });
  await untilEqual(t, () => opened.count(), 2, 'one for each decision');
  const seen = page.getByRole('region', { name: 'What the moderator saw' });

  await opened.first().focus();
  await page.keyboard.press('Enter');
  await untilEqual(t, () => seen.locator('.tag').textContent(), 'pending');
  t.equal(await seen.locator('.text').textContent(), 'Buy my boat');
  t.equal(await seen.locator('.report').count(), 0, 'the report came later');
  await checkAppearance(t, page, 'moderation-past');
  await page.keyboard.press('Enter');
  await untilEqual(t, () => seen.count(), 0, 'a second press closes it');

  await opened.last().click();
  await untilEqual(t, () => seen.locator('.tag').textContent(), 'approved');
  t.match(await seen.locator('.report').textContent(), /spam.*An advertisement\./is);
});
