import t from 'tap';
import { holdOne, intercept, NEEDS_BROWSER } from '../harness/browser.ts';
import { currentText, openConsole, toast } from '../harness/console.ts';
import { hire, submit } from '../harness/moderation.ts';
import { type Service, startService } from '../harness/service.ts';

const LOADS = 'performance.getEntriesByType("navigation").length';

async function fill(service: Service, count: number, text = 'Note') {
  const notes = [];
  for (let n = 1; n <= count; n++) notes.push(await submit(service, { message: `${text} ${n}` }));
  return notes;
}

const states = async (service: Service) =>
  Object.fromEntries(
    (
      await service.database.pool.query(
        'SELECT state, count(*)::int AS count FROM notes GROUP BY state',
      )
    ).rows.map(({ state, count }) => [state, count]),
  );

t.test(
  'a hundred notes are decided by keys alone, without a page load',
  NEEDS_BROWSER,
  async (t) => {
    const service = await startService(t);
    const ann = await hire(service, 'Ann');
    await fill(service, 100);
    const { page } = await openConsole(t, service, ann);
    let loads = 0;
    page.on('framenavigated', () => loads++);
    await page.evaluate(
      `document.addEventListener('pointerdown', () => { throw Error('a mouse') })`,
    );
    for (let n = 1; n <= 100; n++) {
      await page.locator('.note .text', { hasText: new RegExp(`^Note ${n}$`) }).waitFor();
      if (n % 5 === 0) {
        await page.keyboard.press('r');
        await page.locator('.panel').waitFor();
        await page.keyboard.press('1');
      } else if (n % 10 === 3) {
        await page.keyboard.press('n');
        await page.locator('.note .lease').waitFor();
        await page.keyboard.press('a');
      } else await page.keyboard.press('a');
    }
    await page.getByText('The queue is clear.').waitFor();
    await t.resolves(page.getByText('Last decision').waitFor());
    t.same(await states(service), { approved: 80, rejected: 20 });
    t.equal(loads, 0);
    t.equal(await page.evaluate(LOADS), 1);
    const { rows } = await service.database.pool.query('SELECT FROM note_leases');
    t.equal(rows.length, 0, 'no claim is left behind');
  },
);

t.test(
  'rejected by policy with a word, deferred, escalated, and undone',
  NEEDS_BROWSER,
  async (t) => {
    const service = await startService(t);
    const ann = await hire(service, 'Ann');
    const [one, two, three] = await fill(service, 3);
    const { page } = await openConsole(t, service, ann);
    await page.getByText('Note 1', { exact: true }).last().waitFor();

    await page.keyboard.press('r');
    const word = page.getByLabel('Word to the author');
    await word.fill('Please do not a r e n u');
    await word.press('Escape');
    t.equal(await page.locator('.panel').count(), 1, 'Esc leaves the field first');
    await page.keyboard.press('1');
    await toast(page, /Rejected: .* ?spam/i);
    const history = async (id = '') => (await ann.get(`notes/${id}`)).body.history;
    t.match((await history(one?.id)).at(-1), {
      type: 'NoteRejected',
      text: 'Please do not a r e n u',
    });
    t.equal(await currentText(page), 'Note 2');
    await page.locator(`#row-${two?.id}:focus`).waitFor();

    await page.keyboard.press('u');
    await toast(page, 'Undone');
    t.equal(await currentText(page), 'Note 1');
    t.match((await history(one?.id)).at(-1), { type: 'DecisionUndone' });
    t.same(await states(service), { pending: 3 });
    await page.keyboard.press('r');
    t.equal(await word.inputValue(), '', 'what was sent is no draft any more');
    await page.keyboard.press('Escape');
    await page.locator('.panel').waitFor({ state: 'detached' });

    await page.keyboard.press('j');
    await page.keyboard.press('d');
    await page.keyboard.press('2');
    await toast(page, 'Deferred');
    t.match((await history(two?.id)).at(-1), { type: 'NoteDeferred' });
    t.equal(await currentText(page), 'Note 3');
    await page.keyboard.press('e');
    await page.getByLabel('Why a lead should look').fill('A lawyer should look');
    await page.keyboard.press('Enter');
    await toast(page, 'Escalated');
    t.match((await history(three?.id)).at(-1), { text: 'A lawyer should look' });
    t.equal(await currentText(page), 'Note 1');
    await page
      .getByRole('link', { name: /^Escalated/ })
      .filter({ hasText: '1' })
      .waitFor();
  },
);

t.test(
  'a batch shows what it would do, says what it did, and is undone',
  NEEDS_BROWSER,
  async (t) => {
    const service = await startService(t);
    const [ann, bob] = [await hire(service, 'Ann'), await hire(service, 'Bob')];
    const notes = await fill(service, 6, 'Buy');
    const { page } = await openConsole(t, service, ann);
    await page.locator('.row').nth(5).waitFor();
    await page.keyboard.press('Shift+R');
    await toast(page, 'Nothing is selected');
    for (let n = 0; n < 3; n++) {
      await page.keyboard.press('x');
      await page.keyboard.press('j');
    }
    await page.getByText('3 notes selected').waitFor();
    await page.keyboard.press('Shift+R');
    const dialog = page.getByRole('dialog', { name: 'Reject 3 notes?' });
    for (const text of ['Buy 1', 'Buy 2', 'Buy 3']) await dialog.getByText(text).waitFor();
    t.same(await states(service), { pending: 6 }, 'nothing has run');
    await page.keyboard.press('Escape');
    await dialog.waitFor({ state: 'detached' });
    t.same(await states(service), { pending: 6 });

    await page.keyboard.press('Shift+R');
    await dialog.waitFor();
    for (const key of ['j', 'a']) await page.keyboard.press(key);
    t.equal(await dialog.count(), 1, 'no key means what is behind it');
    // Somebody is quicker on one of them.
    await bob.post('claims', { note_ids: [notes[1]?.id] });
    await page.keyboard.press('1');
    await toast(page, /2 notes; 1 note refused/);
    t.same(await states(service), { pending: 4, rejected: 2 });
    await page.locator('.row', { hasText: 'Bob has been working on this since' }).waitFor();
    await page.keyboard.press('u');
    await toast(page, /^Undone/);
    t.same(await states(service), { pending: 6 });

    await intercept(page, '**/decisions/batch', (route) => route.abort('connectionreset'));
    await page.keyboard.press('x');
    await page.keyboard.press('Shift+A');
    await page.getByRole('dialog').waitFor();
    await page
      .getByRole('button', { name: /^Approve/ })
      .last()
      .click();
    await toast(page, 'Perhaps nothing was decided. No answer');
  },
);

t.test(
  'what is refused is in the list, though that was read meanwhile',
  NEEDS_BROWSER,
  async (t) => {
    const service = await startService(t);
    const [ann, bob] = [await hire(service, 'Ann'), await hire(service, 'Bob')];
    const [, note] = await fill(service, 3, 'Buy');
    const { page } = await openConsole(t, service, ann);
    await page.locator('.row').nth(2).waitFor();
    const batch = await holdOne(page, '**/decisions/batch', 'answer');
    for (let n = 0; n < 3; n++) {
      await page.keyboard.press('x');
      await page.keyboard.press('j');
    }
    await page.keyboard.press('Shift+R');
    await page.getByRole('dialog').waitFor();
    await bob.post('claims', { note_ids: [note?.id] });
    await page.keyboard.press('1');
    await submit(service, { message: 'One more' });
    await page.locator('.row', { hasText: 'One more' }).waitFor();
    batch.go();
    await toast(page, /2 notes; 1 note refused/);
    await page.locator('.row', { hasText: 'Bob has been working on this since' }).waitFor();
  },
);

t.test('keys rest while one types, and can be switched off', NEEDS_BROWSER, async (t) => {
  const service = await startService(t);
  const ann = await hire(service, 'Ann');
  await fill(service, 2);
  const { page } = await openConsole(t, service, ann);
  await page.locator('.row').nth(1).waitFor();
  await page.keyboard.press('/');
  await page.locator('#search:focus').waitFor();
  await page.keyboard.type('aNote 2');
  t.same(await states(service), { pending: 2 });
  await page.locator('#search').fill('note 2');
  await submit(service, { message: 'Note 3' });
  await page.locator('.row', { hasText: 'Note 3' }).waitFor();
  await page.keyboard.press('Enter');
  await page.locator('.note .text', { hasText: 'Note 2' }).waitFor();
  t.equal(await page.locator('.row').count(), 1);
  await page.keyboard.press('?');
  await page.getByRole('dialog', { name: 'Keys' }).waitFor();
  await page.keyboard.press('a');
  t.same(await states(service), { pending: 3 }, 'nor does one mean what is behind the help');
  await page.getByRole('dialog', { name: 'Keys' }).getByText('They rest while you type').click();
  await page.keyboard.press('Escape');
  await page.keyboard.press('a');
  await page.keyboard.press('j');
  const named = '[aria-keyshortcuts], kbd';
  t.equal(await page.locator(named).count(), 0, 'no key is shown or told that does nothing');
  await page.getByRole('button', { name: 'Claim', exact: true }).click();
  await page.locator('.note .lease').waitFor();
  await page.keyboard.press('Escape');
  t.equal((await ann.get('me')).body.leases.length, 1, 'Esc releases nothing');
  t.equal(await page.locator('.note .lease').count(), 1);
  await page.getByRole('button', { name: 'Reject', exact: true }).click();
  await page.locator('.panel').waitFor();
  await page.keyboard.press('Escape');
  await page.locator('.panel').waitFor({ state: 'detached' });
  await page.getByRole('button', { name: 'Release' }).click();
  await page.locator('.note .lease').waitFor({ state: 'detached' });
  t.same(await states(service), { pending: 3 });
  await page.reload();
  await page.locator('.row').nth(1).waitFor();
  await page.keyboard.press('a');
  t.same(await states(service), { pending: 3 }, 'still off');
  await page.getByLabel('Keys').check();
  await page.getByRole('button', { name: 'Approve a' }).click();
  await toast(page, 'Approved');
});

t.test('keys are found on a keyboard of another script', NEEDS_BROWSER, async (t) => {
  const service = await startService(t);
  const ann = await hire(service, 'Ann');
  await fill(service, 3);
  const { page } = await openConsole(t, service, ann);
  await page.locator('.row').nth(2).waitFor();
  const press = (key: string, code: string, shiftKey = false) =>
    page.evaluate(
      `document.activeElement.dispatchEvent(new KeyboardEvent('keydown',
        ${JSON.stringify({ key, code, shiftKey, bubbles: true, cancelable: true })}))`,
    );
  await press('ф', 'KeyA');
  await toast(page, 'Approved “Note 1”');
  await press('ρ', 'KeyR');
  await page.locator('.panel').waitFor();
  await press('۱', 'Digit1');
  await toast(page, /^Rejected/);
  await press('ס', 'KeyX');
  await page.getByText('1 note selected').waitFor();
  await press('Ф', 'KeyA', true);
  await page.getByRole('dialog', { name: 'Approve 1 note?' }).waitFor();
  await page.keyboard.press('Escape');
  await press('á', 'KeyA');
  t.same(await states(service), { approved: 1, rejected: 1, pending: 1 }, 'not a Latin letter');
});

t.test(
  'a claim that is answered late brings back nothing that was decided',
  NEEDS_BROWSER,
  async (t) => {
    const service = await startService(t);
    const ann = await hire(service, 'Ann');
    await fill(service, 3);
    const { page } = await openConsole(t, service, ann);
    await page.locator('.row').nth(2).waitFor();
    let release: () => void = () => undefined;
    const held = new Promise<void>((resolve) => {
      release = resolve;
    });
    await intercept(page, '**/api/moderation/claims', async (route) => {
      const response = await route.fetch();
      await held;
      await route.fulfill({ response });
    });
    let releases = 0;
    page.on('request', (request) => {
      if (request.url().endsWith('/claims/release')) releases++;
    });
    await page.keyboard.press('r');
    await page.locator('.panel').waitFor();
    await page.keyboard.press('1');
    await page.locator('.note .text', { hasText: 'Note 2' }).waitFor();
    await page.keyboard.press('a');
    await toast(page, 'Approved');
    t.equal(await currentText(page), 'Note 3');
    release();
    await toast(page, 'Rejected');
    t.equal(await currentText(page), 'Note 3');
    t.equal(await page.locator('.row').count(), 1);
    t.equal(releases, 0, 'the decision is the one that ends the claim');
    t.same(await states(service), { approved: 1, pending: 1, rejected: 1 });
  },
);

t.test('the next note is not asked for before a decision has come in', NEEDS_BROWSER, async (t) => {
  const service = await startService(t);
  const ann = await hire(service, 'Ann');
  await fill(service, 2);
  const { page } = await openConsole(t, service, ann);
  await page.locator('.row').nth(1).waitFor();
  let release: () => void = () => undefined;
  const held = new Promise<void>((resolve) => {
    release = resolve;
  });
  await intercept(page, '**/decisions', async (route) => {
    await held;
    await route.continue();
  });
  const asked = page.waitForRequest('**/decisions');
  await page.keyboard.press('a');
  await asked;
  await page.keyboard.press('n');
  // The help is drawn after the key before it was dealt with.
  await page.keyboard.press('?');
  await page.getByRole('dialog', { name: 'Keys' }).waitFor();
  await page.keyboard.press('Escape');
  release();
  await page.locator('.note .lease').waitFor();
  t.equal(await currentText(page), 'Note 2');
  t.equal(await page.locator('.row').count(), 1);
});
