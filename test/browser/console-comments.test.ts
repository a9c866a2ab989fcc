import type { Page } from 'playwright-core';
import t from 'tap';
import { newAgent } from '../../harness/agent.ts';
import { addModerator, submit } from '../../harness/moderation.ts';
import { publishProfile, report } from '../../harness/records.ts';
import { checkAppearance, intercept, NEEDS_BROWSER, untilEqual } from '../support/browser.ts';
import { openConsole } from '../support/console.ts';
import { startService } from '../support/service.ts';

t.test('adds a comment that other moderators see in the history', NEEDS_BROWSER, async (t) => {
  const service = await startService(t);
  const [ann, bob] = [await addModerator(service, 'Ann'), await addModerator(service, 'Bob')];
  const { id } = await submit(service, { message: 'One' });
  await submit(service, { message: 'Two' });
  const { page } = await openConsole(t, service, ann);
  const { page: other } = await openConsole(t, service, bob);
  for (const each of [page, other]) await each.locator('.history li').waitFor();

  await page.keyboard.press('c');
  await page.locator('#comment textarea:focus').waitFor();
  await page.keyboard.type('Asked Bob about it: aer');
  await page.keyboard.press('Escape');
  await page.keyboard.press('j');
  await page.locator('.note .text', { hasText: 'Two' }).waitFor();
  await untilEqual(
    t,
    () => page.locator('#comment textarea').inputValue(),
    '',
    'a draft belongs to its note',
  );
  await page.keyboard.press('k');
  await page.locator('.note .text', { hasText: 'One' }).waitFor();
  await page.keyboard.press('c');
  await page.keyboard.press('Enter');
  for (const each of [page, other])
    await each.locator('.history .comment', { hasText: 'comment by Ann' }).waitFor();
  await untilEqual(
    t,
    () => other.locator('.history .comment .quoted').textContent(),
    'Asked Bob about it: aer',
  );
  await untilEqual(t, () => page.locator('#comment textarea').inputValue(), '');
  t.equal((await ann.get(`notes/${id}`)).body.item.state, 'pending', 'no letter was a shortcut');
  await page.locator('.row.here .row-main').focus();
  await checkAppearance(t, page, 'moderation-comment');

  await intercept(page, '**/comments', (route) => route.abort(), { times: 3 });
  await page.keyboard.press('c');
  await page.keyboard.type('Kept');
  await page.keyboard.press('Enter');
  await page.locator('.comment-form .error').waitFor();
  t.equal(await page.locator('#comment textarea').inputValue(), 'Kept');
});

t.test('deletes the own comment, or as a lead any comment', NEEDS_BROWSER, async (t) => {
  const service = await startService(t);
  const [ann, bob] = [await addModerator(service, 'Ann'), await addModerator(service, 'Bob')];
  const lea = await addModerator(service, 'Lea', 'lead');
  const { id } = await submit(service, { message: 'One' });
  for (const text of ['First', 'Second']) await ann.post(`subjects/note/${id}/comments`, { text });
  const { page } = await openConsole(t, service, ann);
  const { page: other } = await openConsole(t, service, bob);
  const { page: lead } = await openConsole(t, service, lea);
  const comment = (where: Page, text: string) =>
    where.locator('.history .comment').filter({ hasText: text });
  for (const each of [page, other, lead]) await comment(each, 'Second').waitFor();
  t.equal(await other.getByRole('button', { name: /^Delete/ }).count(), 0);

  const button = comment(page, 'First').locator('button');
  await button.focus();
  await page.keyboard.press('Enter');
  await page.getByRole('button', { name: 'Delete comment for good' }).waitFor();
  await checkAppearance(t, page, 'moderation-delete-comment');
  await page.keyboard.press('Tab');
  await untilEqual(
    t,
    () => button.innerText(),
    'Delete comment',
    'the deletion is taken back by leaving the button',
  );
  await button.focus();
  await page.keyboard.press('Enter');
  await page.keyboard.press('Enter');
  for (const each of [page, other, lead]) {
    await comment(each, 'First').waitFor({ state: 'detached' });
    await each.locator('.history li', { hasText: 'comment deleted by Ann' }).waitFor();
  }
  await page.locator('.row.here .row-main:focus').waitFor();

  await comment(lead, 'Second').locator('button').dblclick();
  await comment(other, 'Second').waitFor({ state: 'detached' });
  t.same((await ann.get(`subjects/note/${id}/comments`)).body.comments, []);
});

t.test('shows comments on an author beside the record', NEEDS_BROWSER, async (t) => {
  const service = await startService(t);
  const ann = await addModerator(service, 'Ann');
  const [author, reporter] = [await newAgent(service), await newAgent(service)];
  await report(reporter, await publishProfile(author));
  const { page } = await openConsole(t, service, ann);
  await page.getByRole('link', { name: /^Reported/ }).click();
  await page.locator('.row').waitFor();
  await page.keyboard.press('h');
  await page.getByLabel('Comment on this author').fill('Third report this week');
  await page.keyboard.press('Enter');
  const comments = page.getByRole('region', { name: 'Comments on this author' });
  await comments.locator('.comment', { hasText: 'Third report this week' }).waitFor();
  await checkAppearance(t, page, 'moderation-author-comments');
  await page.keyboard.press('Escape');
  await page.locator('.drawer .delete-comment').dblclick();
  await comments.locator('.comment').waitFor({ state: 'detached' });
  await page.locator('#drawer:focus').waitFor();
  t.equal((await ann.get(`subjects/member/${author.id}/comments`)).body.comments.length, 0);
});

t.test(
  'shows the newest events of a long history, and earlier ones on request',
  NEEDS_BROWSER,
  async (t) => {
    const service = await startService(t);
    const ann = await addModerator(service, 'Ann');
    const { id } = await submit(service, { message: 'Much discussed' });
    for (let count = 1; count <= 110; count++)
      await ann.post(`subjects/note/${id}/comments`, { text: `Comment ${count}` });
    const { page } = await openConsole(t, service, ann);
    const events = page.locator('.history li');
    await events.filter({ hasText: 'Comment 110' }).waitFor();
    await untilEqual(t, () => events.count(), 100);
    await checkAppearance(t, page, 'moderation-long-history');
    const earlier = page.getByRole('button', { name: 'Earlier events' });
    await earlier.click();
    await earlier.waitFor({ state: 'detached' });
    await untilEqual(t, () => events.count(), 111);
    t.match(await events.first().textContent(), /submitted/i);
    await untilEqual(t, () => events.nth(1).locator('.quoted').textContent(), 'Comment 1');
  },
);
