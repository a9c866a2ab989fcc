import t from 'tap';
import { addModerator, decide } from '../../harness/moderation.ts';
import {
  checkAppearance,
  NEEDS_BROWSER,
  visit as open,
  untilEqual,
  untilTrue,
} from '../support/browser.ts';
import { sendNote, startGuestbook, visitGuestbook } from '../support/guestbook-page.ts';

t.test('lets a guest write a note and see its publication', NEEDS_BROWSER, async (t) => {
  const service = await startGuestbook(t);
  const ann = await addModerator(service, 'Ann');
  const visit = await visitGuestbook(t, service);
  const { page } = visit;
  await page.getByText('No notes here yet').waitFor();
  await checkAppearance(t, page, 'guestbook-empty');

  await page.getByRole('button', { name: 'Write a note…' }).click();
  await page.getByLabel('Your note', { exact: true }).fill('🌊'.repeat(501));
  await page.getByLabel('Name').fill('x'.repeat(41));
  await page.getByText('501 / 500').waitFor();
  await page.getByRole('button', { name: 'Send for review' }).click();
  const [text, name] = [page.getByLabel('Your note', { exact: true }), page.getByLabel('Name')];
  await untilEqual(t, () => text.getAttribute('aria-invalid'), 'true');
  await untilEqual(t, () => name.getAttribute('aria-invalid'), 'true');
  await untilTrue(page, 'document.activeElement.name === "message"');
  await checkAppearance(t, page, 'guestbook-errors');

  await text.fill('The tide came in at four, and with it a letter.\n\nI have kept it.');
  await name.fill('Marie');
  await page.getByRole('button', { name: 'Send for review' }).click();
  await page.getByText('Waiting for review', { exact: true }).waitFor();
  await checkAppearance(t, page, 'guestbook-waiting');
  await page.reload();
  await page.getByText('Waiting for review', { exact: true }).waitFor();

  const { items } = (await ann.get('queue')).body;
  t.equal(items.length, 1);
  t.equal((await decide(ann, items[0].id, 'approve')).status, 201);
  await page.getByRole('button', { name: 'Check now' }).click();
  await page.getByText('Published', { exact: true }).waitFor();
  await page.getByRole('article').filter({ hasText: 'Marie' }).waitFor();
  await page.reload();
  await page.getByRole('article').filter({ hasText: 'Marie' }).waitFor();
  await page.getByText('Published', { exact: true }).waitFor();
  const own = page.locator('.own-note');
  const status = await own.getByRole('link', { name: 'Link to its status' }).getAttribute('href');
  await own.getByRole('link', { name: 'Open' }).click();
  await page.waitForURL(`${service.baseUrl}/notes/${items[0].id}`);
  const device = await open(t, service.baseUrl + status, { javaScriptEnabled: false });
  await device.page.getByRole('link', { name: 'Your note', exact: true }).waitFor();
  await page.goBack();
  await page.getByRole('button', { name: 'Forget on this device' }).click();
  await untilEqual(t, () => page.getByText('Your notes').count(), 0);
});

t.test('shows that a note was not published', NEEDS_BROWSER, async (t) => {
  const service = await startGuestbook(t, { UNDO_WINDOW_SECONDS: '0' });
  const ann = await addModerator(service, 'Ann');
  const visit = await visitGuestbook(t, service);
  await visit.page.clock.install();
  await sendNote(visit, 'Buy my boats');
  const { items } = (await ann.get('queue')).body;
  await decide(ann, items[0].id, 'reject');
  await visit.page.clock.fastForward(60_000);
  await visit.page.getByText('Not published', { exact: true }).waitFor();
});
