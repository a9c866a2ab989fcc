import type { Locator } from 'playwright-core';
import t from 'tap';
import { addModerator, decide, submit, submitAs } from '../../harness/moderation.ts';
import { signedIn } from '../../harness/registration.ts';
import { checkAppearance, NEEDS_BROWSER, untilEqual } from '../support/browser.ts';
import {
  countNotesByState,
  openConsole,
  openConsoleWithNotes,
  untilToast,
} from '../support/console.ts';
import { startService } from '../support/service.ts';

/** The left, top and right edge of an element, in whole pixels. */
const edgesOf = async (place: Locator) => {
  const { x, y, width } = (await place.boundingBox()) ?? { x: 0, y: 0, width: 0 };
  return { left: Math.round(x), top: Math.round(y), right: Math.round(x + width) };
};

t.test('covers neither the note nor the buttons with the drawer', NEEDS_BROWSER, async (t) => {
  const message = 'A sentence that one reads to its end before one decides on it. '.repeat(7);
  const { page } = await openConsoleWithNotes(t, [message, 'Another one']);
  const text = page.locator('.note .text');
  const drawer = page.locator('.drawer');
  for (const [width, height] of [
    [1920, 1080],
    [1440, 900],
    [1366, 768],
    [1280, 800],
    [1024, 768],
    [900, 700],
    [390, 800],
  ] as const) {
    await page.setViewportSize({ width, height });
    // The drawer has opened the note, which is all that a phone shows.
    await text.waitFor();
    const before = await edgesOf(text);
    await page.keyboard.press('h');
    await drawer.getByText('Another one').waitFor();
    const after = await edgesOf(text);
    const { left } = await edgesOf(drawer);
    if (width >= 1440) t.same(after, before, `${width} px: the text stays where it is`);
    if (width >= 1280) t.ok(after.right <= left, `${width} px: the drawer is beside the text`);
    t.same([after.left, after.top], [before.left, before.top], `${width} px`);
    // A click fails if something else covers the button.
    for (const name of [/^Approve/, /^Reject/, /^Escalate/, /^Defer/])
      await page.getByRole('button', { name }).click({ trial: true });
    await page.keyboard.press('Escape');
    await drawer.waitFor({ state: 'detached' });
  }
});

t.test('shows more by the author beside the note', NEEDS_BROWSER, async (t) => {
  const service = await startService(t);
  const ann = await addModerator(service, 'Ann');
  const spam = await submit(service, { name: 'Ravi', message: 'Buy my things' });
  const rejection = { action: 'reject', expected_version: 1, policy: 'spam' };
  t.equal((await ann.post(`notes/${spam.id}/decisions`, rejection)).status, 201);
  const kind = await submit(service, { name: 'Ravi', message: 'A kind word' });
  await decide(ann, kind.id, 'approve');
  await submit(service, { name: 'Ravi', message: 'The current one' });
  await submit(service, { name: 'Ravi', message: 'Also waiting' });
  await submit(service, { name: 'Mia', message: 'By another' });

  const { page } = await openConsole(t, service, ann);
  const text = page.locator('.note .text');
  await text.filter({ hasText: 'The current one' }).waitFor();
  await page.keyboard.press('h');
  const drawer = page.getByRole('region', { name: 'More by Ravi' });
  await drawer.locator('li').nth(2).waitFor();
  await untilEqual(t, () => drawer.locator('li > bdi').allTextContents(), [
    'Also waiting',
    'A kind word',
    'Buy my things',
  ]);
  t.match(await drawer.locator('li').nth(2).innerText(), /rejected.*Spam/s);
  t.equal(
    await drawer.locator('figcaption').innerText(),
    'Last 4: 1 rejected, 1 approved, 2 waiting',
  );
  t.same(
    await drawer.locator('rect').evaluateAll((bars) => bars.map((bar) => bar.classList.value)),
    ['refused', 'stays', 'waiting', 'waiting'],
  );
  await untilEqual(t, () => page.locator('.row').count(), 3, 'and so does the queue');
  await checkAppearance(t, page, 'moderation-author');

  await page.keyboard.press('j');
  await page.keyboard.press('j');
  await page.getByRole('region', { name: 'More by Mia' }).getByText('Nothing else.').waitFor();
  await page.keyboard.press('Escape');
  await page.locator('.drawer').waitFor({ state: 'detached' });
  await page.locator('.row.here .row-main:focus').waitFor();

  await page.keyboard.press('k');
  await page.getByRole('button', { name: 'More by this author' }).click();
  await drawer.getByRole('link').nth(2).click();
  await text.filter({ hasText: 'A kind word' }).waitFor();
  t.match(page.url(), `/moderation/items/${kind.id}`);
  await drawer.getByRole('link', { name: 'All decisions' }).click();
  await page.waitForURL('**/moderation/decided?author=Ravi');
  await page.locator('.row', { hasText: 'Buy my things' }).waitFor();
  await untilEqual(t, () => page.locator('.drawer').count(), 0);
});

t.test(
  'leads to what one address sent, to select and reject it together',
  NEEDS_BROWSER,
  async (t) => {
    const service = await startService(t);
    const ann = await addModerator(service, 'Ann');
    for (const message of ['First', 'Second', 'Third']) await submit(service, { message });
    const { page } = await openConsole(t, service, ann);
    await page.getByRole('link', { name: '2 more from this address' }).click();
    await page.getByText('From one address in the last 48 hours').waitFor();
    await page.locator('.row').nth(2).waitFor();
    t.match(page.url(), /same_address_as=/);
    await checkAppearance(t, page, 'moderation-same-address');
    await page.getByRole('button', { name: 'Clear filters' }).click();
    await page.getByText('From one address in the last 48 hours').waitFor({ state: 'detached' });
  },
);

t.test('rejects all waiting notes of a member in one batch', NEEDS_BROWSER, async (t) => {
  const service = await startService(t);
  const [ann, bob] = [await addModerator(service, 'Ann'), await addModerator(service, 'Bob')];
  const member = await signedIn(service);
  await submit(service, { message: 'By another' });
  const notes = [];
  for (const message of ['Buy one', 'Buy two', 'Buy three', 'Buy four'])
    notes.push(await submitAs(service, member, { message }));
  const { page } = await openConsole(t, service, ann);
  const drawer = page.locator('.drawer');
  await page.locator('.row', { hasText: 'By another' }).click();
  await page.keyboard.press('h');
  await drawer.getByText('Nothing else.').waitFor();
  t.equal(await drawer.getByRole('button', { name: /^Reject all/ }).count(), 0, 'a guest');

  await page.locator('.row', { hasText: 'Buy one' }).click();
  const rejectAll = drawer.getByRole('button', { name: 'Reject all 4 waiting notes…' });
  await rejectAll.waitFor();
  await checkAppearance(t, page, 'moderation-reject-all');
  // Bob claims one after the number was read.
  t.equal((await bob.post('claims', { note_ids: [notes[3]?.id] })).status, 200);
  await rejectAll.click();
  const dialog = page.getByRole('dialog', { name: 'Reject 3 notes?' });
  for (const text of ['Buy one', 'Buy two', 'Buy three']) await dialog.getByText(text).waitFor();
  await dialog.getByText('over the limit of 100: 1 note.').waitFor();
  t.same(await countNotesByState(service), { pending: 5 }, 'the preview decides nothing');
  await page.keyboard.press('1');
  await untilToast(page, /3 notes/);
  t.same(await countNotesByState(service), { pending: 2, rejected: 3 });
  await page.keyboard.press('u');
  await untilToast(page, /^Undone/);
  t.same(await countNotesByState(service), { pending: 5 });
});
