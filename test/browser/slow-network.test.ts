import type { Locator } from 'playwright-core';
import t from 'tap';
import { addModerator, decide } from '../../harness/moderation.ts';
import { holdRequest, intercept, NEEDS_BROWSER, untilEqual } from '../support/browser.ts';
import {
  beginNote,
  join,
  openSecondTab,
  sendNote,
  startGuestbook,
  visitGuestbook,
} from '../support/guestbook-page.ts';

const POSTED = /\/api\/guestbook$/;

t.test('sends a text changed during sending as another note', NEEDS_BROWSER, async (t) => {
  const service = await startGuestbook(t);
  const ann = await addModerator(service, 'Ann');
  const { page } = await visitGuestbook(t, service);
  const field = await beginNote({ page }, 'One');
  const sending = await holdRequest(page, POSTED, 'answer');
  await page.getByRole('button', { name: 'Send for review' }).click();
  await sending.arrived;
  await field.fill('One, and two');
  sending.release();
  await page.getByText('Sending this one posts a second note').waitFor();
  await untilEqual(t, () => field.inputValue(), 'One, and two');
  await page.getByText('Waiting for review', { exact: true }).waitFor();
  await page.getByRole('button', { name: 'Send for review' }).click();
  await field.waitFor({ state: 'detached' });
  const { items } = (await ann.get('queue')).body;
  t.same(items.map(({ text }: { text: string }) => text).sort(), ['One', 'One, and two']);
});

t.test('keeps a form open that was opened while a note was sent', NEEDS_BROWSER, async (t) => {
  const service = await startGuestbook(t);
  const { page } = await visitGuestbook(t, service);
  await beginNote({ page }, 'The first');
  const sending = await holdRequest(page, POSTED, 'answer');
  await page.getByRole('button', { name: 'Send for review' }).click();
  await sending.arrived;
  await page.getByRole('button', { name: 'Save draft' }).click();
  const field = await beginNote({ page }, 'The second');
  sending.release();
  await page.getByText('Waiting for review', { exact: true }).waitFor();
  await untilEqual(t, () => field.count(), 1);
  await untilEqual(t, () => field.inputValue(), 'The second');
});

t.test('leaves the focus with a user who has moved on', NEEDS_BROWSER, async (t) => {
  const service = await startGuestbook(t);
  const visit = await visitGuestbook(t, service);
  const { page } = visit;
  await join(visit, 'ada');
  await sendNote(visit, 'To be taken back');
  const elsewhere = page.getByRole('link', { name: 'Observatory' });
  const focused = async (field: Locator, says: string) => {
    await page.evaluate('new Promise((drawn) => requestAnimationFrame(() => setTimeout(drawn)))');
    await untilEqual(t, () => field.and(page.locator(':focus')).count(), 1, says);
  };

  const note = await beginNote(visit, 'In good time');
  const sending = await holdRequest(page, POSTED, 'answer');
  await page.getByRole('button', { name: 'Send for review' }).click();
  await sending.arrived;
  await elsewhere.focus();
  sending.release();
  await note.waitFor({ state: 'detached' });
  await focused(elsewhere, 'after a note was sent');

  const own = page.locator('.own-note', { hasText: 'To be taken back' });
  await own.getByRole('button', { name: 'Withdraw' }).click();
  const withdrawal = await holdRequest(page, '**/withdraw', 'answer');
  await own.getByRole('button', { name: 'Withdraw it' }).click();
  await withdrawal.arrived;
  const next = await beginNote(visit, 'And another');
  withdrawal.release();
  await own.getByText('Withdrawn by you').waitFor();
  await focused(next, 'after one was withdrawn');
});

t.test('resends a note that failed before the network was back', NEEDS_BROWSER, async (t) => {
  const service = await startGuestbook(t);
  const { page } = await visitGuestbook(t, service, { expected: /net::ERR/ });
  const failing = Promise.withResolvers<void>();
  await intercept(
    page,
    POSTED,
    async (route) => {
      await failing.promise;
      await route.abort('connectionreset');
    },
    { times: 1 },
  );
  await beginNote({ page }, 'From a train');
  const sent = page.waitForRequest(POSTED);
  await page.getByRole('button', { name: 'Send for review' }).click();
  await sent;
  await page.evaluate("dispatchEvent(new Event('online'))");
  failing.resolve();
  await page.getByText('Waiting for review', { exact: true }).waitFor();
});

t.test('resends when the network returns right after a failure', NEEDS_BROWSER, async (t) => {
  const service = await startGuestbook(t);
  const visit = await visitGuestbook(t, service, {
    expected: /net::ERR/,
    first: `const ask = fetch;
      window.fetch = (...parts) => ask(...parts).catch((error) => {
        setTimeout(() => dispatchEvent(new Event('online')));
        throw error;
      });`,
  });
  await intercept(visit.page, POSTED, (route) => route.abort('connectionreset'), { times: 1 });
  await sendNote(visit, 'From a train');
});

t.test('keeps a withdrawal when an older response arrives', NEEDS_BROWSER, async (t) => {
  const service = await startGuestbook(t);
  const ann = await addModerator(service, 'Ann');
  const visit = await visitGuestbook(t, service);
  const { page } = visit;
  await join(visit, 'ada');
  await sendNote(visit, 'To be taken back');
  const [{ id }] = (await ann.get('queue')).body.items;
  await decide(ann, id, 'approve');
  await page.getByRole('button', { name: 'Check now' }).click();
  await page.getByText('Published', { exact: true }).waitFor();
  const late = await holdRequest(page, '**/api/membership/notes?*', 'answer');
  await page.getByRole('button', { name: 'Check now' }).click();
  await late.arrived;
  await page.getByRole('button', { name: 'Withdraw', exact: true }).click();
  await page.getByRole('button', { name: 'Withdraw it' }).click();
  await page.getByText('Withdrawn by you').waitFor();
  await late.deliver();
  await untilEqual(t, () => page.getByText('Withdrawn by you').count(), 1);
});

t.test('sends an appeal once and recognises that it arrived', NEEDS_BROWSER, async (t) => {
  const service = await startGuestbook(t, { UNDO_WINDOW_SECONDS: '0' });
  const ann = await addModerator(service, 'Ann');
  const visit = await visitGuestbook(t, service, { expected: /net::ERR|status of 409/ });
  const { page } = visit;
  await join(visit, 'ada');
  await sendNote(visit, 'It was a joke');
  const [{ id }] = (await ann.get('queue')).body.items;
  await decide(ann, id, 'reject');
  await page.getByRole('button', { name: 'Check now' }).click();
  await page.getByRole('button', { name: 'Appeal' }).click();
  await page.getByLabel('Why should this note appear?').fill('It was a joke.');
  let appeals = 0;
  const losing = Promise.withResolvers<void>();
  await intercept(
    page,
    '**/appeal',
    async (route) => {
      appeals++;
      await route.fetch();
      await losing.promise;
      await route.abort('connectionreset');
    },
    { times: 2 },
  );
  const send = page.getByRole('button', { name: 'Send appeal' });
  await send.dblclick();
  losing.resolve();
  await page.getByText('Nothing is lost; try again').waitFor();
  t.equal(appeals, 1);
  await page.unroute('**/appeal');
  await send.click();
  await page.getByText('Your appeal is waiting').waitFor();
  await untilEqual(t, () => page.getByRole('alert').count(), 0);
});

t.test('reads the session again after a failure', NEEDS_BROWSER, async (t) => {
  const service = await startGuestbook(t);
  const visit = await visitGuestbook(t, service, { expected: /net::ERR/ });
  const { page } = visit;
  await intercept(page, '**/membership/me', (route) => route.abort('connectionreset'), {
    times: 1,
  });
  const joining = join(visit, 'ada');
  await page.getByText('Nothing is lost; try again').waitFor();
  await page.getByRole('button', { name: 'Join as ada' }).click();
  await joining;

  // The session ends in another tab while this one reads it.
  const other = await openSecondTab(visit);
  const asking = await holdRequest(page, '**/membership/me', 'answer');
  await page.reload();
  await asking.arrived;
  await other.endSession();
  await asking.deliver();
  await page.getByRole('button', { name: 'Join', exact: true }).waitFor();
});
